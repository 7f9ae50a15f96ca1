/* SPDX-License-Identifier: MIT */
#include "server/queue/room.h"

enum {
    BODY_SHARE = 3, /* bodies have one part of so many */
    SPARE = 4,      /* a job leaves one part of so many of its own size free, */
    MOST_SPARE = 4, /* and the largest request such a part of the budget */
    BODY_MOST = 4,  /* one body is at most such a part of the budget, less than all bodies may hold */
};

static uint64_t jobs_part(uint64_t budget) {
    return budget / BODY_SHARE * (BODY_SHARE - 1);
}

/* With what it leaves free. */
static uint64_t with_margin(uint64_t bytes) {
    return bytes + bytes / SPARE;
}

uint64_t room_most(uint64_t budget) {
    return budget - budget / MOST_SPARE;
}

uint64_t room_most_body(uint64_t budget) {
    return budget / BODY_MOST;
}

bool room_is_lone(uint64_t budget, uint64_t bytes) {
    return with_margin(bytes) > jobs_part(budget);
}

/* What a lone job leaves to other jobs, and as much again to other bodies. */
static uint64_t left_to_others(uint64_t budget, uint64_t bytes, uint64_t body) {
    uint64_t own = bytes + body;
    return own < budget ? (budget - own) / 2 : 0;
}

static bool lone_fits(const struct room *room, uint64_t bytes, uint64_t body) {
    uint64_t left = left_to_others(room->budget, bytes, body);
    uint64_t others = room->bodies > body ? room->bodies - body : 0;
    return room->lone == 0 && room->bytes <= left && others <= left;
}

static bool other_fits(const struct room *room, uint64_t bytes) {
    uint64_t part =
        room->lone ? left_to_others(room->budget, room->lone, room->lone_body) : jobs_part(room->budget);
    return room->bytes + bytes <= part;
}

bool room_fits(const struct room *room, uint64_t bytes, uint64_t body) {
    return room_is_lone(room->budget, bytes) ? lone_fits(room, bytes, body)
                                             : other_fits(room, with_margin(bytes));
}

void room_take(struct room *room, uint64_t bytes, uint64_t body) {
    if (room_is_lone(room->budget, bytes)) {
        room->lone = bytes;
        room->lone_body = body;
    } else {
        room->bytes += bytes;
    }
}

void room_give(struct room *room, uint64_t bytes) {
    if (room_is_lone(room->budget, bytes)) {
        room->lone = room->lone_body = 0;
    } else {
        room->bytes -= bytes;
    }
}

bool room_grow(struct room *room, uint64_t *bytes, uint64_t needed, uint64_t body) {
    if (needed <= with_margin(*bytes)) {
        return true;
    }
    room_give(room, *bytes);
    bool fits = room_is_lone(room->budget, needed) ? lone_fits(room, needed, body) : other_fits(room, needed);
    *bytes = fits ? needed : *bytes;
    room_take(room, *bytes, body);
    return fits;
}

uint64_t room_for_bodies(const struct room *room) {
    return room->lone ? room->lone_body + left_to_others(room->budget, room->lone, room->lone_body)
                      : room->budget / BODY_SHARE;
}
