/* SPDX-License-Identifier: MIT */
#include "server/series/frames.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "server/answer.h"
#include "server/body.h"
#include "server/exchange.h"
#include "server/overload.h"
#include "server/request.h"
#include "server/series/frame.h"
#include "server/series/mjpeg.h"
#include "server/service.h"

enum frame_phase {
    ARRIVED,  /* to be submitted; a worker may have refused it before */
    WORKING,  /* is the queue's or a worker's */
    ANSWERED, /* is to be sent */
};

enum { BODY_ROOM = 1 << 20 }; /* bytes that bodies must leave free for a further frame */

struct frames {
    struct request *series; /* NULL after frames_leave */
    const struct request_transport *transport;
    void *connection;
    struct mjpeg mjpeg;
    struct request *arriving; /* NULL: none */
    uint64_t begun;           /* number of frames that have begun to arrive */
    bool ended;               /* no more is read */
    unsigned most, oldest, count, working;
    struct request *ring[]; /* `most` + 1, from the oldest on */
};

static unsigned place(const struct frames *frames, unsigned i) {
    return (frames->oldest + i) % (frames->most + 1);
}

struct frames *frames_create(struct request *series, const struct request_transport *transport,
                             void *connection) {
    unsigned most = overload_in_flight(series->service);
    struct frames *frames = calloc(1, sizeof *frames + (most + 1) * sizeof frames->ring[0]);
    if (frames) {
        frames->series = series;
        frames->transport = transport;
        frames->connection = connection;
        frames->most = most;
    }
    return frames;
}

void frames_destroy(struct frames *frames) {
    if (frames) {
        exchange_destroy(frames->arriving, true, false);
        while (frames->count > 0) {
            frames_drop_first(frames);
        }
        free(frames);
    }
}

static void add(struct frames *frames, struct request *frame, enum frame_phase phase) {
    frame->phase = phase;
    frames->ring[place(frames, frames->count++)] = frame;
}

/* The frame cannot be read: its problem is its answer, and the last one. */
static void refuse(struct frames *frames, struct request *frame, enum problem problem) {
    request_give_slot_back(frame);
    answer_problem(frame, problem);
    add(frames, frame, ANSWERED);
    frames->ended = true;
}

static int64_t waited(const struct request *frame) {
    return clock_ns() - frame->queued_ns;
}

/* Whether it may be submitted again after a refusal. */
static bool may_wait(const struct request *frame) {
    return frame->slot && frame->refusal != REFUSAL_DRAINING &&
           waited(frame) < frame->settings->config.work_timeout_ms * 1000000;
}

static void submit(struct frames *frames, struct request *frame) {
    frame->phase = WORKING; /* it may be the queue's before overload_submit returns */
    frames->working++;
    enum status status = overload_submit(frame);
    if (status == ST_OK) {
        return;
    }
    frames->working--;
    frame->phase = ARRIVED;
    if (!may_wait(frame)) {
        request_give_slot_back(frame);
        answer_problem(frame, problem_of(status));
        frame->phase = ANSWERED;
    }
}

/* The arriving frame is complete. */
static void queue(struct frames *frames) {
    struct request *frame = frames->arriving;
    frames->arriving = NULL;
    frame->queued_ns = clock_ns();
    frame->slot->used = frame->body_size;
    add(frames, frame, ARRIVED);
    submit(frames, frame);
}

/* Appends bytes to the arriving frame. */
static void keep(struct frames *frames, const uint8_t *data, size_t size) {
    struct request *frame = frames->arriving;
    if (!frame || size == 0) {
        return;
    }
    enum status status = body_keep(frame, data, size);
    if (status != ST_OK) {
        frames->arriving = NULL;
        refuse(frames, frame, problem_of(status));
    }
}

static struct request *create(struct frames *frames) {
    frames->begun++;
    return frame_create(frames->series);
}

static void begin(struct frames *frames) {
    struct request *frame = create(frames);
    if (!frame) {
        frames->ended = true; /* without memory the connection is closed */
        return;
    }
    frame->transport = frames->transport;
    frame->connection = frames->connection;
    frames->arriving = frame;
    keep(frames, mjpeg_begin, sizeof mjpeg_begin);
}

/* The bytes are no JPEG. */
static void refuse_foreign(struct frames *frames) {
    struct request *frame = frames->arriving ? frames->arriving : create(frames);
    frames->arriving = NULL;
    frames->ended = true;
    if (frame) {
        fail(&frame->error, ST_CORRUPT,
             frames->begun > 1 || frames->mjpeg.open
                 ? "a JPEG of the series ends within its header, or has a segment of an impossible length"
                 : "the body is no series of JPEGs, one behind the other (MJPEG)");
        refuse(frames, frame, PROBLEM_CORRUPT);
    }
}

static void follow(struct frames *frames, enum mjpeg_event event) {
    if (event == MJPEG_FOREIGN) {
        refuse_foreign(frames);
    }
    if (event == MJPEG_CUT) {
        keep(frames, mjpeg_end, sizeof mjpeg_end);
    }
    if ((event == MJPEG_END || event == MJPEG_CUT) && frames->arriving) {
        queue(frames);
    }
}

bool frames_are_full(const struct frames *frames) {
    return frames->ended || frames->count >= frames->most ||
           (frames->count > 0 && !overload_has_room(frames->series->service, BODY_ROOM));
}

size_t frames_take(struct frames *frames, const uint8_t *data, size_t size) {
    size_t at = 0;
    while (at < size && !frames_are_full(frames)) {
        struct mjpeg_piece piece = mjpeg_read(&frames->mjpeg, data + at, size - at);
        keep(frames, data + at, piece.kept);
        at += piece.read;
        follow(frames, piece.event);
        if ((piece.event == MJPEG_BEGIN || piece.event == MJPEG_CUT) && !frames->ended) {
            begin(frames);
        }
    }
    return at;
}

void frames_end(struct frames *frames, bool early) {
    if (!frames->ended && !early) {
        follow(frames, mjpeg_finish(&frames->mjpeg));
    }
    exchange_destroy(frames->arriving, true, false);
    frames->arriving = NULL;
    if (frames->begun == 0 && !frames->ended && !early) {
        refuse_foreign(frames);
    }
    frames->ended = true;
}

void frames_note_answer(struct frames *frames, struct request *frame) {
    frames->working--;
    if (frame->answered) {
        frame->phase = ANSWERED;
        return;
    }
    frame->phase = ARRIVED;
    if (!may_wait(frame)) {
        request_give_slot_back(frame);
        answer_problem(frame, PROBLEM_BUSY);
        frame->phase = ANSWERED;
    }
}

bool frames_retry(struct frames *frames) {
    bool waits = false;
    for (unsigned i = 0; i < frames->count; i++) {
        struct request *frame = frames->ring[place(frames, i)];
        if (frame->phase == ARRIVED) {
            submit(frames, frame);
            waits |= frame->phase == ARRIVED;
        }
        if (waits) {
            break; /* those behind it wait, too */
        }
    }
    return waits;
}

struct request *frames_first(const struct frames *frames) {
    struct request *first = frames->count > 0 ? frames->ring[frames->oldest] : NULL;
    return first && first->phase == ANSWERED ? first : NULL;
}

void frames_drop_first(struct frames *frames) {
    exchange_destroy(frames->ring[frames->oldest], true, false);
    frames->oldest = place(frames, 1);
    frames->count--;
}

bool frames_have_ended(const struct frames *frames) {
    return frames->ended;
}

bool frames_are_left(const struct frames *frames) {
    return frames->count > 0;
}

bool frames_are_with_workers(const struct frames *frames) {
    return frames->working > 0;
}
