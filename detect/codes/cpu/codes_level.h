/* SPDX-License-Identifier: MIT
 * A level of the pyramid in which codes are looked for: each pixel is dark or light against what is around
 * it, and cells of 4x4 pixels say how many edges there are. All numbers are whole. */
#ifndef BLURD_DETECT_CODES_CPU_CODES_LEVEL_H
#define BLURD_DETECT_CODES_CPU_CODES_LEVEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    CODES_CELL = 4,                     /* pixels on each side of a cell */
    CODES_SIDE_LEAST = 32,              /* pixels on each side of a level, at least */
    CODES_REACH = 1,                    /* a cell's window has so many cells on each side of it */
    CODES_WINDOW = 2 * CODES_REACH + 1, /* cells on each side of a window */
    CODES_CONTRAST = 24,                /* least difference between dark and light */
    CODES_WINDOW_PIXELS = CODES_WINDOW * CODES_WINDOW * CODES_CELL * CODES_CELL,
};

enum codes_tone { CODES_FLAT, CODES_DARK, CODES_LIGHT };

/* Pixels of a cell, or of its window: how many there are of each. */
struct codes_sums {
    uint16_t across, down; /* edges between dark and light, in rows and in columns */
    uint16_t dark, seen;   /* dark ones; not flat ones */
    uint16_t clear;        /* far from the middle between dark and light */
    int32_t xx, yy, xy;    /* products of the gradients' parts, in steps of 1/4 */
};

struct codes_level {
    uint32_t width, height; /* pixels, multiples of CODES_CELL */
    uint32_t columns, rows; /* cells */
    uint8_t *grey;
    uint8_t *tone;           /* enum codes_tone of each pixel */
    uint8_t *least, *most;   /* of each cell */
    struct codes_sums *cell; /* of each cell */
    struct codes_sums *sum;  /* of the window of each cell; windows are cut at the edges */
    uint8_t *mask;           /* of each cell, for codes_parts.h */
    uint32_t *stack;         /* of each cell, for codes_parts.h */
};

/* The bytes of a level of a picture of that size; 0 when it is too small for a code. */
size_t codes_level_bytes(uint32_t width, uint32_t height);

/* Lays a level over memory of that size, aligned to 8 bytes. */
void codes_level_place(struct codes_level *level, uint32_t width, uint32_t height, uint8_t *memory);

/* Makes the grey pixels of the next level, of half the size, of those of a level. */
void codes_level_halve(const struct codes_level *from, const struct codes_level *to);

/* Makes the tones and sums of the grey pixels. */
void codes_level_look(const struct codes_level *level);

#endif
