/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_strips.h"

#include <stdlib.h>

#include <libdeflate.h>
#include <zlib.h>

#include "codecs/png/deflate_rle.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_rows.h"
#include "core/deadline.h"

enum {
    STRIP_SIZE = 1 << 17, /* bytes of rows that are filtered and compressed together: they stay in cache */
    COST = 3,             /* cost of a byte relative to a blurred sample */
    ROWS = 3,             /* that codecs/png/png_rows.h keeps */
    CHUNK = 4,            /* bytes of a chunk's buffer for one of its rows: 1.75, and it grows by doubling */
    SEATS_MEMORY = 8 << 20, /* bytes of all seats, unless one takes more */
    ZLIB_METHOD = 0x78,
    ZLIB_CHECK = 0x01, /* a stream's header: deflate, 32 KiB, fastest */
};

/* Working memory of one thread. */
struct seat {
    struct png_rows rows;
    uint8_t *lines;   /* a strip, filtered */
    struct buf chunk; /* the compressed strip; unused with one seat, which writes to the output */
};

struct png_strip {
    struct buf chunk; /* empty when it is in the output already */
    size_t size;      /* size of its rows */
    uint32_t checksum;
};

struct strips {
    const struct image *image;
    int64_t deadline_ns;
    struct buf *output;
    size_t line;
    uint32_t height; /* rows a strip, but for the last */
    unsigned count, seats;
    struct png_strip *strip;
    struct seat *seat;
};

/* Writes a strip as a chunk; the zlib stream begins in the first one. */
static enum status write_chunk(const struct strips *strips, const struct seat *seat, unsigned index,
                               struct buf *to, struct error *err) {
    static const uint8_t start_of_stream[] = {ZLIB_METHOD, ZLIB_CHECK};
    struct png_strip *strip = &strips->strip[index];
    uint32_t y = index * strips->height, left = strips->image->height - y;
    uint32_t count = left < strips->height ? left : strips->height;
    size_t start = to->size;
    enum png_filter filter = png_rows_choose(&seat->rows, y, count, seat->lines);
    png_rows_filter(&seat->rows, y, count, filter, seat->lines);
    strip->size = count * strips->line;
    strip->checksum = libdeflate_adler32(1, seat->lines, strip->size);
    enum status status = png_open_chunk(to, png_tag("IDAT"), err);
    if (status == ST_OK && index == 0) {
        status = buf_append(to, start_of_stream, sizeof(start_of_stream), err);
    }
    status = status != ST_OK ? status : deflate_rle_block(seat->lines, strip->size, to, err);
    return status != ST_OK ? status : png_close_chunk(to, start, err);
}

static enum status run_strip(void *context, unsigned part, unsigned number, struct error *err) {
    const struct strips *strips = context;
    struct seat *seat = &strips->seat[number];
    enum status status = deadline_check(strips->deadline_ns, err);
    if (status != ST_OK) {
        return status;
    }
    if (strips->seats == 1) {
        return write_chunk(strips, seat, part, strips->output, err);
    }
    struct buf *chunk = &strips->strip[part].chunk;
    seat->chunk.size = 0;
    status = write_chunk(strips, seat, part, &seat->chunk, err);
    buf_init(chunk, seat->chunk.size);
    return status != ST_OK ? status : buf_append(chunk, seat->chunk.data, seat->chunk.size, err);
}

/* Rows of a strip, but for the last. */
static uint32_t strip_height(size_t line, uint32_t height) {
    uint32_t rows = line < STRIP_SIZE ? (uint32_t)(STRIP_SIZE / line) : 1;
    return rows < height ? rows : height;
}

static size_t seat_bytes(size_t line, uint32_t strip) {
    return strip * line * (1 + CHUNK) + ROWS * line;
}

size_t png_strips_bytes(size_t row, uint32_t height, bool helped) {
    size_t line = row + 1, one = seat_bytes(line, strip_height(line, height)), all = line * height * CHUNK;
    size_t most = all < SEATS_MEMORY ? all : SEATS_MEMORY;
    return helped && most > one ? most : one;
}

static enum status join(const struct strips *strips, struct error *err) {
    uint32_t checksum = 1;
    enum status status = ST_OK;
    for (unsigned i = 0; i < strips->count && status == ST_OK; i++) {
        const struct png_strip *strip = &strips->strip[i];
        checksum = (uint32_t)adler32_combine(checksum, strip->checksum, (z_off_t)strip->size);
        status = buf_append(strips->output, strip->chunk.data, strip->chunk.size, err);
        buf_finish(&strips->strip[i].chunk); /* strips and output together stay as large as one */
    }
    size_t start = strips->output->size;
    uint8_t tail[4];
    bytes_put_be32(tail, checksum);
    status = status != ST_OK ? status : png_open_chunk(strips->output, png_tag("IDAT"), err);
    status = status != ST_OK ? status : deflate_rle_end(strips->output, err);
    status = status != ST_OK ? status : buf_append(strips->output, tail, sizeof(tail), err);
    return status != ST_OK ? status : png_close_chunk(strips->output, start, err);
}

static enum status take_memory(struct strips *strips, struct error *err) {
    strips->strip = calloc(strips->count, sizeof(*strips->strip));
    strips->seat = calloc(strips->seats, sizeof(*strips->seat));
    enum status status =
        strips->strip && strips->seat ? ST_OK : fail(err, ST_BUSY, "out of memory to compress a PNG");
    for (unsigned i = 0; i < strips->seats && status == ST_OK; i++) {
        struct seat *seat = &strips->seat[i];
        status = png_rows_init(&seat->rows, strips->image, err);
        seat->lines = malloc(strips->height * strips->line);
        buf_init(&seat->chunk, strips->output->maximum);
        if (status == ST_OK && !seat->lines) {
            status = fail(err, ST_BUSY, "out of memory to compress a PNG");
        }
    }
    return status;
}

static void free_memory(struct strips *strips) {
    for (unsigned i = 0; strips->strip && i < strips->count; i++) {
        buf_finish(&strips->strip[i].chunk);
    }
    for (unsigned i = 0; strips->seat && i < strips->seats; i++) {
        png_rows_finish(&strips->seat[i].rows);
        buf_finish(&strips->seat[i].chunk);
        free(strips->seat[i].lines);
    }
    free(strips->strip);
    free(strips->seat);
}

enum status png_strips_write(const struct image *image, struct crew *crew, int64_t deadline_ns,
                             struct buf *output, struct error *err) {
    struct strips strips = {.image = image, .deadline_ns = deadline_ns, .output = output};
    strips.line = plane_row_bytes(&image->plane[0], image->depth) + 1;
    strips.height = strip_height(strips.line, image->height);
    strips.count = (image->height + strips.height - 1) / strips.height;
    unsigned seats = crew_seats(crew, (uint64_t)strips.line * image->height * COST);
    size_t most = SEATS_MEMORY / seat_bytes(strips.line, strips.height);
    strips.seats = seats < most ? seats : most > 0 ? (unsigned)most : 1;
    strips.seats = strips.seats < strips.count ? strips.seats : strips.count;
    struct crew_work work = {
        .part = run_strip, .context = &strips, .parts = strips.count, .seats = strips.seats};
    enum status status = take_memory(&strips, err);
    status = status != ST_OK ? status : crew_run(crew, &work, err);
    status = status != ST_OK ? status : join(&strips, err);
    free_memory(&strips);
    return status;
}
