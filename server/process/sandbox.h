/* SPDX-License-Identifier: MIT
 * Confines the daemon, so that a decoder compromised by a picture can do next to nothing.
 *
 * After its start the daemon needs memory, threads, the clock, its connections and, for SIGHUP, a few files.
 * Everything else is given up for good, by all threads:
 *
 *   sandbox_hide    disables core dumps, also for the GPU's processes.
 *   sandbox_files   Landlock: files can only be opened for reading, and only in the folders of the
 *                   configuration, token and TLS files; no outgoing TCP connections; no signals to other
 *                   processes; each as far as the kernel supports it. Other processes of the user cannot
 *                   trace this one.
 *   sandbox_calls   seccomp: a list of allowed system calls (sandbox_calls.c); all others fail with ENOSYS.
 *                   No execve, no fork, no executable memory, no path lookups, no sockets but pairs for
 *                   other processes of the daemon, no received descriptors.
 *
 * Processes forked earlier start the GPU engines (gpu/front/spawner.h) and the processes of isolated codecs
 * (codecs/process/codec_spawner.h); they stay outside of this sandbox.
 * docs/adr/0016 explains why this is an allow list. */
#ifndef BLURD_SERVER_PROCESS_SANDBOX_H
#define BLURD_SERVER_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "core/process/call_list.h"

enum { SANDBOX_TEXT_MAX = 512 };

/* What stays allowed and what is in force. Initialise with SANDBOX_NOTHING, then set what the daemon has. */
struct sandbox {
    int notify;                  /* socket of the service manager, -1: none; only send is used on it */
    bool pairs;                  /* there are GPU engines or processes of codecs to communicate with */
    unsigned landlock;           /* version of the kernel's interface; 0: none */
    unsigned calls;              /* instructions of the filter in force; 0: none */
    bool reads;                  /* files are read at SIGHUP */
    char text[SANDBOX_TEXT_MAX]; /* their folders */
    struct call_list list;
};
#define SANDBOX_NOTHING ((struct sandbox){.notify = -1})

/* To be called first. With sandbox = off this and the functions below do nothing. */
void sandbox_hide(const struct config *config);

/* To be called while there is one thread: threads created later inherit the restrictions. Also prepares the
 * list of calls. `file` is the configuration file (NULL: none). ST_ARGUMENT where the kernel has no Landlock
 * and sandbox = on. */
enum status sandbox_files(struct sandbox *sandbox, const struct config *config, const char *file,
                          struct error *err);

/* Restricts all threads; to be called before the first connection is accepted. Logs what is in force.
 * ST_ARGUMENT where the kernel has no seccomp and sandbox = on. */
enum status sandbox_calls(struct sandbox *sandbox, const struct config *config, struct error *err);

/* Fills a filter with the calls that the sandbox given as context allows (core/process/call_list.h). */
int sandbox_fill(void *filter, pid_t process, const void *context);

#endif
