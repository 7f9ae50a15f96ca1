/* SPDX-License-Identifier: MIT
 * Landlock: which files a process may open, as far as the kernel knows it. */
#ifndef BLURD_CORE_LANDLOCK_H
#define BLURD_CORE_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Rights to the files below a path. */
enum landlock_right {
    LANDLOCK_READS = 1,
    LANDLOCK_LISTS = 2,
    LANDLOCK_USES = 4 /* a device: write, ioctl */
};

/* Version of the kernel's interface; 0: there is none. */
unsigned landlock_version(void);

/* A set of rules of that version that allows nothing: no opening of files, no TCP connection, no socket of
 * the abstract name space of others; `signals`: neither signals to other processes. A descriptor, closed by
 * landlock_enter; -1 with errno. */
int landlock_create(unsigned version, bool signals);

/* Allows `rights` (enum landlock_right) to what the path names, and what lies in it where that is a folder. A
 * path that is not there is no error: what cannot be opened now cannot be opened later either. */
void landlock_allow(int ruleset, const char *path, unsigned rights);

/* Puts the rules in force for the calling thread and what it starts, and closes the set. False with errno. */
bool landlock_enter(int ruleset);

/* For all threads of the process, for libraries start some. Stores how many it did not reach, since they
 * hold signals back: those are not restricted. Takes SIGRTMIN, for good. False with errno. */
bool landlock_enter_threads(int ruleset, unsigned version, unsigned *missed);

#endif
