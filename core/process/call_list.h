/* SPDX-License-Identifier: MIT
 * Allow lists of system calls (seccomp). A call that is not on the list fails with ENOSYS, as on an old
 * kernel, so libraries use their fallback.
 *
 * A separate process makes a list, which is put in force later. ADR 16 says why. */
#ifndef BLURD_CORE_PROCESS_CALL_LIST_H
#define BLURD_CORE_PROCESS_CALL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CALL_LIST_MAX = 16 << 10 /* bytes; about 4000 are needed */ };

/* A BPF program. Zero-initialise. */
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

/* Adds the rules of a list for `process` to libseccomp's `filter`, with the functions below. Returns 0, or
 * libseccomp's error. */
typedef int call_list_fill(void *filter, pid_t process, const void *context);

/* Allows calls, and calls with an argument. 0 or libseccomp's error. */
int call_list_allow(void *filter, const int *calls, size_t count);
int call_list_allow_rules(void *filter, const struct call_rule *rules, size_t count);

/* Allows calls on the process's own memory, threads, open descriptors, signals and clock; no executable
 * memory, no processes, no paths, no new sockets. */
int call_list_allow_usual(void *filter, pid_t process);

/* Makes a list for the caller. False when it cannot be made, maybe for want of memory. Forks, so the
 * process must have one thread. Takes a millisecond. */
bool call_list_make(struct call_list *list, call_list_fill *fill, const void *context);

/* Puts the list in force for all threads and their children, for good; the process can gain no privileges
 * afterwards. Returns the number of the program's instructions; 0: not in force, and *why says why. */
unsigned call_list_enter(const struct call_list *list, const char **why);

#endif
