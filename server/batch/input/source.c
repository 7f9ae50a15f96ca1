/* SPDX-License-Identifier: MIT */
#include "server/batch/input/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/batch/input/folder.h"
#include "server/batch/output.h"

enum { DEPTH_MAX = 256 };

struct input_source {
    struct source_options options;
    unsigned next;       /* operand */
    char path[PATH_MAX]; /* of the folder that is read */
    size_t root;         /* where names within the output begin in it */
    struct folder folder[DEPTH_MAX];
    size_t length[DEPTH_MAX]; /* of the path of each */
    unsigned depth;
};

static enum status check_operand(const char *path, bool recursive, struct error *err) {
    struct stat file;
    if (stat(path, &file) != 0) {
        return fail(err, ST_ARGUMENT, "%.200s: %s", path, strerror(errno));
    }
    return S_ISDIR(file.st_mode) && !recursive
               ? fail(err, ST_ARGUMENT, "%.200s is a folder: --recursive takes what is in it", path)
               : ST_OK;
}

enum status source_create(struct input_source **source, const struct source_options *options,
                          struct error *err) {
    enum status status = ST_OK;
    *source = NULL;
    for (unsigned i = 0; i < options->operands && status == ST_OK; i++) {
        status = check_operand(options->operand[i], options->recursive, err);
    }
    if (status == ST_OK) {
        *source = calloc(1, sizeof **source);
        status = *source ? ST_OK : fail(err, ST_BUSY, "out of memory");
    }
    if (status == ST_OK) {
        (*source)->options = *options;
    }
    return status;
}

void source_destroy(struct input_source *source) {
    for (unsigned i = 0; source && i < source->depth; i++) {
        folder_finish(&source->folder[i]);
    }
    free(source);
}

static bool refuse(struct input *input, const char *why) {
    snprintf(input->problem, sizeof input->problem, "%.*s", (int)sizeof input->problem - 1, why);
    return true;
}

/* Reads the folder at source->path. On failure the input tells it. */
static bool enter(struct input_source *source, struct input *input) {
    struct error err = {0};
    if (source->depth == DEPTH_MAX) {
        return refuse(input, "there are more than 256 folders in each other");
    }
    struct folder *folder = &source->folder[source->depth];
    source->length[source->depth++] = strlen(source->path);
    const enum status status = folder_read(folder, source->path, &source->options.skipped, &err);
    if (status != ST_OK) {
        folder_finish(folder);
        source->depth--;
        return refuse(input, err.text);
    }
    return false;
}

static void name_input(const struct input_source *source, struct input *input, bool folder) {
    input->folder = folder;
    input->other = false;
    input->problem[0] = '\0';
    memcpy(input->path, source->path, strlen(source->path) + 1);
    input->name = input->path + source->root;
}

/* The next file of the folders that are open. */
static bool next_of_folder(struct input_source *source, struct input *input) {
    while (source->depth > 0) {
        enum folder_kind kind = FOLDER_OTHER;
        const size_t length = source->length[source->depth - 1];
        const char *name = folder_next(&source->folder[source->depth - 1], &kind);
        source->path[length] = '\0';
        if (!name) {
            folder_finish(&source->folder[--source->depth]);
            continue;
        }
        const bool slash = length > 0 && source->path[length - 1] != '/';
        const size_t size = length + slash + strlen(name);
        if (size >= PATH_MAX) {
            name_input(source, input, true);
            return refuse(input, "a name in it is too long");
        }
        snprintf(source->path + length, PATH_MAX - length, "%s%s", slash ? "/" : "", name);
        if (kind != FOLDER_FOLDER) {
            name_input(source, input, true);
            input->other = kind == FOLDER_OTHER;
            return true;
        }
        if (strcmp(name, OUTPUT_PARTIAL) != 0) {
            name_input(source, input, true);
            if (enter(source, input)) {
                return true;
            }
        }
    }
    return false;
}

/* A path within the output cannot leave it. */
static bool leads_out(const char *name) {
    for (const char *at = name; *at; at += strcspn(at, "/"), at += strspn(at, "/")) {
        const size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            return true;
        }
    }
    return false;
}

/* Why no answer may have a name; NULL: it may. In the folder of temporary files it would be another answer.
 */
static const char *forbidden(const char *name) {
    const size_t length = sizeof OUTPUT_PARTIAL - 1;
    return leads_out(name) ? "its name would lead out of the output"
           : strncmp(name, OUTPUT_PARTIAL, length) == 0 && (name[length] == '/' || name[length] == '\0')
               ? "its name is that of the folder for temporary files"
               : NULL;
}

/* Returns the offset of the last component of a path. Slashes at its end are ignored. */
static size_t last_name(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return length;
}

/* A file that was named: in the output it has its last name. Of a single folder the output gets what is in
 * it; of several operands each folder keeps its name. False when a folder is entered. */
static bool next_operand(struct input_source *source, struct input *input) {
    const char *path = source->options.operand[source->next++];
    struct stat file;
    snprintf(source->path, sizeof source->path, "%s", path);
    source->root = last_name(path);
    name_input(source, input, false);
    if (strlen(path) >= PATH_MAX - 2) {
        return refuse(input, "its name is too long");
    }
    if (stat(path, &file) != 0 || !S_ISDIR(file.st_mode)) {
        return true;
    }
    if (source->options.operands == 1) {
        const size_t length = strlen(path);
        source->root = length + (path[length - 1] != '/');
    } else if (forbidden(input->name)) {
        return refuse(input, forbidden(input->name));
    }
    return enter(source, input);
}

/* A file of the list keeps its path. */
static bool next_of_list(struct input_source *source, struct input *input) {
    size_t length = 0;
    bool zero = false;
    int one = EOF;
    while ((one = getc(source->options.list)) != EOF && one != source->options.ends) {
        if (length < PATH_MAX - 1) {
            source->path[length] = (char)one;
        }
        zero = zero || one == '\0';
        length++;
    }
    if (length == 0 && one == EOF) {
        return false;
    }
    source->path[length < PATH_MAX ? length : PATH_MAX - 1] = '\0';
    source->root = 0;
    while (source->path[source->root] == '/' || strncmp(source->path + source->root, "./", 2) == 0) {
        source->root += source->path[source->root] == '/' ? 1 : 2;
    }
    name_input(source, input, false);
    return zero                     ? refuse(input, "a name of the list has a zero byte: is --null meant?")
           : length >= PATH_MAX     ? refuse(input, "its name is too long")
           : forbidden(input->name) ? refuse(input, forbidden(input->name))
           : source->path[source->root] == '\0' ? refuse(input, "a name of the list is empty")
                                                : true;
}

bool source_next(struct input_source *source, struct input *input) {
    for (;;) {
        if (next_of_folder(source, input)) {
            return true;
        }
        if (source->next < source->options.operands) {
            if (next_operand(source, input)) {
                return true;
            }
            continue;
        }
        return source->options.list && next_of_list(source, input);
    }
}
