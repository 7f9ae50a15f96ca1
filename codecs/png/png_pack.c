/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_pack.h"

#include <stdlib.h>

#include <libdeflate.h>

#include "codecs/png/png_ways.h"

enum {
    TRIAL_LEVEL = 1,      /* ranks filters nearly as the higher levels do */
    LOOK_STEP = 32,       /* png_is_graphic samples one row in this many */
    GRAPHIC_ZEROS = 60,   /* percent: photographs have less, blurred or not, or ... */
    PACKED_ZEROS = 30,    /* (of bytes with several pixels) */
    GRAPHIC_DISTANCE = 4, /* ... no larger differences than this on average */
};

/* `packed` has room for `room` bytes; output that does not fit counts as the largest. */
static unsigned choose_filter(const struct png_rows *rows, uint8_t *lines, uint8_t *packed, size_t room) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(TRIAL_LEVEL);
    size_t least = SIZE_MAX;
    unsigned best = FILTER_PAETH;
    for (unsigned way = FILTER_NONE; compressor && way < PNG_WAYS; way++) {
        size_t size = png_way_sample(rows, way, rows->image->height, lines) * rows->line;
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
        png_way_filter(rows, 0, rows->image->height, way, lines);
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
    const uint32_t height = rows->image->height, first = height < LOOK_STEP ? height / 2 : LOOK_STEP / 2;
    uint64_t bytes = 0, zeros = 0, distance = 0;
    for (uint32_t y = first; y < height; y += LOOK_STEP) {
        png_rows_filter(rows, y, 1, FILTER_PAETH, line);
        bytes += rows->line - 1;
        for (size_t i = 1; i < rows->line; i++) {
            zeros += line[i] == 0;
        }
    }
    *graphic = zeros * 100 >= bytes * (rows->form->bits < 8 ? PACKED_ZEROS : GRAPHIC_ZEROS);
    for (uint32_t y = first; y < height && *graphic; y += LOOK_STEP) {
        distance += png_rows_distance(rows, y, line);
    }
    free(line);
    *graphic = *graphic && distance >= (bytes - zeros) * GRAPHIC_DISTANCE;
    return ST_OK;
}
