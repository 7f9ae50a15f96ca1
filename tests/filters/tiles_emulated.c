/* SPDX-License-Identifier: MIT */
#include "tests/filters/tiles_emulated.h"

#include <string.h>

enum { ROW_BYTES_AT = 16, ROWS_AT = 48, SHAPES_BYTES = 64 };

/* The tiles of a thread, as a processor has them. */
static _Thread_local struct emulated {
    bool configured;
    unsigned rows[EMULATED_TILES], bytes[EMULATED_TILES];
    uint8_t data[EMULATED_TILES][EMULATED_ROWS][EMULATED_BYTES];
    const char *fault;
} tiles;

static bool faults(bool wrong, const char *reason) {
    if (wrong && !tiles.fault) {
        tiles.fault = reason;
    }
    return wrong;
}

const char *tiles_emulated_fault(void) {
    const char *fault = tiles.fault;
    tiles.fault = NULL;
    return fault;
}

bool tiles_emulated_configured(void) {
    return tiles.configured;
}

void tiles_emulated_release(void) {
    const char *fault = tiles.fault;
    tiles = (struct emulated){.fault = fault};
}

/* Palette 0 releases. */
void tiles_emulated_configure(const void *shapes) {
    uint8_t bytes[SHAPES_BYTES];
    struct emulated made = {.configured = true, .fault = tiles.fault};
    memcpy(bytes, shapes, sizeof bytes);
    if (bytes[0] == 0) {
        tiles_emulated_release();
        return;
    }
    bool wrong = bytes[0] != 1 || bytes[1] != 0;
    for (unsigned i = 2; i < ROW_BYTES_AT; i++) {
        wrong = wrong || bytes[i] != 0;
    }
    for (unsigned i = 0; i < ROW_BYTES_AT; i++) {
        const unsigned width = bytes[ROW_BYTES_AT + 2 * i] | (unsigned)bytes[ROW_BYTES_AT + 2 * i + 1] << 8;
        const unsigned rows = bytes[ROWS_AT + i];
        wrong = wrong || width > EMULATED_BYTES || rows > EMULATED_ROWS || (width == 0) != (rows == 0) ||
                (i >= EMULATED_TILES && rows > 0);
        if (i < EMULATED_TILES) {
            made.bytes[i] = width;
            made.rows[i] = rows;
        }
    }
    if (!faults(wrong, "LDTILECFG: wrong shapes")) {
        tiles = made;
    }
}

static bool unusable(unsigned tile) {
    return !tiles.configured || tile >= EMULATED_TILES || tiles.rows[tile] == 0;
}

void tiles_emulated_zero(unsigned tile) {
    if (!faults(unusable(tile), "TILEZERO: a tile without a shape")) {
        memset(tiles.data[tile], 0, sizeof tiles.data[tile]);
    }
}

/* Bytes outside of the shape become 0. */
void tiles_emulated_load(unsigned tile, const void *from, size_t stride) {
    if (faults(unusable(tile), "TILELOADD: a tile without a shape")) {
        return;
    }
    memset(tiles.data[tile], 0, sizeof tiles.data[tile]);
    for (unsigned row = 0; row < tiles.rows[tile]; row++) {
        memcpy(tiles.data[tile][row], (const uint8_t *)from + row * stride, tiles.bytes[tile]);
    }
}

void tiles_emulated_store(unsigned tile, void *to, size_t stride) {
    if (faults(unusable(tile), "TILESTORED: a tile without a shape")) {
        return;
    }
    for (unsigned row = 0; row < tiles.rows[tile]; row++) {
        memcpy((uint8_t *)to + row * stride, tiles.data[tile][row], tiles.bytes[tile]);
    }
}

static int32_t product(const uint8_t *inputs, const uint8_t *weights) {
    int32_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum += inputs[i] * (int8_t)weights[i];
    }
    return sum;
}

void tiles_emulated_dot(unsigned sums, unsigned inputs, unsigned weights) {
    const bool wrong = unusable(sums) || unusable(inputs) || unusable(weights) || sums == inputs ||
                       sums == weights || inputs == weights || tiles.bytes[sums] % 4 != 0 ||
                       tiles.bytes[inputs] % 4 != 0 || tiles.bytes[weights] % 4 != 0 ||
                       tiles.rows[sums] != tiles.rows[inputs] || tiles.bytes[sums] != tiles.bytes[weights] ||
                       tiles.bytes[inputs] / 4 != tiles.rows[weights];
    if (faults(wrong, "TDPBUSD: shapes that do not fit")) {
        return;
    }
    for (unsigned row = 0; row < tiles.rows[sums]; row++) {
        for (unsigned k = 0; k < tiles.rows[weights]; k++) {
            for (unsigned column = 0; column < tiles.bytes[sums] / 4; column++) {
                uint8_t *at = tiles.data[sums][row] + (size_t)4 * column;
                uint32_t sum;
                memcpy(&sum, at, sizeof sum);
                sum += (uint32_t)product(tiles.data[inputs][row] + (size_t)4 * k,
                                         tiles.data[weights][k] + (size_t)4 * column);
                memcpy(at, &sum, sizeof sum);
            }
        }
    }
}
