/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_link.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/process/codec_spawner.h"
#include "codecs/process/codec_wire.h"
#include "core/clock.h"
#include "core/deadline.h"
#include "core/log.h"

enum {
    SLACK = 16 << 20,     /* bytes that a library may take beyond what its codec predicts */
    GRACE_NS = 100000000, /* the process ends itself before */
};
#define REUSE_NS (CODEC_IDLE_MS * INT64_C(1000000) * 2 / 3) /* an older process is about to end */

struct codec_link {
    struct codec_spawner *spawner;
    struct codec_child child; /* none: the next call starts one */
    bool ready;               /* the process has said so */
    unsigned faults;          /* see codec_link_faults */
    unsigned codecs; /* bits of the codecs that the process has opened: all that earlier calls used */
    int64_t used_ns; /* end of the last call */
    struct slot *slot[CODEC_SLOTS];
    struct {
        uint64_t serial, span;
    } mapped[CODEC_SLOTS]; /* by the process; span 0: nothing */
    struct codec_call call;
    struct codec_answer answer;
    struct codec_piece piece;
    struct buf stored; /* metadata to send */
};

enum status codec_link_create(struct codec_link **link, struct codec_spawner *spawner, struct error *err) {
    struct codec_link *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->spawner = spawner;
    made->child = CODEC_CHILD_NONE;
    *link = made;
    return ST_OK;
}

static void end(struct codec_link *link) {
    codec_spawner_stop(&link->child);
    link->ready = false;
    memset(link->mapped, 0, sizeof link->mapped);
}

void codec_link_destroy(struct codec_link *link) {
    if (link) {
        end(link);
        free(link);
    }
}

void codec_link_lend(struct codec_link *link, struct slot *body, struct slot *work) {
    if (link) {
        link->slot[CODEC_BODY] = body;
        link->slot[CODEC_WORK] = work;
    }
}

/* Whether the process of earlier calls still waits for the next one; else there is none afterwards. */
static bool can_reuse(struct codec_link *link) {
    struct pollfd ended = {.fd = link->child.socket, .events = POLLIN};
    unsigned codec = 1u << link->call.codec;
    bool can = link->child.socket >= 0 && link->codecs & codec && clock_ns() - link->used_ns < REUSE_NS &&
               poll(&ended, 1, 0) == 0;
    link->codecs |= codec;
    if (!can) {
        end(link);
    }
    return can;
}

static enum status send_slot(struct codec_link *link, unsigned which, struct error *err) {
    const struct slot *slot = link->slot[which];
    struct codec_lend lend = {.span = slot_span(slot)};
    link->mapped[which].serial = slot->serial;
    link->mapped[which].span = lend.span;
    return channel_send(link->child.socket, &lend, sizeof lend, CODEC_LEND, slot->fd, err);
}

/* Pages of a slot that gave memory back are found through the same mapping. */
static bool is_mapped(const struct codec_link *link, unsigned which) {
    const struct slot *slot = link->slot[which];
    return !slot ||
           (link->mapped[which].serial == slot->serial && link->mapped[which].span >= slot_span(slot));
}

static enum status send_call(struct codec_link *link, struct error *err) {
    struct codec_call *call = &link->call;
    call->lends = 0;
    for (unsigned i = 0; i < CODEC_SLOTS; i++) {
        call->lends |= is_mapped(link, i) ? 0 : 1u << i;
    }
    enum status status = channel_send(link->child.socket, call, sizeof *call, CODEC_CALL, -1, err);
    for (unsigned i = 0; i < CODEC_SLOTS && status == ST_OK; i++) {
        status = call->lends >> i & 1 ? send_slot(link, i, err) : ST_OK;
    }
    return status == ST_OK ? codec_wire_send(link->child.socket, buf_bytes(&link->stored), &link->piece, err)
                           : status;
}

