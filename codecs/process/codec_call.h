/* SPDX-License-Identifier: MIT
 * What all calls of a link (codec_link.h) share: they start the codec's process if there is none, give it the
 * exchange, send a message and wait for the answer. Internal to codecs/process/. */
#ifndef BLURD_CODECS_PROCESS_CODEC_CALL_H
#define BLURD_CODECS_PROCESS_CODEC_CALL_H

#include "codecs/process/codec_spawner.h"
#include "codecs/process/codec_wire.h"
#include "core/slot.h"

struct codec_link {
    struct codec_spawner *spawner;
    struct codec_child child; /* none: the next call starts one */
    bool ready;               /* the process has said so */
    unsigned faults;          /* see codec_link_faults */
    int64_t begun_ns;         /* when the call began, or its process was ready */
    int64_t computed_ns;      /* see codec_link_computed_ns */
    unsigned codecs; /* bits of the codecs that the process has opened: all that earlier calls used */
    unsigned needed; /* bits of the codecs that this call uses */
    bool walks;      /* the process has a decoder of frames of this request, */
    bool writes;     /* or an encoder */
    int64_t used_ns; /* end of the last call */
    struct slot_pool *pool;
    struct slot *exchange;      /* the daemon and the process map it; NULL: none */
    uint64_t mapped;            /* bytes of it that the process has mapped */
    struct bytes file;          /* of the call: copied into the exchange */
    const struct image *source; /* of the call: copied into the exchange; NULL: none */
    const struct image *target; /* of the call: copied from the exchange after the answer; NULL: none */
    struct codec_call call;
    struct codec_answer answer;
    struct codec_piece piece;
    struct buf stored; /* metadata to send */
};

/* Sends the call that link->call, link->needed, link->file, link->source and link->stored describe, and waits
 * for the answer. Bytes behind it are appended to *output. After a fault in a process of earlier calls,
 * another one gets the call: an earlier picture may have caused it. Not while it has a decoder or an encoder
 * of frames: these are gone. */
enum status codec_call_make(struct codec_link *link, struct buf *output, struct error *err);

/* The process is gone or has said nonsense: the status that the caller reports. */
enum status codec_call_blame(struct codec_link *link, struct error *err);

/* Ends the process, if there is one, and gives the exchange back. */
void codec_call_end(struct codec_link *link);

#endif
