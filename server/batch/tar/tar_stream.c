/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum status tar_stream_read(void *context, void *to, size_t size, size_t *got, struct error *err) {
    ssize_t count;
    do {
        count = read(*(const int *)context, to, size);
    } while (count < 0 && errno == EINTR);
    *got = count > 0 ? (size_t)count : 0;
    return count >= 0 ? ST_OK : fail(err, ST_BUSY, "the tar cannot be read: %s", strerror(errno));
}

enum status tar_stream_write(void *context, const void *data, size_t size, struct error *err) {
    for (size_t done = 0; done < size;) {
        ssize_t count = write(*(const int *)context, (const char *)data + done, size - done);
        if (count < 0 && errno != EINTR) {
            return fail(err, errno == EPIPE ? ST_CANCELLED : ST_BUSY, "the tar cannot be written: %s",
                        strerror(errno));
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return ST_OK;
}
