/* SPDX-License-Identifier: MIT
 * Entropy-coded data without its stuffing, a window at a time. A segment ends at a marker or with the input.
 * A batch of blocks is decoded without checks, may read what the window had before, and is found too long
 * afterwards. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_BYTES_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_BYTES_H

#include <stdbool.h>

#include "codecs/jpeg/sequential/jpeg_dec_bits.h"
#include "codecs/jpeg/sequential/jpeg_dec_header.h"

enum {
    JPEG_DEC_BATCH = 32, /* blocks that are decoded before they are transformed */
    JPEG_DEC_BYTES_WINDOW = 16 << 10,
    /* A coefficient takes at most four bytes, and eight bytes are loaded at once. */
    JPEG_DEC_BYTES_BATCH = JPEG_DEC_BATCH * JPEG_DEC_COEFFICIENTS * 4 + 16,
};
_Static_assert(JPEG_DEC_CODE_BITS + JPEG_DEC_BITS_VALUE <= 32 && JPEG_DEC_TAKEN_MAX <= 32, "four bytes");

struct jpeg_dec_bytes {
    struct bytes input;
    size_t from;          /* of the input: behind what is in the window */
    bool complete;        /* the segment's end is in the window */
    const uint8_t *end;   /* of what the window holds */
    const uint8_t *limit; /* from here on the next batch needs jpeg_dec_bytes_more */
    /* Zeros at first, so that none of it is undefined. */
    uint8_t window[JPEG_DEC_BYTES_WINDOW + JPEG_DEC_BYTES_BATCH];
};

/* Begins a segment at offset `from` of the input. */
void jpeg_dec_bytes_start(struct jpeg_dec_bytes *bytes, struct bytes input, size_t from,
                          struct jpeg_dec_bits *bits);

/* Moves the window on once `bits` have reached the limit. False when more bits were read than the segment
 * has. */
bool jpeg_dec_bytes_more(struct jpeg_dec_bytes *bytes, struct jpeg_dec_bits *bits);

/* Ends the segment, whose rest does not matter, and returns the offset of its marker or of the input's end.
 * False when more was read than it has, or when its end is odd. */
bool jpeg_dec_bytes_finish(struct jpeg_dec_bytes *bytes, const struct jpeg_dec_bits *bits, size_t *marker);

#endif
