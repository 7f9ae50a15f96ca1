/* SPDX-License-Identifier: MIT */
#include "server/series/frames.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/numbers.h"
#include "detect/held/finds.h"
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
    SEARCHED, /* waits for what is found in those behind it */
    ANSWERED, /* is to be sent */
};

enum { BODY_ROOM = 1 << 20 }; /* bytes that bodies must leave free for a further frame */

struct frames {
    struct request *series; /* NULL after frames_leave */
    const struct request_transport *transport;
    void *connection;
    struct mjpeg mjpeg;
    struct request *arriving;            /* NULL: none */
    uint64_t begun;                      /* number of frames that have begun to arrive */
    bool ended;                          /* no more is read */
    unsigned hold;                       /* frame_holds */
    uint64_t dropped;                    /* frames that were answered */
    struct finds *past[DETECT_HOLD_MAX]; /* of the frames that were dropped last, by number; owned */
    unsigned busy;                       /* most frames that workers get at a time */
    unsigned most, oldest, count, working;
    struct request *ring[]; /* `most` + 1, from the oldest on */
};

static unsigned place(const struct frames *frames, unsigned i) {
    return (frames->oldest + i) % (frames->most + 1);
}

struct frames *frames_create(struct request *series, const struct request_transport *transport,
                             void *connection) {
    const unsigned hold = frame_holds(series), busy = overload_in_flight(series->service), most = busy + hold;
    struct frames *frames = calloc(1, sizeof *frames + (most + 1) * sizeof frames->ring[0]);
    if (frames) {
        frames->series = series;
        frames->transport = transport;
        frames->connection = connection;
        frames->hold = hold;
        frames->busy = busy;
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
        for (unsigned i = 0; i < DETECT_HOLD_MAX; i++) {
            free(frames->past[i]);
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

static void give_up(struct request *frame, enum problem problem) {
    request_give_slot_back(frame);
    answer_problem(frame, problem);
    frame->phase = ANSWERED;
}

/* Whether it is not answered in this stage. */
static bool is_to_search(const struct request *frame) {
    return frame->parameters.detect.stage == DETECT_FINDS;
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
        give_up(frame, problem_of(status));
    }
}

/* The arriving frame is complete. */
static void queue(struct frames *frames) {
    struct request *frame = frames->arriving;
    frames->arriving = NULL;
    frame->queued_ns = clock_ns();
    frame->slot->used = frame->body_size;
    add(frames, frame, ARRIVED);
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
           (frames_are_moving(frames) && !overload_has_room(frames->series->service, BODY_ROOM));
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
    frame->phase = frame->answered                               ? ANSWERED
                   : is_to_search(frame) && frame->finds != NULL ? SEARCHED
                                                                 : ARRIVED;
    if (frame->phase == ARRIVED && !may_wait(frame)) {
        give_up(frame, PROBLEM_BUSY);
    }
}

/* The frame at a place from the oldest on, which may be one that was dropped. */
static const struct finds *finds_at(const struct frames *frames, int64_t i) {
    const int64_t number = (int64_t)frames->dropped + i;
    if (i >= 0) {
        return i < frames->count ? frames->ring[place(frames, (unsigned)i)]->finds : NULL;
    }
    return number >= 0 ? frames->past[number % DETECT_HOLD_MAX] : NULL;
}

/* Whether all is known that is hidden in the frame: those before it, which other workers may still have, and
 * those behind it are searched, or no more follow. */
static bool is_known(const struct frames *frames, unsigned i) {
    unsigned k = i - min_u32(i, frames->hold);
    for (; k <= i + frames->hold && k < frames->count; k++) {
        const struct request *frame = frames->ring[place(frames, k)];
        if (frame->phase == ANSWERED && frame->outcome.problem != PROBLEM_NONE) {
            return true;
        }
        if (!frame->finds) {
            return false;
        }
    }
    return k > i + frames->hold || frames->ended;
}

static void hold(struct frames *frames, unsigned i) {
    const struct finds *near[2 * DETECT_HOLD_MAX + 1];
    struct request *frame = frames->ring[place(frames, i)];
    unsigned count = 0;
    for (int64_t k = (int64_t)i - frames->hold; k <= (int64_t)i + frames->hold; k++) {
        near[count++] = finds_at(frames, k);
    }
    frame->phase = ARRIVED;
    if (frame_hold(frame, near, count) != ST_OK) {
        give_up(frame, PROBLEM_BUSY);
    }
}

bool frames_retry(struct frames *frames) {
    bool waits = false;
    for (unsigned i = 0; i < frames->count; i++) {
        struct request *frame = frames->ring[place(frames, i)];
        if (frame->phase == SEARCHED && is_known(frames, i)) {
            hold(frames, i);
        }
        if (frame->phase == ARRIVED && frames->working < frames->busy) {
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
    struct request *first = frames->ring[frames->oldest];
    struct finds **past = &frames->past[frames->dropped++ % DETECT_HOLD_MAX];
    free(*past);
    *past = first->finds;
    first->finds = NULL;
    exchange_destroy(first, true, false);
    frames->oldest = place(frames, 1);
    frames->count--;
}

bool frames_have_ended(const struct frames *frames) {
    return frames->ended;
}

bool frames_are_left(const struct frames *frames) {
    return frames->count > 0;
}

bool frames_are_moving(const struct frames *frames) {
    for (unsigned i = 0; i < frames->count; i++) {
        if (frames->ring[place(frames, i)]->phase != SEARCHED) {
            return true;
        }
    }
    return false;
}

bool frames_are_with_workers(const struct frames *frames) {
    return frames->working > 0;
}
