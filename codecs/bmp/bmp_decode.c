/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/bmp/bmp_codec.h"
#include "codecs/bmp/bmp_header.h"
#include "codecs/bmp/bmp_metadata.h"
#include "core/deadline.h"

enum { ROWS_BETWEEN = 64 }; /* looks at the clock */

struct bmp_reading {
    const struct bmp_header *header;
    const struct codec_limits *limits;
    const struct image *image;
};

enum status bmp_codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                            struct error *err) {
    struct bmp_header header;
    enum status status = bmp_header_read(input, limits, &header, err);
    if (status != ST_OK) {
        return status;
    }
    picture->pixels = picture->native = bmp_header_shape(&header);
    return bmp_metadata_read(&header, &picture->metadata, err);
}

static uint8_t *row_at(const struct bmp_reading *reading, uint32_t row) {
    const struct bmp_header *header = reading->header;
    return plane_row(&reading->image->plane[0], header->top_down ? row : header->height - 1 - row);
}

static enum status fail_index(unsigned index, const struct bmp_header *header, struct error *err) {
    return fail(err, ST_CORRUPT, "BMP is damaged: a pixel has the colour %u, and its palette has %u", index,
                header->colours);
}

/* ---- rows without compression ---- */

static enum status take_indices(const struct bmp_reading *reading, const uint8_t *from, uint8_t *to,
                                struct error *err) {
    const struct bmp_header *header = reading->header;
    const unsigned bits = header->bits, each = 8 / bits, mask = (1u << bits) - 1;
    for (uint32_t x = 0; x < header->width; x++, to += 3) {
        unsigned index = (unsigned)from[x / each] >> (8 - bits - x % each * bits) & mask;
        if (index >= header->colours) {
            return fail_index(index, header, err);
        }
        memcpy(to, header->palette[index], 3);
    }
    return ST_OK;
}

static void take_bytes(const struct bmp_reading *reading, const uint8_t *from, uint8_t *to) {
    for (uint32_t x = 0; x < reading->header->width; x++, from += 3, to += 3) {
        to[0] = from[2], to[1] = from[1], to[2] = from[0];
    }
}

static void take_masked(const struct bmp_reading *reading, const uint8_t *from, uint8_t *to) {
    const struct bmp_header *header = reading->header;
    const unsigned channels = reading->image->plane[0].channels;
    unsigned shift[BMP_HEADER_CHANNELS];
    uint32_t most[BMP_HEADER_CHANNELS];
    for (unsigned c = 0; c < channels; c++) {
        shift[c] = header->mask[c] ? (unsigned)__builtin_ctz(header->mask[c]) : 0;
        most[c] = header->mask[c] ? header->mask[c] >> shift[c] : 1; /* a channel without bits is 0 */
    }
    for (uint32_t x = 0; x < header->width; x++, from += header->bits / 8, to += channels) {
        uint32_t pixel = header->bits == 16 ? bmp_header_16(from) : bmp_header_32(from);
        for (unsigned c = 0; c < channels; c++) {
            uint64_t value = (pixel & header->mask[c]) >> shift[c];
            to[c] = (uint8_t)(most[c] == UINT8_MAX ? value : (value * UINT8_MAX + most[c] / 2) / most[c]);
        }
    }
}

static enum status take_row(const struct bmp_reading *reading, uint32_t row, struct error *err) {
    const struct bmp_header *header = reading->header;
    const uint8_t *from = header->data.data + row * bmp_header_row(header);
    uint8_t *to = row_at(reading, row);
    if (header->bits <= 8) {
        return take_indices(reading, from, to, err);
    }
    if (header->bits == 24) {
        take_bytes(reading, from, to);
    } else {
        take_masked(reading, from, to);
    }
    return ST_OK;
}

static enum status read_rows(const struct bmp_reading *reading, struct error *err) {
    enum status status = ST_OK;
    for (uint32_t row = 0; row < reading->header->height && status == ST_OK; row++) {
        status = row % ROWS_BETWEEN == 0 ? deadline_check(reading->limits->deadline_ns, err) : ST_OK;
        status = status == ST_OK ? take_row(reading, row, err) : status;
    }
    return status;
}

/* ---- runs ---- */

struct runs {
    const struct bmp_reading *reading;
    struct bytes rest;
    uint32_t x, row;
    bool ended;
};

