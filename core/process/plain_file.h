/* SPDX-License-Identifier: MIT
 * Reads files that an option names, without waiting for a writer, up to a limit of size. */
#ifndef BLURD_CORE_PROCESS_PLAIN_FILE_H
#define BLURD_CORE_PROCESS_PLAIN_FILE_H

#include <stddef.h>

#include "core/status.h"

/* Reads a whole file of at most `most` bytes. `text` has room for one more; *size receives the number read.
 * ST_ARGUMENT for a larger file, and for a pipe or another file without positions, whose writer may never
 * come. The error is the reason alone, to be put into a sentence. */
enum status plain_file_read(const char *path, void *text, size_t most, size_t *size, struct error *err);

#endif
