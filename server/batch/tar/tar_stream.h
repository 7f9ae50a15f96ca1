/* SPDX-License-Identifier: MIT
 * Where the bytes of a tar come from and go to. */
#ifndef BLURD_SERVER_BATCH_TAR_STREAM_H
#define BLURD_SERVER_BATCH_TAR_STREAM_H

#include <stddef.h>

#include "core/status.h"

struct tar_input {
    /* Waits for at least one byte and reads at most `size`, which is not 0. *got is 0 at the end of the
     * stream. */
    enum status (*read)(void *context, void *to, size_t size, size_t *got, struct error *err);
    void *context;
};

struct tar_output {
    /* Writes all of it. */
    enum status (*write)(void *context, const void *data, size_t size, struct error *err);
    void *context;
};

/* Both by a descriptor that blocks, an int that context points to. ST_BUSY with the system's reason;
 * ST_CANCELLED where the reader of a pipe has gone, and SIGPIPE is ignored. */
enum status tar_stream_read(void *context, void *to, size_t size, size_t *got, struct error *err);
enum status tar_stream_write(void *context, const void *data, size_t size, struct error *err);

#endif
