/* SPDX-License-Identifier: MIT */
#include "core/process/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* A pipe, a socket or a terminal has no positions. The daemon's sandbox forbids the call that tells kinds. */
static bool may_read(int fd) {
    return lseek(fd, 0, SEEK_CUR) == 0;
}

static enum status read_all(int fd, uint8_t *text, size_t most, size_t *size, struct error *err) {
    ssize_t got = 1;
    for (*size = 0; got > 0 && *size <= most; *size += got > 0 ? (size_t)got : 0) {
        got = read(fd, text + *size, most + 1 - *size);
    }
    return got < 0         ? fail(err, ST_ARGUMENT, "%s", strerror(errno))
           : *size <= most ? ST_OK
                           : fail(err, ST_ARGUMENT, "it is larger than %zu bytes", most);
}

enum status plain_file_read(const char *path, void *text, size_t most, size_t *size, struct error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return fail(err, ST_ARGUMENT, "%s", strerror(errno));
    }
    enum status status = may_read(fd) ? read_all(fd, text, most, size, err)
                                      : fail(err, ST_ARGUMENT, "it is not a regular file");
    close(fd);
    return status;
}
