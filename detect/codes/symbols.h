/* SPDX-License-Identifier: MIT
 * Codes that a reader has read: where they are, and nothing of what they say. */
#ifndef BLURD_DETECT_CODES_SYMBOLS_H
#define BLURD_DETECT_CODES_SYMBOLS_H

#include "core/bytes.h"
#include "core/image.h"
#include "core/status.h"

enum { CODES_SYMBOLS_MAX = 255 };

/* The corners in the order around the code, the first two along its first row, x before y, in pixels of the
 * picture. Those of a linear code may lie on one line. */
struct codes_symbol {
    int32_t corner[4][2];
};

struct codes_symbols {
    uint32_t count;
    struct codes_symbol symbol[CODES_SYMBOLS_MAX];
};

/* Takes the symbols from the bytes of a process that a picture may have taken over, which are structs
 * codes_symbol one after the other. Corners outside of the picture are moved to its edges. ST_DEVICE for a
 * number of bytes that no intact process sends. */
enum status codes_symbols_parse(struct bytes bytes, uint32_t width, uint32_t height,
                                struct codes_symbols *symbols, struct error *err);

/* Who reads codes for a search. */
struct codes_reader {
    /* Finds codes in a grey picture of 8 bits. An error fails the search: no silence is taken for "no codes".
     * ST_LIMIT at the deadline, without memory, or with more symbols than CODES_SYMBOLS_MAX. */
    enum status (*read)(void *context, const struct image *grey, int64_t deadline_ns,
                        struct codes_symbols *symbols, struct error *err);
    void *context;
};

#endif
