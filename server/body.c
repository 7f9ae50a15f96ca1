/* SPDX-License-Identifier: MIT */
#include "server/body.h"

#include <string.h>

#include "server/overload.h"
#include "server/request.h"
#include "server/service.h"

enum {
    STEP_LEAST = 256 << 10, /* the room for a body grows by at least so many bytes */
    STEP_MOST = 1 << 20,    /* and by at most so many beyond what has arrived */
    ROOM_LEAST = 64 << 10,  /* the room grows when less is left; the library reads half of that at once */
};

/* Reserves `want` bytes and some more, but never more than was announced. */
static enum status reserve(struct request *request, size_t want, struct error *err) {
    struct slot *slot = request->slot;
    const struct framing *framing = &request->framing;
    uint64_t limit = framing->content_lengths ? framing->content_length : overload_body_most(request);
    size_t more = slot->reserved < STEP_LEAST  ? STEP_LEAST
                  : slot->reserved < STEP_MOST ? slot->reserved
                                               : STEP_MOST;
    size_t room = slot->reserved + more < limit ? slot->reserved + more : (size_t)limit;
    room = want <= slot->reserved || room < want ? want : room;
    return slot_reserve(slot, room, err);
}

enum status body_keep(struct request *request, const void *data, size_t size) {
    enum status status = overload_check_size(request, (uint64_t)request->body_size + size);
    if (status == ST_OK && !request->slot) {
        status = slot_acquire(request->service->slots, SLOT_BODY, &request->slot, &request->error);
    }
    if (status == ST_OK) {
        status = reserve(request, request->body_size + size, &request->error);
    }
    if (status == ST_OK) {
        status = overload_check_body(request);
    }
    if (status == ST_OK && data) {
        memcpy(request->slot->memory + request->body_size, data, size);
    }
    if (status == ST_OK) {
        request->body_size += size;
    }
    return status;
}

/* How many of the `left` bytes may go to a slot with that room at once. The last one never does: it stays in
 * the socket until the library has been told of all others, so that the watchdog sees who is slow
 * (server/http/watch.c).
 */
static size_t direct_receive_room(size_t room, uint64_t left) {
    room = room < STEP_MOST ? room : STEP_MOST; /* other connections wait while the thread receives */
    return room < left ? room : left > 0 ? (size_t)left - 1 : 0;
}

size_t body_room(struct request *request, uint8_t **to) {
    struct slot *slot = request->slot;
    struct error ignored; /* body_keep reports it with the next piece */
    uint64_t left = request->framing.content_length - request->body_size;
    size_t least = left < ROOM_LEAST ? (size_t)left : ROOM_LEAST;
    bool small = slot->reserved - request->body_size < least;
    if (small && overload_has_room(request->service, STEP_MOST)) {
        (void)reserve(request, request->body_size + least, &ignored);
    }
    size_t room = direct_receive_room(slot->reserved - request->body_size, left);
    (void)slot_reserve(slot, request->body_size + room, &ignored); /* is reserved, and in use from now on */
    *to = slot->memory + request->body_size;
    return room;
}
