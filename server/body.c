/* SPDX-License-Identifier: MIT */
#include "server/body.h"

#include <inttypes.h>
#include <string.h>

#include "server/queue/overload.h"
#include "server/request.h"
#include "server/service.h"

enum {
    STEP_LEAST = 256 << 10, /* the room for a body grows by at least so many bytes */
    STEP_MOST = 1 << 20,    /* and by at most so many beyond what has arrived */
    ROOM_LEAST =
        64 << 10, /* bytes that may arrive before the room grows; more than the library reads at once */
};

/* Reserves `want` bytes and some more, but never more than was announced. */
static enum status reserve(struct request *request, size_t want, struct error *err) {
    struct slot *slot = request->slot;
    const struct framing *framing = &request->framing;
    uint64_t limit = framing->content_lengths ? framing->content_length : request->settings->config.max_body;
    size_t more = slot->reserved < STEP_LEAST  ? STEP_LEAST
                  : slot->reserved < STEP_MOST ? slot->reserved
                                               : STEP_MOST;
    size_t room = slot->reserved + more < limit ? slot->reserved + more : (size_t)limit;
    room = want <= slot->reserved || room < want ? want : room;
    return slot_reserve(slot, room, err);
}

/* A GPU reads the body from the slot's memory. The CPU reads the file's head alone, and that is in the first
 * piece. docs/adr/0048-bodies-past-the-caches.md has the measurements. */
static void copy_piece(struct request *request, const uint8_t *data, size_t size) {
    uint8_t *to = request->slot->memory + request->body_size;
    if (request->service->places > 0 && request->body_size > 0) {
        bytes_stream(to, data, size);
    } else {
        memcpy(to, data, size);
    }
}

enum status body_keep(struct request *request, const void *data, size_t size) {
    uint64_t limit = request->settings->config.max_body;
    if (size > limit - request->body_size) {
        return fail(&request->error, ST_TOO_LARGE, "the body is larger than the limit of %" PRIu64 " bytes",
                    limit);
    }
    enum status status = ST_OK;
    if (!request->slot) {
        status = slot_acquire(request->service->slots, SLOT_BODY, &request->slot, &request->error);
    }
    if (status == ST_OK) {
        status = reserve(request, request->body_size + size, &request->error);
    }
    if (status == ST_OK) {
        status = overload_check_body(request);
    }
    if (status == ST_OK && data) {
        copy_piece(request, data, size);
    }
    if (status == ST_OK) {
        request->body_size += size;
    }
    return status;
}

size_t body_room(struct request *request, uint8_t **to) {
    struct slot *slot = request->slot;
    struct error ignored; /* body_keep reports it with the next piece */
    uint64_t left = request->framing.content_length - request->body_size;
    size_t least = left < ROOM_LEAST ? (size_t)left : ROOM_LEAST;
    if (slot->reserved - request->body_size < least) {
        (void)reserve(request, request->body_size + least, &ignored);
    }
    size_t room = slot->reserved - request->body_size;
    *to = slot->memory + request->body_size;
    return left < room ? (size_t)left : room;
}
