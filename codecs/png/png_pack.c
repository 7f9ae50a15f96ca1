/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_pack.h"

#include <stdlib.h>

#include <libdeflate.h>

#include "codecs/png/png_rows.h"

enum {
    BANDS = 8,                   /* bands of the sample, spread over the height */
    BAND_ROWS = 9,               /* most rows of a band */
    TRIAL_LEVEL = 1,             /* ranks filters nearly as the higher levels do */
    LOOK_STEP = 32,              /* png_is_graphic samples one row in this many */
    GRAPHIC_ZEROS = 60,          /* percent: photographs have less, blurred or not, or ... */
    GRAPHIC_DISTANCE = 4,        /* ... no larger differences than this on average */
    BEST_OF_EACH = FILTER_COUNT, /* stands for the best filter of each row */
};

static void filter(const struct png_rows *rows, uint32_t y, uint32_t count, unsigned way, uint8_t *to) {
    if (way == BEST_OF_EACH) {
        png_rows_filter_best(rows, y, count, to);
    } else {
        png_rows_filter(rows, y, count, (enum png_filter)way, to);
    }
}

/* Filters sample bands all over the picture; returns their bytes, at most the picture's. */
static size_t filter_sample(const struct png_rows *rows, unsigned way, uint8_t *to) {
    uint32_t height = rows->image->height, step = height / BANDS;
    uint32_t count = step < BAND_ROWS ? step : BAND_ROWS;
    if (count == 0) {
        filter(rows, 0, height, way, to);
        return height * rows->line;
    }
    for (uint32_t band = 0; band < BANDS; band++) {
        filter(rows, band * step, count, way, to + band * count * rows->line);
    }
    return BANDS * count * rows->line;
}

/* `packed` has room for `room` bytes; output that does not fit counts as the largest. */
static unsigned choose_filter(const struct png_rows *rows, uint8_t *lines, uint8_t *packed, size_t room) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(TRIAL_LEVEL);
    size_t least = SIZE_MAX;
    unsigned best = FILTER_PAETH;
    for (unsigned way = FILTER_NONE; compressor && way <= BEST_OF_EACH; way++) {
        size_t size = filter_sample(rows, way, lines);
        size_t result = libdeflate_deflate_compress(compressor, lines, size, packed, room);
        if (result > 0 && result < least) {
            least = result;
            best = way;
        }
    }
    libdeflate_free_compressor(compressor);
    return best;
}

enum status png_pack(const struct png_rows *rows, int level, uint8_t *to, size_t room, size_t *size,
                     struct error *err) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    uint8_t *lines = malloc(rows->image->height * rows->line);
    enum status status = ST_OK;
    if (compressor && lines) {
        unsigned way = choose_filter(rows, lines, to, room);
        filter(rows, 0, rows->image->height, way, lines);
        *size = libdeflate_zlib_compress(compressor, lines, rows->image->height * rows->line, to, room);
    } else {
        status = fail(err, ST_BUSY, "out of memory to compress a PNG");
    }
    libdeflate_free_compressor(compressor);
    free(lines);
    return status;
}

enum status png_is_graphic(const struct png_rows *rows, bool *graphic, struct error *err) {
    uint8_t *line = malloc(rows->line);
    if (!line) {
        return fail(err, ST_BUSY, "out of memory to look at a row");
    }
    uint64_t bytes = 0, zeros = 0, distance = 0;
    uint32_t height = rows->image->height;
    for (uint32_t y = height < LOOK_STEP ? height / 2 : LOOK_STEP / 2; y < height; y += LOOK_STEP) {
        png_rows_filter(rows, y, 1, FILTER_PAETH, line);
        bytes += rows->line - 1;
        distance += png_filter_sum(line + 1, rows->line - 1);
        for (size_t i = 1; i < rows->line; i++) {
            zeros += line[i] == 0;
        }
    }
    free(line);
    *graphic = zeros * 100 >= bytes * GRAPHIC_ZEROS && distance >= (bytes - zeros) * GRAPHIC_DISTANCE;
    return ST_OK;
}
