/* SPDX-License-Identifier: MIT
 * Reads files that a person has named: without waiting, and not more than they may have. */
#ifndef BLURD_CORE_PROCESS_PLAIN_FILE_H
#define BLURD_CORE_PROCESS_PLAIN_FILE_H

#include <stddef.h>

#include "core/status.h"

/* Reads a whole file of at most `most` bytes. `text` has room for one more; *size is set. ST_ARGUMENT for a
 * larger file, and for what has no positions, such as a pipe, whose other end may never write. The error is
 * the reason alone, to be put into a sentence. */
enum status plain_file_read(const char *path, void *text, size_t most, size_t *size, struct error *err);

#endif
