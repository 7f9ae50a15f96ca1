/* SPDX-License-Identifier: MIT */
#include "server/http/body_throttle.h"

#include <stddef.h>

#include "core/tuned.h"

unsigned body_throttle_limit(unsigned gpu_concurrency, unsigned threads) {
    unsigned limit = (gpu_concurrency * TUNED_BODIES + threads - 1) / threads;
    return gpu_concurrency == 0 ? 0 : limit < TUNED_BODIES_LEAST ? TUNED_BODIES_LEAST : limit;
}

static void leave(struct body_throttle *throttle, struct body_throttle_turn *turn) {
    struct body_throttle_list *list = &throttle->list[turn->state];
    if (turn->state == BODY_THROTTLE_NONE) {
        return;
    }
    *(turn->older ? &turn->older->newer : &list->oldest) = turn->newer;
    *(turn->newer ? &turn->newer->older : &list->newest) = turn->older;
    list->count--;
    turn->state = BODY_THROTTLE_NONE;
    turn->older = turn->newer = NULL;
}

static void enter(struct body_throttle *throttle, struct body_throttle_turn *turn,
                  enum body_throttle_state state, int64_t now_ns) {
    struct body_throttle_list *list = &throttle->list[state];
    leave(throttle, turn);
    turn->state = state;
    turn->since_ns = now_ns;
    turn->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = turn;
    list->newest = turn;
    list->count++;
}

/* A slow client must not keep others waiting. */
static void forget_slow(struct body_throttle *throttle, int64_t now_ns) {
    const struct body_throttle_list *reading = &throttle->list[BODY_THROTTLE_READING];
    while (reading->oldest && now_ns - reading->oldest->since_ns >= TUNED_BODY_READ_NS) {
        leave(throttle, reading->oldest);
    }
}

static bool has_room(struct body_throttle *throttle, int64_t now_ns) {
    forget_slow(throttle, now_ns);
    return throttle->list[BODY_THROTTLE_READING].count + throttle->list[BODY_THROTTLE_WORKING].count <
           throttle->limit;
}

bool body_throttle_begin(struct body_throttle *throttle, struct body_throttle_turn *turn, int64_t now_ns) {
    bool now = throttle->limit == 0 ||
               (throttle->list[BODY_THROTTLE_WAITING].count == 0 && has_room(throttle, now_ns));
    enter(throttle, turn, now ? BODY_THROTTLE_READING : BODY_THROTTLE_WAITING, now_ns);
    return now;
}

void body_throttle_work(struct body_throttle *throttle, struct body_throttle_turn *turn) {
    enter(throttle, turn, BODY_THROTTLE_WORKING, 0);
}

void body_throttle_end(struct body_throttle *throttle, struct body_throttle_turn *turn) {
    leave(throttle, turn);
}

struct body_throttle_turn *body_throttle_next(struct body_throttle *throttle, int64_t now_ns, bool all) {
    struct body_throttle_turn *turn = throttle->list[BODY_THROTTLE_WAITING].oldest;
    if (!turn || (!all && now_ns - turn->since_ns < TUNED_BODY_WAIT_NS && !has_room(throttle, now_ns))) {
        return NULL;
    }
    enter(throttle, turn, BODY_THROTTLE_READING, now_ns);
    return turn;
}

int64_t body_throttle_wait_ms(const struct body_throttle *throttle, int64_t now_ns) {
    const struct body_throttle_turn *waiting = throttle->list[BODY_THROTTLE_WAITING].oldest,
                                    *reading = throttle->list[BODY_THROTTLE_READING].oldest;
    if (!waiting) {
        return -1;
    }
    int64_t left = waiting->since_ns + TUNED_BODY_WAIT_NS - now_ns;
    int64_t young = reading ? reading->since_ns + TUNED_BODY_READ_NS - now_ns : left;
    left = young < left ? young : left;
    return left > 0 ? (left + 999999) / 1000000 : 0;
}
