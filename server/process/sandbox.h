/* SPDX-License-Identifier: MIT
 * What a decoder that was taken over by a picture could still do: as good as nothing.
 *
 * After the start the daemon needs its memory, its threads, the clock, its connections and, for
 * SIGHUP, to read a few files. Everything else is closed, for good and for all threads:
 *
 *   sandbox_hide    no core dumps, of the GPU's processes neither.
 *   sandbox_files   Landlock: no file may be opened but for reading, and only in the folders of the
 *                   configuration, token and TLS files; no TCP connection out; no signal to other
 *                   processes. As far as the kernel knows these. And no process of the same user, not
 *                   even a debugger, looks into this one.
 *   sandbox_calls   seccomp: a list of the system calls that are left (sandbox_calls.c); the others
 *                   fail with ENOSYS. No program, no process, no memory that can be run, no looking at paths,
 *                   no socket but pairs for GPU engines, no descriptor from elsewhere.
 *
 * Engines of the GPU are started by a process that is forked before (gpu/front/spawner.h), and are not
 * closed in. Why a list of what is allowed, and what was tried: docs/adr/0016. */
#ifndef BLURD_SERVER_PROCESS_SANDBOX_H
#define BLURD_SERVER_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "core/call_list.h"

enum { SANDBOX_TEXT_MAX = 512 };

/* What has to stay possible, and what is on. Initialise with SANDBOX_NOTHING, and set what the daemon has. */
struct sandbox {
    int notify;        /* socket of the service manager, -1: none; nothing is sent there but by send */
    bool engines;      /* there are GPU engines to talk to */
    unsigned landlock; /* version of the kernel's interface; 0: none */
    unsigned calls;    /* instructions of the list that is in force; 0: none */
    bool reads;        /* there are files to read at SIGHUP */
    char text[SANDBOX_TEXT_MAX]; /* the folders they are in */
    struct call_list list;
};
#define SANDBOX_NOTHING ((struct sandbox){.notify = -1})

/* First of all; with sandbox = off nothing happens, as in the functions below. */
void sandbox_hide(const struct config *config);

/* While there is one thread: those started later are closed in with it. Makes the list of calls, too. `file`
 * is the configuration file, NULL: none. ST_ARGUMENT where the kernel has no Landlock and sandbox = on. */
enum status sandbox_files(struct sandbox *sandbox, const struct config *config, const char *file,
                          struct error *err);

/* For all threads, before the first connection is taken; logs what is on. ST_ARGUMENT where the kernel
 * has no seccomp and sandbox = on. */
enum status sandbox_calls(struct sandbox *sandbox, const struct config *config, struct error *err);

/* The list of system calls for what the sandbox, the context, says has to stay possible (core/call_list.h).
 */
int sandbox_fill(void *filter, pid_t process, const void *context);

#endif
