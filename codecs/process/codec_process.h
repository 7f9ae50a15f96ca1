/* SPDX-License-Identifier: MIT
 * The process that runs isolated codecs for one link (codec_link.h). */
#ifndef BLURD_CODECS_PROCESS_CODEC_PROCESS_H
#define BLURD_CODECS_PROCESS_CODEC_PROCESS_H

#include "codecs/definition.h"
#include "codecs/process/codec_sandbox.h"

enum { CODEC_IDLE_MS = 30000 }; /* a process without calls ends */

/* What a process reads in pictures beside codecs: marks such as codes, by a library that is isolated like
 * theirs.
 */
struct codec_reader {
    const char *title; /* what it reads, in messages */
    const char *path;  /* of the library */
    enum status (*open)(const char *path, struct error *err);
    /* Appends what it finds in a grey picture of 8 bits, which it may change. */
    enum status (*read)(const struct image *grey, struct buf *found, struct error *err);
};

struct codec_process_options {
    const struct codec *(*codec)(enum codec_id id); /* codec_get */
    const struct codec_reader *reader;              /* NULL: none */
    struct codec_sandbox sandbox;
    /* Bytes that a process may hold between two calls; less than 32 MiB counts as that. One that holds more
     * ends. After half a second without a call it gives free memory back. */
    size_t kept;
};

/* Enters the sandbox and serves calls on the socket until it ends, or until the process has been idle. */
_Noreturn void codec_process(int socket, const struct codec_process_options *options);

#endif
