/* SPDX-License-Identifier: MIT */
#include "server/batch/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum { TEMPORARY_MAX = 64 };

/* Endings that fit a type; the first is added to names that have none of them. */
static const struct {
    const char *type, *endings[6];
} kinds[] = {
    {"image/jpeg", {"jpg", "jpeg", "jpe", "jfif", "jif"}},
    {"image/png", {"png", "apng"}},
    {"image/webp", {"webp"}},
    {"image/avif", {"avif"}},
    {"image/jxl", {"jxl"}},
    {"application/json", {"json"}},
};

static bool has_ending(const char *name, const char *ending) {
    const size_t length = strlen(name), size = strlen(ending);
    return length > size + 1 && name[length - size - 1] == '.' &&
           strcasecmp(name + length - size, ending) == 0;
}

bool output_name(const char *name, const char *type, char answer[PATH_MAX]) {
    const size_t length = strcspn(type, "; ");
    const char *added = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].type) == length && strncasecmp(kinds[i].type, type, length) == 0) {
            added = kinds[i].endings[0];
            for (const char *const *ending = kinds[i].endings; *ending; ending++) {
                added = has_ending(name, *ending) ? NULL : added;
            }
        }
    }
    const int size = snprintf(answer, PATH_MAX, "%s%s%s", name, added ? "." : "", added ? added : "");
    return size < PATH_MAX;
}

/* Opens the folder of temporary files, and empties it. */
static enum status open_partial(struct output *output, const char *path, struct error *err) {
    if (mkdirat(output->root, OUTPUT_PARTIAL, 0700) != 0 && errno != EEXIST) {
        return fail(err, ST_ARGUMENT, "cannot write to %.200s: %s", path, strerror(errno));
    }
    output->partial = openat(output->root, OUTPUT_PARTIAL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->partial < 0) {
        return fail(err, ST_ARGUMENT, "cannot write to %.200s: %s", path, strerror(errno));
    }
    if (flock(output->partial, LOCK_EX | LOCK_NB) != 0) {
        return fail(err, ST_ARGUMENT, "another batch writes to %.200s", path);
    }
    DIR *left = fdopendir(fcntl(output->partial, F_DUPFD_CLOEXEC, 0));
    for (const struct dirent *one; left && (one = readdir(left));) {
        unlinkat(output->partial, one->d_name, 0);
    }
    if (left) {
        closedir(left);
    }
    return ST_OK;
}

static enum status open_folder(struct output *output, const char *path, struct error *err) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return fail(err, ST_ARGUMENT, "cannot make the folder %.200s: %s", path, strerror(errno));
    }
    output->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->root < 0 || fstat(output->root, &output->folder) != 0) {
        return fail(err, ST_ARGUMENT, "cannot open the folder %.200s: %s", path, strerror(errno));
    }
    return open_partial(output, path, err);
}

/* The answer takes the place of a file, but not of a device: /dev/null would be a file from then on. */
static enum status check_single(const struct output *output, const char *path, struct error *err) {
    struct stat there;
    if (!output->single[0] ||
        (fstatat(output->root, output->single, &there, 0) == 0 && !S_ISREG(there.st_mode))) {
        return fail(err, ST_ARGUMENT, "%.200s is no file; `-o -` is standard output", path);
    }
    return ST_OK;
}

static enum status open_single(struct output *output, const char *path, struct error *err) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(output->single, sizeof output->single, "%s", slash ? slash + 1 : path) > NAME_MAX ||
        length >= PATH_MAX) {
        return fail(err, ST_ARGUMENT, "the name %.100s… is too long", path);
    }
    snprintf(folder, sizeof folder, "%.*s", length, path);
    output->root = output->partial = open(length ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->root < 0) {
        return fail(err, ST_ARGUMENT, "cannot open the folder of %.200s: %s", path, strerror(errno));
    }
    return getrandom(&output->own, sizeof output->own, 0) == sizeof output->own
               ? check_single(output, path, err)
               : fail(err, ST_BUSY, "no random number");
}

enum status output_open(struct output *output, const char *path, bool single, struct error *err) {
    *output = (struct output){.root = -1, .partial = -1};
    return (single ? open_single : open_folder)(output, path, err);
}

void output_finish(struct output *output) {
    if (output->partial >= 0 && output->partial != output->root) {
        unlinkat(output->root, OUTPUT_PARTIAL, AT_REMOVEDIR);
        close(output->partial);
    }
    if (output->root >= 0) {
        close(output->root);
    }
    *output = (struct output){.root = -1, .partial = -1};
}

/* In a folder that others use, too, it is a name that no other batch has: not by its process, whose number is
 * the same in each container, and would be that of what a killed one has left. */
static void temporary(const struct output *output, unsigned long number, char name[TEMPORARY_MAX]) {
    if (output->single[0]) {
        snprintf(name, TEMPORARY_MAX, OUTPUT_PARTIAL "-%016" PRIx64, output->own);
    } else {
        snprintf(name, TEMPORARY_MAX, "%lu", number);
    }
}

enum status output_begin(const struct output *output, unsigned long number, mode_t like, int *fd,
                         struct error *err) {
    char name[TEMPORARY_MAX];
    temporary(output, number, name);
    *fd = openat(output->partial, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 (like & 0777) | S_IRUSR | S_IWUSR);
    return *fd >= 0 ? ST_OK : fail(err, ST_BUSY, "cannot write to the output: %s", strerror(errno));
}

void output_abandon(const struct output *output, unsigned long number) {
    char name[TEMPORARY_MAX];
    temporary(output, number, name);
    unlinkat(output->partial, name, 0);
}

enum status output_sync(const struct output *output, struct error *err) {
    return syncfs(output->root) == 0 ? ST_OK
                                     : fail(err, ST_BUSY, "cannot write to the output: %s", strerror(errno));
}

/* Makes the folders of a name. */
static bool make_folders(int root, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(root, path, 0777) != 0 && errno != EEXIST) {
            return false;
        }
        *slash = '/';
    }
    return true;
}

enum status output_commit(const struct output *output, unsigned long number, const char *name,
                          struct error *err) {
    char from[TEMPORARY_MAX];
    const char *to = output->single[0] ? output->single : name;
    temporary(output, number, from);
    if (renameat(output->partial, from, output->root, to) == 0 ||
        (errno == ENOENT && make_folders(output->root, to) &&
         renameat(output->partial, from, output->root, to) == 0)) {
        return ST_OK;
    }
    return fail(err, ST_BUSY, "cannot give the answer its name: %s", strerror(errno));
}

bool output_has(const struct output *output, const char *name) {
    struct stat there;
    return fstatat(output->root, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
}

bool output_is(const struct output *output, const char *name, const struct stat *file) {
    struct stat there;
    return fstatat(output->root, output->single[0] ? output->single : name, &there, 0) == 0 &&
           there.st_dev == file->st_dev && there.st_ino == file->st_ino;
}
