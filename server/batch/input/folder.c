/* SPDX-License-Identifier: MIT */
#include "server/batch/input/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, FIRST_ROOMS = 64 };

static enum folder_kind kind_of(int fd, const struct dirent *one) {
    struct stat file;
    if (one->d_type == DT_REG || one->d_type == DT_DIR) {
        return one->d_type == DT_REG ? FOLDER_FILE : FOLDER_FOLDER;
    }
    if (one->d_type == DT_UNKNOWN && fstatat(fd, one->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(file.st_mode)) {
        return FOLDER_FOLDER; /* not what a link leads to */
    }
    return (one->d_type == DT_LNK || one->d_type == DT_UNKNOWN) && fstatat(fd, one->d_name, &file, 0) == 0 &&
                   S_ISREG(file.st_mode)
               ? FOLDER_FILE
               : FOLDER_OTHER;
}

static bool grow(void **memory, size_t *room, size_t wanted, size_t each, size_t first) {
    size_t more = *room ? *room : first;
    while (more < wanted) {
        more += more / 2;
    }
    void *larger = more > *room ? realloc(*memory, more * each) : *memory;
    if (!larger) {
        return false;
    }
    *memory = larger;
    *room = more;
    return true;
}

static enum status add(struct folder *folder, enum folder_kind kind, const char *name, struct error *err) {
    const size_t length = strlen(name) + 2;
    if (folder->size + length > UINT32_MAX) {
        return fail(err, ST_LIMIT, "it has too many names");
    }
    if (!grow((void **)&folder->text, &folder->room, folder->size + length, 1, FIRST_ROOM) ||
        !grow((void **)&folder->entry, &folder->rooms, folder->count + 1, sizeof *folder->entry,
              FIRST_ROOMS)) {
        return fail(err, ST_BUSY, "out of memory");
    }
    folder->entry[folder->count++] = (uint32_t)folder->size;
    folder->text[folder->size] = (char)kind;
    memcpy(folder->text + folder->size + 1, name, length - 1);
    folder->size += length;
    return ST_OK;
}

static int compare(const void *a, const void *b, void *text) {
    return strcmp((char *)text + *(const uint32_t *)a + 1, (char *)text + *(const uint32_t *)b + 1);
}

static bool is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

enum status folder_read(struct folder *folder, const char *path, const struct stat *skipped,
                        struct error *err) {
    struct stat own;
    *folder = (struct folder){0};
    DIR *stream = opendir(path);
    if (!stream || fstat(dirfd(stream), &own) != 0) {
        const int reason = errno;
        if (stream) {
            closedir(stream);
        }
        return fail(err, ST_ARGUMENT, "the folder cannot be read: %s", strerror(reason));
    }
    const bool skip = own.st_dev == skipped->st_dev && own.st_ino == skipped->st_ino;
    enum status status = ST_OK;
    struct dirent *one = NULL;
    errno = 0;
    while (!skip && status == ST_OK && (one = readdir(stream)) != NULL) {
        status = is_dots(one->d_name) ? ST_OK : add(folder, kind_of(dirfd(stream), one), one->d_name, err);
        errno = 0;
    }
    if (status == ST_OK && errno) {
        status = fail(err, ST_ARGUMENT, "the folder cannot be read: %s", strerror(errno));
    }
    closedir(stream);
    if (folder->count) {
        qsort_r(folder->entry, folder->count, sizeof *folder->entry, compare, folder->text);
    }
    return status;
}

void folder_finish(struct folder *folder) {
    free(folder->text);
    free(folder->entry);
    *folder = (struct folder){0};
}

const char *folder_next(struct folder *folder, enum folder_kind *kind) {
    if (folder->next == folder->count) {
        return NULL;
    }
    const char *text = folder->text + folder->entry[folder->next++];
    *kind = (enum folder_kind)text[0];
    return text + 1;
}
