/* SPDX-License-Identifier: MIT
 * Files of memory that two processes share (core/slot.h). */
#ifndef BLURD_CORE_SLOT_FILE_H
#define BLURD_CORE_SLOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Creates a memory file of that size, sealed so that no process can shrink it under another's mapping. The
 * caller closes it. -1 with errno. */
int slot_file(size_t size);

/* Whether the descriptor is that of a slot_file of at least `size` bytes. To touch a mapping beyond the end
 * of its file would end the process. */
bool slot_file_holds(int fd, size_t size);

#endif
