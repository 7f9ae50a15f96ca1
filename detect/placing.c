/* SPDX-License-Identifier: MIT */
#include "detect/placing.h"

#include <stdbool.h>
#include <stdint.h>

static const size_t nowhere = SIZE_MAX; /* the offset of what has no place yet */

/* Whether a piece, at its offset, overlaps no other one of the same time. If it overlaps one, the offset
 * becomes the end of that one. */
static bool is_free(const struct placing_piece *pieces, unsigned count, struct placing_piece *piece) {
    for (unsigned i = 0; i < count; i++) {
        const struct placing_piece *other = &pieces[i];
        bool together = other != piece && other->offset != nowhere && other->last >= piece->first &&
                        piece->last >= other->first;
        if (together && piece->offset < other->offset + other->bytes &&
            other->offset < piece->offset + piece->bytes) {
            piece->offset = other->offset + other->bytes;
            return false;
        }
    }
    return true;
}

/* The largest piece without a place; NULL: there is none. */
static struct placing_piece *largest(struct placing_piece *pieces, unsigned count) {
    struct placing_piece *best = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].offset == nowhere && (!best || pieces[i].bytes > best->bytes)) {
            best = &pieces[i];
        }
    }
    return best;
}

size_t placing_fill(struct placing_piece *pieces, unsigned count) {
    size_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        pieces[i].offset = nowhere;
    }
    for (struct placing_piece *piece; (piece = largest(pieces, count)) != NULL;) {
        piece->offset = 0;
        while (!is_free(pieces, count, piece)) {
        }
        most = piece->offset + piece->bytes > most ? piece->offset + piece->bytes : most;
    }
    return most;
}