/* Pixels that no run reaches have the first colour. Those of a run beyond the row's end do not matter. */
static void clear(const struct bmp_reading *reading) {
    const struct bmp_header *header = reading->header;
    for (uint32_t row = 0; row < header->height; row++) {
        uint8_t *to = row_at(reading, row);
        for (uint32_t x = 0; x < header->width; x++, to += 3) {
            memcpy(to, header->palette[0], 3);
        }
    }
}

static enum status put(struct runs *runs, unsigned index, struct error *err) {
    const struct bmp_header *header = runs->reading->header;
    if (index >= header->colours) {
        return fail_index(index, header, err);
    }
    if (runs->x < header->width) {
        memcpy(row_at(runs->reading, runs->row) + 3 * (size_t)runs->x, header->palette[index], 3);
        runs->x++;
    }
    return ST_OK;
}

/* The pixels of `count` stored as two in a byte, or one; `same`: the first byte holds for all. */
static enum status put_all(struct runs *runs, const uint8_t *bytes, unsigned count, bool same,
                           struct error *err) {
    bool half = runs->reading->header->coding == BMP_RLE4;
    enum status status = ST_OK;
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        unsigned byte = bytes[same ? 0 : half ? i / 2 : i];
        status = put(runs, !half ? byte : i % 2 == 0 ? byte >> 4 : byte & 15, err);
    }
    return status;
}

static enum status fail_short(struct error *err) {
    return fail(err, ST_CORRUPT, "BMP is damaged or cut short: its runs do not end");
}

static enum status move(struct runs *runs, struct error *err) {
    if (runs->rest.size < 4) {
        return fail_short(err);
    }
    runs->x += runs->rest.data[2];
    runs->row += runs->rest.data[3];
    runs->rest.data += 4, runs->rest.size -= 4;
    return ST_OK;
}

static enum status put_literal(struct runs *runs, unsigned count, struct error *err) {
    size_t size = runs->reading->header->coding == BMP_RLE4 ? (count + 1) / 2 : count;
    if (runs->rest.size < 2 + size) {
        return fail_short(err);
    }
    enum status status = put_all(runs, runs->rest.data + 2, count, false, err);
    size += size & 1; /* the next one begins at an even byte */
    size = size < runs->rest.size - 2 ? size : runs->rest.size - 2;
    runs->rest.data += 2 + size, runs->rest.size -= 2 + size;
    return status;
}

static enum status step(struct runs *runs, struct error *err) {
    enum { END_OF_ROW, END, MOVE };
    if (runs->rest.size < 2) {
        return fail_short(err);
    }
    unsigned count = runs->rest.data[0], what = runs->rest.data[1];
    if (count == 0 && what == MOVE) {
        return move(runs, err);
    }
    if (count == 0 && what > MOVE) {
        return put_literal(runs, what, err);
    }
    enum status status = put_all(runs, runs->rest.data + 1, count, true, err);
    runs->rest.data += 2, runs->rest.size -= 2;
    if (count == 0) {
        runs->ended = what == END;
        runs->row += what == END_OF_ROW;
        runs->x = 0;
    }
    return status;
}

/* They end with their mark, or behind the last row. */
static enum status read_runs(const struct bmp_reading *reading, struct error *err) {
    enum { STEPS_BETWEEN = 1 << 16 };
    struct runs runs = {.reading = reading, .rest = reading->header->data};
    enum status status = ST_OK;
    clear(reading);
    for (uint32_t i = 0; status == ST_OK && !runs.ended && runs.row < reading->header->height; i++) {
        status = i % STEPS_BETWEEN == 0 ? deadline_check(reading->limits->deadline_ns, err) : ST_OK;
        status = status == ST_OK ? step(&runs, err) : status;
    }
    return status;
}

enum status bmp_codec_decode(struct bytes input, const struct picture *picture,
                             const struct codec_limits *limits, const struct image *image,
                             struct error *err) {
    struct bmp_header header;
    (void)picture;
    enum status status = bmp_header_read(input, limits, &header, err);
    const struct bmp_reading reading = {&header, limits, image};
    if (status != ST_OK) {
        return status;
    }
    bool runs = header.coding == BMP_RLE8 || header.coding == BMP_RLE4;
    return runs ? read_runs(&reading, err) : read_rows(&reading, err);
}
