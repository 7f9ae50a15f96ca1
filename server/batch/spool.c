/* SPDX-License-Identifier: MIT */
#include "server/batch/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

enum status spool_open(int *fd, struct error *err) {
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    folder = folder && *folder ? folder : "/tmp";
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, S_IRUSR | S_IWUSR);
    if (*fd < 0 && snprintf(path, sizeof path, "%s/blurd-XXXXXX", folder) < PATH_MAX) {
        *fd = mkostemp(path, O_CLOEXEC); /* file systems without O_TMPFILE */
        if (*fd >= 0) {
            unlink(path);
        }
    }
    return *fd >= 0 ? ST_OK
                    : fail(err, ST_BUSY, "no temporary file in %.200s: %s; TMPDIR names another folder",
                           folder, strerror(errno));
}

enum status spool_write(int fd, struct bytes data, struct error *err) {
    while (data.size > 0) {
        const ssize_t written = write(fd, data.data, data.size);
        if (written < 0 && errno != EINTR) {
            return fail(err, ST_BUSY, "cannot write: %s", strerror(errno));
        }
        data.data += written > 0 ? written : 0;
        data.size -= written > 0 ? (size_t)written : 0;
    }
    return ST_OK;
}

enum status spool_read(int fd, enum status (*take)(void *context, struct bytes piece, struct error *err),
                       void *context, struct error *err) {
    uint8_t piece[PIECE];
    enum status status = ST_OK;
    off_t at = 0;
    while (status == ST_OK) {
        const ssize_t got = pread(fd, piece, sizeof piece, at);
        if (got <= 0) {
            return got == 0 ? ST_OK : fail(err, ST_BUSY, "cannot read a temporary file: %s", strerror(errno));
        }
        at += got;
        status = take(context, (struct bytes){piece, (size_t)got}, err);
    }
    return status;
}

enum status spool_fill(int fd, int stream, struct error *err) {
    uint8_t piece[PIECE];
    enum status status = ST_OK;
    while (status == ST_OK) {
        const ssize_t got = read(stream, piece, sizeof piece);
        if (got == 0) {
            return ST_OK;
        }
        if (got < 0 && errno != EINTR) {
            return fail(err, ST_BUSY, "cannot read the input: %s", strerror(errno));
        }
        status = got > 0 ? spool_write(fd, (struct bytes){piece, (size_t)got}, err) : ST_OK;
    }
    return status;
}