static enum status receive_ready(struct codec_link *link, int64_t until_ns, struct error *err) {
    struct codec_ready ready;
    if (link->ready) {
        return ST_OK;
    }
    enum status status = channel_receive(link->child.socket, &ready, sizeof ready, CODEC_READY, NULL,
                                         codec_wire_wait_ms(until_ns), err);
    link->ready = status == ST_OK && ready.error.status == ST_OK;
    return status == ST_OK && !link->ready
               ? fail(err, ST_INTERNAL, "%.*s", (int)sizeof ready.error.text - 1, ready.error.text)
               : status;
}

/* Waits for the answer. Bytes behind it are appended to *output, whose maximum the call has named. */
static enum status hear(struct codec_link *link, int64_t until_ns, struct buf *output, struct error *err) {
    struct codec_answer *answer = &link->answer;
    enum status status = receive_ready(link, until_ns, err);
    if (status != ST_OK) {
        return status;
    }
    status = channel_receive(link->child.socket, answer, sizeof *answer, CODEC_ANSWER, NULL,
                             codec_wire_wait_ms(until_ns), err);
    status = status == ST_OK ? codec_wire_check(answer, &link->call, err) : status;
    if (status == ST_OK && answer->size > 0) {
        status = codec_wire_receive(link->child.socket, answer->size, &link->piece, until_ns, output, err);
    }
    return status;
}

/* The process is gone or has said nonsense. */
static enum status blame(struct codec_link *link, struct error *err) {
    const struct codec_call *call = &link->call;
    const char *title = codec_spawner_title(link->spawner, (enum codec_id)call->codec);
    bool encodes = call->operation == CODEC_ENCODES, was_ready = link->ready;
    log_message(LOG_WARNING, "codec", "the process for %s ended: %s", title, err->text);
    if (err->status == ST_BUSY || err->status == ST_INTERNAL) { /* of this side */
        return err->status;
    }
    if (deadline_check(call->limits.deadline_ns, err) != ST_OK) {
        return ST_LIMIT;
    }
    if (!was_ready) {
        return fail(err, ST_BUSY, "no process can be started for the codec");
    }
    return encodes ? fail(err, ST_INTERNAL, "the library that writes %s failed on this picture", title)
                   : fail(err, ST_CORRUPT, "the library that reads %s failed on this picture", title);
}

/* Sends the call that link->call and link->stored describe, and waits for the answer. After a fault in a
 * process of earlier calls, another one gets the call: an earlier picture may have caused it. */
static enum status make_call(struct codec_link *link, struct buf *output, struct error *err) {
    int64_t deadline = link->call.limits.deadline_ns;
    size_t size = output->size;
    for (bool again = true; again;) {
        again = can_reuse(link);
        enum status status =
            again ? ST_OK : codec_spawner_start(link->spawner, link->codecs, &link->child, err);
        if (status != ST_OK) {
            return status;
        }
        status = send_call(link, err);
        status = status == ST_OK ? hear(link, deadline ? deadline + GRACE_NS : 0, output, err) : status;
        if (status == ST_OK) {
            break;
        }
        link->faults++;
        again = again && status == ST_DEVICE && deadline_left(deadline) > 0;
        status = again ? ST_OK : blame(link, err);
        end(link);
        output->size = size;
        if (!again) {
            return status;
        }
    }
    if (link->answer.last) {
        end(link);
    }
    link->used_ns = clock_ns();
    const struct error *error = &link->answer.error;
    return error->status == ST_OK ? ST_OK : fail(err, error->status, "%s", error->text);
}

static struct codec_limits plain_limits(const struct codec_limits *limits) {
    struct codec_limits plain = *limits;
    plain.progress = NULL;
    plain.crew = NULL;
    plain.link = NULL;
    return plain;
}

/* The part of the slot that is in use. */
static struct bytes contents(const struct slot *slot) {
    return slot ? (struct bytes){slot->memory, slot->used} : (struct bytes){0};
}

static enum status set_file(struct codec_link *link, struct bytes input, struct error *err) {
    struct bytes body = contents(link->slot[CODEC_BODY]);
    uintptr_t at = (uintptr_t)input.data - (uintptr_t)body.data;
    if (at > body.size || input.size > body.size - at) {
        return fail(err, ST_INTERNAL, "the file does not lie in the body");
    }
    link->call.input = at;
    link->call.input_size = input.size;
    return ST_OK;
}

