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

static ssize_t read_on(void *fd, char *to, size_t size) {
    return read((int)(intptr_t)fd, to, size);
}

static int close_it(void *fd) {
    return close((int)(intptr_t)fd);
}

/* Not fdopen, which asks for the flags of the descriptor: the sandbox forbids that, too. */
FILE *plain_file_open(const char *path, const char **why) {
    static const cookie_io_functions_t calls = {.read = read_on, .close = close_it};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *file = fd >= 0 && may_read(fd) ? fopencookie((void *)(intptr_t)fd, "r", calls) : NULL;
    if (!file) {
        *why = fd < 0 ? strerror(errno) : "it is not a regular file";
        if (fd >= 0) {
            close(fd);
        }
    }
    return file;
}
