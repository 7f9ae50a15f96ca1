/* SPDX-License-Identifier: MIT */
#include "server/http/body_throttle.h"

#include <stddef.h>

#include "core/tuned.h"

unsigned body_throttle_limit(unsigned gpu_concurrency, unsigned threads) {
    unsigned limit = (gpu_concurrency * TUNED_BODIES + threads - 1) / threads;
    return gpu_concurrency == 0 ? 0 : limit < TUNED_BODIES_LEAST ? TUNED_BODIES_LEAST : limit;
}

void body_throttle_end(struct body_throttle *throttle, struct body_throttle_turn *turn) {
    if (turn->state == TURN_WAITING) {
        *(turn->older ? &turn->older->newer : &throttle->oldest) = turn->newer;
        *(turn->newer ? &turn->newer->older : &throttle->newest) = turn->older;
    }
    throttle->reading -= turn->state == TURN_READING && turn->since_ns >= throttle->reading_since_ns;
    throttle->working -= turn->state == TURN_WORKING;
    *turn = (struct body_throttle_turn){0};
}

static void read_now(struct body_throttle *throttle, struct body_throttle_turn *turn, int64_t now_ns) {
    body_throttle_end(throttle, turn);
    *turn = (struct body_throttle_turn){.state = TURN_READING, .since_ns = now_ns};
    throttle->reading++;
}

/* A slow client must not keep others waiting, so bodies that have not arrived are forgotten from time to
 * time. */
static bool has_room(struct body_throttle *throttle, int64_t now_ns) {
    if (now_ns - throttle->reading_since_ns >= TUNED_BODY_READ_NS) {
        throttle->reading_since_ns = now_ns;
        throttle->reading = 0;
    }
    return throttle->reading + throttle->working < throttle->limit;
}

bool body_throttle_begin(struct body_throttle *throttle, struct body_throttle_turn *turn, int64_t now_ns) {
    if (throttle->limit == 0) {
        return true;
    }
    if (!throttle->oldest && has_room(throttle, now_ns)) {
        read_now(throttle, turn, now_ns);
        return true;
    }
    *turn = (struct body_throttle_turn){TURN_WAITING, now_ns, .older = throttle->newest};
    *(throttle->newest ? &throttle->newest->newer : &throttle->oldest) = turn;
    throttle->newest = turn;
    return false;
}

void body_throttle_work(struct body_throttle *throttle, struct body_throttle_turn *turn) {
    body_throttle_end(throttle, turn);
    turn->state = TURN_WORKING;
    throttle->working++;
}

struct body_throttle_turn *body_throttle_next(struct body_throttle *throttle, int64_t now_ns, bool all) {
    struct body_throttle_turn *turn = throttle->oldest;
    if (!turn || (!all && now_ns - turn->since_ns < TUNED_BODY_WAIT_NS && !has_room(throttle, now_ns))) {
        return NULL;
    }
    read_now(throttle, turn, now_ns);
    return turn;
}
