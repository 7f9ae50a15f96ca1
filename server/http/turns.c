/* SPDX-License-Identifier: MIT */
#include "server/http/turns.h"

#include <stddef.h>

enum { EACH_PLACE = 5, LEAST = 8 };

unsigned turns_limit(unsigned places, unsigned threads) {
    unsigned limit = (places * EACH_PLACE + threads - 1) / threads;
    return places == 0 ? 0 : limit < LEAST ? LEAST : limit;
}

static void leave(struct turns *turns, struct turn *turn) {
    struct turn_list *list = &turns->list[turn->state];
    if (turn->state == TURN_NONE) {
        return;
    }
    *(turn->older ? &turn->older->newer : &list->oldest) = turn->newer;
    *(turn->newer ? &turn->newer->older : &list->newest) = turn->older;
    list->count--;
    turn->state = TURN_NONE;
    turn->older = turn->newer = NULL;
}

static void enter(struct turns *turns, struct turn *turn, enum turn_state state, int64_t now_ns) {
    struct turn_list *list = &turns->list[state];
    leave(turns, turn);
    turn->state = state;
    turn->since_ns = now_ns;
    turn->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = turn;
    list->newest = turn;
    list->count++;
}

/* A slow client must not keep others waiting. */
static void forget_slow(struct turns *turns, int64_t now_ns) {
    const struct turn_list *reading = &turns->list[TURN_READING];
    while (reading->oldest && now_ns - reading->oldest->since_ns >= TURNS_READING_NS) {
        leave(turns, reading->oldest);
    }
}

static bool has_room(struct turns *turns, int64_t now_ns) {
    forget_slow(turns, now_ns);
    return turns->list[TURN_READING].count + turns->list[TURN_WORKING].count < turns->limit;
}

bool turns_begin(struct turns *turns, struct turn *turn, int64_t now_ns) {
    bool now = turns->limit == 0 || (turns->list[TURN_WAITING].count == 0 && has_room(turns, now_ns));
    enter(turns, turn, now ? TURN_READING : TURN_WAITING, now_ns);
    return now;
}

void turns_work(struct turns *turns, struct turn *turn) {
    enter(turns, turn, TURN_WORKING, 0);
}

void turns_end(struct turns *turns, struct turn *turn) {
    leave(turns, turn);
}

struct turn *turns_next(struct turns *turns, int64_t now_ns, bool all) {
    struct turn *turn = turns->list[TURN_WAITING].oldest;
    if (!turn || (!all && now_ns - turn->since_ns < TURNS_WAITING_NS && !has_room(turns, now_ns))) {
        return NULL;
    }
    enter(turns, turn, TURN_READING, now_ns);
    return turn;
}

int64_t turns_wait_ms(const struct turns *turns, int64_t now_ns) {
    const struct turn *waiting = turns->list[TURN_WAITING].oldest,
                      *reading = turns->list[TURN_READING].oldest;
    if (!waiting) {
        return -1;
    }
    int64_t left = waiting->since_ns + TURNS_WAITING_NS - now_ns;
    int64_t young = reading ? reading->since_ns + TURNS_READING_NS - now_ns : left;
    left = young < left ? young : left;
    return left > 0 ? (left + 999999) / 1000000 : 0;
}
