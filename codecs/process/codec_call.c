/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_call.h"

#include <poll.h>
#include <string.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/deadline.h"
#include "core/log.h"
#include "core/slot_pool.h"

enum { GRACE_NS = 100000000 };                              /* the process ends itself before */
#define REUSE_NS (CODEC_IDLE_MS * INT64_C(1000000) * 2 / 3) /* an older process is about to end */

void codec_call_end(struct codec_link *link) {
    codec_spawner_stop(&link->child);
    slot_give_back(link->exchange);
    link->exchange = NULL;
    link->ready = link->walks = link->writes = false;
    link->mapped = 0;
}

/* Whether the process of earlier calls still waits for the next one; else there is none afterwards. */
static bool can_reuse(struct codec_link *link) {
    struct pollfd ended = {.fd = link->child.socket, .events = POLLIN};
    bool can = link->child.socket >= 0 && !(link->needed & ~link->codecs) &&
               clock_ns() - link->used_ns < REUSE_NS && poll(&ended, 1, 0) == 0;
    link->codecs |= link->needed;
    if (!can) {
        codec_call_end(link);
    }
    return can;
}

/* Only samples: the padding of a picture's rows may hold what was in its slot before. */
static void copy_samples(const struct image *from, const struct image *to) {
    for (unsigned i = 0; i < from->plane_count; i++) {
        const struct plane *source = &from->plane[i], *target = &to->plane[i];
        for (uint32_t y = 0; y < source->height; y++) {
            memcpy(plane_row(target, y), plane_row(source, y), plane_row_bytes(source, from->depth));
        }
    }
}

/* The picture of the call within the exchange. */
static void place_picture(const struct codec_link *link, struct image *image) {
    image_layout(image, &link->call.shape);
    image_place(image, link->exchange->memory + link->call.picture);
}

/* Makes the exchange large enough and copies into it what the process gets. */
static enum status fill_exchange(struct codec_link *link, struct error *err) {
    struct codec_call *call = &link->call;
    bool pictures = link->source || link->target;
    struct image image = {0};
    size_t size = pictures ? image_layout(&image, &call->shape) : 0;
    enum status status =
        link->exchange ? ST_OK : slot_acquire(link->pool, SLOT_EXCHANGE, &link->exchange, err);
    status = status == ST_OK ? slot_reserve(link->exchange, call->picture + size, err) : status;
    if (status != ST_OK) {
        return status;
    }
    if (link->file.size > 0) {
        memcpy(link->exchange->memory, link->file.data, link->file.size);
    }
    if (link->source) {
        place_picture(link, &image);
        copy_samples(link->source, &image);
    }
    return ST_OK;
}

/* The process may still write meanwhile: only to samples, which may have any value. */
static void fetch_picture(const struct codec_link *link) {
    struct image image;
    if (link->target) {
        place_picture(link, &image);
        copy_samples(&image, link->target);
    }
}

static enum status send_exchange(struct codec_link *link, struct error *err) {
    struct codec_lend lend = {.span = link->mapped = slot_span(link->exchange)};
    return channel_send(link->child.socket, &lend, sizeof lend, CODEC_LEND, link->exchange->fd, err);
}

/* The process finds pages that were released and taken again through the same mapping. */
static enum status send_call(struct codec_link *link, struct error *err) {
    struct codec_call *call = &link->call;
    call->lends = link->mapped < slot_span(link->exchange);
    enum status status = channel_send(link->child.socket, call, sizeof *call, CODEC_CALL, -1, err);
    status = status == ST_OK && call->lends ? send_exchange(link, err) : status;
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
    link->begun_ns = clock_ns();
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

enum status codec_call_blame(struct codec_link *link, struct error *err) {
    const struct codec_call *call = &link->call;
    const char *title = codec_spawner_title(link->spawner, (enum codec_id)call->codec);
    bool was_ready = link->ready;
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
    if (codec_spawner_was_killed(&link->child)) {
        return fail(err, ST_BUSY, "the process of the codec was killed from outside");
    }
    if (call->operation == CODEC_ENCODES || call->operation == CODEC_ADDS ||
        call->operation == CODEC_COMPLETES) {
        return fail(err, ST_INTERNAL, "the library that writes %s failed on this picture", title);
    }
    return fail(err, call->operation == CODEC_READS ? ST_INTERNAL : ST_CORRUPT,
                "the library that reads %s failed on this picture", title);
}

/* A process that is taken over may say anything, but no call computes for longer than it lasts. One that has
 * said nothing beyond its deadline, when it should have ended itself, was stopped, or had no core. */
static void note_computed(struct codec_link *link, enum status status, int64_t lasted_ns) {
    uint64_t said = link->answer.computed_ns;
    bool believed = status == ST_OK && said < (uint64_t)lasted_ns;
    if (status != ST_TIMEOUT) {
        link->computed_ns += believed ? (int64_t)said : lasted_ns;
    }
}

/* What the process says went wrong. One that reads marks is not quoted, since a picture that has taken it
 * over could have it say what it has read. */
static enum status repeat(const struct codec_link *link, struct error *err) {
    const struct error *error = &link->answer.error;
    const char *title = codec_spawner_title(link->spawner, (enum codec_id)link->call.codec);
    if (link->call.operation != CODEC_READS) {
        return fail_naming(err, error->status, error->parameter, "%s", error->text);
    }
    return error->status == ST_LIMIT
               ? fail(err, ST_LIMIT, "the picture has too many %s, or they take too much time or memory",
                      title)
           : error->status == ST_BUSY ? fail(err, ST_BUSY, "the reader of %s has no memory", title)
                                      : fail(err, ST_INTERNAL, "the reader of %s failed", title);
}

/* Whether the process has what the call goes on with. */
static bool stands(const struct codec_link *link) {
    const struct codec_call *call = &link->call;
    const bool adds = call->operation == CODEC_ADDS || call->operation == CODEC_COMPLETES;
    return call->first || ((call->operation != CODEC_FRAMES || link->walks) && (!adds || link->writes));
}

enum status codec_call_make(struct codec_link *link, struct buf *output, struct error *err) {
    int64_t deadline = link->call.limits.deadline_ns;
    size_t size = output->size;
    for (bool again = true; again;) {
        link->begun_ns = clock_ns();
        again = can_reuse(link);
        if (!stands(link)) {
            return fail(err, ST_BUSY, "the process of the codec has ended between two frames");
        }
        enum status status =
            again ? ST_OK : codec_spawner_start(link->spawner, link->codecs, &link->child, err);
        if (status != ST_OK) {
            return status;
        }
        status = fill_exchange(link, err);
        if (status != ST_OK) {
            return status;
        }
        status = send_call(link, err);
        status = status == ST_OK ? hear(link, deadline ? deadline + GRACE_NS : 0, output, err) : status;
        note_computed(link, status, clock_ns() - link->begun_ns);
        if (status == ST_OK) {
            break;
        }
        link->faults++;
        again = again && !link->walks && !link->writes && status == ST_DEVICE && deadline_left(deadline) > 0;
        status = again ? ST_OK : codec_call_blame(link, err);
        codec_call_end(link);
        output->size = size;
        if (!again) {
            return status;
        }
    }
    const struct error *error = &link->answer.error;
    if (error->status == ST_OK) {
        fetch_picture(link);
    }
    if (link->answer.last) {
        codec_call_end(link);
    }
    link->used_ns = clock_ns();
    link->faults += link->answer.late;
    return error->status == ST_OK ? ST_OK : repeat(link, err);
}
