/* SPDX-License-Identifier: MIT
 * The process's table of descriptors. */
#ifndef BLURD_CORE_PROCESS_DESCRIPTORS_H
#define BLURD_CORE_PROCESS_DESCRIPTORS_H

/* Makes the table large enough for `count` descriptors. Linux doubles a table that is full, and when threads
 * share it, each of them that opens a descriptor waits meanwhile for an RCU grace period of 20 to 40 ms
 * (expand_fdtable in fs/file.c). So call this before the first thread starts. It does nothing when `count`
 * exceeds the limit of open files, or on failure; then the table grows later. It opens and closes two
 * descriptors, and is not thread-safe. */
void descriptors_expect(unsigned count);

#endif
