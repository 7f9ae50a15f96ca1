/* SPDX-License-Identifier: MIT
 * Lists of the system calls that a process keeps, and putting one in force (seccomp). What is not on a list
 * fails with ENOSYS, as on an old kernel, for which libraries have another way.
 *
 * A list is made by a process of its own, and put in force later. ADR 16 says why. */
#ifndef BLURD_CORE_CALL_LIST_H
#define BLURD_CORE_CALL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CALL_LIST_MAX = 16 << 10 /* bytes; about 4000 are needed */ };

/* A program of the kernel's. Zero-initialise. */
struct call_list {
    size_t size; /* bytes; 0: none was made */
    uint8_t bytes[CALL_LIST_MAX];
};

/* Allowed where argument `number` has `value` in the bits of `mask`. */
struct call_rule {
    int call;
    unsigned number;
    uint64_t mask, value;
};
#define CALL_WHOLE UINT32_MAX /* all bits of an argument that is an int */

/* Puts the rules of one list into libseccomp's `filter`, with the functions below; `process` is the one that
 * the list is for. Returns 0, or libseccomp's error. */
typedef int call_list_fill(void *filter, pid_t process, const void *context);

/* Allows calls, and calls with an argument. 0 or libseccomp's error. */
int call_list_allow(void *filter, const int *calls, size_t count);
int call_list_allow_rules(void *filter, const struct call_rule *rules, size_t count);

/* Allows what acts on what a process already has: its memory, threads, open descriptors, signals, the clock;
 * no memory that can be run, no process, nothing by a path, no socket. */
int call_list_allow_usual(void *filter, pid_t process);

/* Makes a list by `fill`, for the caller. False when it cannot be made, maybe for want of memory. Forks, so
 * there may be one thread. Takes a millisecond. */
bool call_list_make(struct call_list *list, call_list_fill *fill, const void *context);

/* Puts it in force for all threads and what they start, for good; the process gains no privileges any more.
 * Returns the number of the program's instructions; 0: not in force, *why says why. */
unsigned call_list_enter(const struct call_list *list, const char **why);

#endif