static enum status set_picture(struct codec_link *link, const struct image *image, struct error *err) {
    struct bytes work = contents(link->slot[CODEC_WORK]);
    struct image laid;
    link->call.shape = image_shape(image);
    size_t size = image_layout(&laid, &link->call.shape);
    uintptr_t at = (uintptr_t)image->plane[0].data - image->plane[0].offset - (uintptr_t)work.data;
    if (at > work.size || size > work.size - at) {
        return fail(err, ST_INTERNAL, "the picture does not lie in the slot");
    }
    link->call.picture = at;
    return ST_OK;
}

enum status codec_link_probe(struct codec_link *link, enum codec_id id, struct bytes input,
                             const struct codec_limits *limits, struct picture *picture, struct error *err) {
    struct metadata *metadata = &picture->metadata;
    link->call = (struct codec_call){.operation = CODEC_PROBES,
                                     .codec = id,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + METADATA_MEMORY_MAX + input.size};
    enum status status = set_file(link, input, err);
    buf_init(&metadata->store, SIZE_MAX);
    status = status == ST_OK ? make_call(link, &metadata->store, err) : status;
    if (status != ST_OK) {
        return status;
    }
    picture->native = link->answer.native;
    picture->pixels = link->answer.pixels;
    picture->progressive = link->answer.progressive == 1;
    status = codec_wire_unpack(&link->answer.metadata, input, buf_bytes(&metadata->store), metadata, err);
    if (status != ST_OK) {
        status = blame(link, err);
        end(link);
    }
    return status;
}

enum status codec_link_decode(struct codec_link *link, const struct picture *picture, struct bytes input,
                              const struct codec_limits *limits, size_t memory, const struct image *image,
                              struct error *err) {
    struct buf nothing = {0};
    link->call = (struct codec_call){.operation = CODEC_DECODES,
                                     .codec = picture->codec,
                                     .limits = plain_limits(limits),
                                     .memory = SLACK + memory};
    enum status status = set_file(link, input, err);
    status = status == ST_OK ? set_picture(link, image, err) : status;
    return status == ST_OK ? make_call(link, &nothing, err) : status;
}

/* The file may take as much memory as the picture, twice while the buffer for it grows. */
static uint64_t encoding_memory(size_t memory, const struct image *image) {
    uint64_t pixels = (uint64_t)image->width * image->height;
    return SLACK + METADATA_MEMORY_MAX + METADATA_WRITTEN_MAX + memory +
           2 * pixels * image_pixel_channels(image->model) * (image->depth / 8);
}

enum status codec_link_encode(struct codec_link *link, enum codec_id id, const struct image *image,
                              const struct encode_options *options, size_t memory,
                              const struct metadata *metadata, struct buf *output, struct error *err) {
    struct codec_call *call = &link->call;
    struct bytes body = contents(link->slot[CODEC_BODY]);
    *call = (struct codec_call){.operation = CODEC_ENCODES,
                                .codec = id,
                                .has_metadata = metadata != NULL,
                                .input_size = body.size,
                                .output_most = output->maximum - output->size,
                                .limits.deadline_ns = options->deadline_ns,
                                .options = *options,
                                .memory = encoding_memory(memory, image)};
    call->options.crew = NULL;
    call->options.link = NULL;
    call->options.losses = NULL;
    enum status status = set_picture(link, image, err);
    buf_init(&link->stored, SIZE_MAX);
    if (status == ST_OK && metadata) {
        status = codec_wire_pack(metadata, body, &call->metadata, &link->stored, err);
    }
    call->stored = link->stored.size;
    status = status == ST_OK ? make_call(link, output, err) : status;
    buf_finish(&link->stored);
    if (status == ST_OK && options->losses) {
        *options->losses |= link->answer.losses;
    }
    return status;
}

unsigned codec_link_faults(struct codec_link *link) {
    unsigned faults = link ? link->faults : 0;
    if (link) {
        link->faults = 0;
    }
    return faults;
}
