/* SPDX-License-Identifier: MIT
 * Confines a process that runs isolated codecs, before it reads the first byte of a client. It keeps memory,
 * the clock, and the messages and slots of its socket. Landlock denies all files, seccomp all calls but those
 * of a list; no process, socket or file can be made, and no file can grow. */
#ifndef BLURD_CODECS_PROCESS_CODEC_SANDBOX_H
#define BLURD_CODECS_PROCESS_CODEC_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/process/call_list.h"
#include "core/status.h"

struct codec_sandbox {
    bool wanted;
    bool must; /* a process that cannot enter it serves no picture */
    struct call_list list;
};

/* Makes the list of calls, if a sandbox is wanted. The process must have one thread. */
void codec_sandbox_prepare(struct codec_sandbox *sandbox);

/* Enters the sandbox for good. ST_INTERNAL where that is impossible and it must be. */
enum status codec_sandbox_enter(const struct codec_sandbox *sandbox, struct error *err);

/* Fills a filter with the allowed calls (core/process/call_list.h). */
int codec_sandbox_fill(void *filter, pid_t process, const void *context);

#endif
