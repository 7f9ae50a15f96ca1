/* SPDX-License-Identifier: MIT
 * The process's table of descriptors. */
#ifndef BLURD_CORE_PROCESS_DESCRIPTORS_H
#define BLURD_CORE_PROCESS_DESCRIPTORS_H

/* Lets the table have room for `count` descriptors. Linux doubles a table that is full, and when threads
 * share it, each of them that opens a descriptor waits meanwhile for an RCU grace period of 20 to 40 ms
 * (expand_fdtable in fs/file.c). So this is called before the first thread starts. Does nothing beyond the
 * limit of open files, or on failure, which costs only time later. Opens and closes two descriptors; not
 * thread-safe. */
void descriptors_expect(unsigned count);

#endif
