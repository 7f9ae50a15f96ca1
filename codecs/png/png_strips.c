/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_strips.h"

#include <pthread.h>
#include <stdlib.h>

#include <libdeflate.h>
#include <zlib.h>

#include "codecs/png/deflate/deflate_lz.h"
#include "codecs/png/deflate/deflate_rle.h"
#include "codecs/png/deflate/deflate_tokens.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_ways.h"
#include "core/deadline.h"
#include "core/numbers.h"

enum {
    STRIP_SIZE = 1 << 17,   /* bytes of rows that are filtered and compressed together: they stay in cache */
    MATCHES_SIZE = 1 << 18, /* of those whose matches are searched: they know more rows */
    SAMPLE_SIZE = 1 << 20,  /* of rows on which the ways to filter are tried, ... */
    FIRST_ROWS = 24,        /* ... and their number at first, ... */
    SAMPLE_ROWS = 72,       /* ... and for the best two, if they are close */
    CLOSE = 16,             /* a part of the bytes */
    WORTH = 128,            /* another one */
    COST = 3,               /* cost of a byte relative to a blurred sample */
    ROWS = 3,               /* that codecs/png/png_rows.h keeps */
    CHUNK = 4, /* bytes of a chunk's buffer for one of its rows: 1.75, and it grows by doubling */
    SEATS_MEMORY = 8 << 20, /* bytes of all seats, unless one takes more */
    ZLIB_METHOD = 0x78,
    ZLIB_CHECK = 0x01, /* a stream's header: deflate, 32 KiB, fastest */
};

/* Working memory of one thread. */
struct seat {
    struct png_rows rows;
    uint8_t *lines;            /* a strip, filtered, behind the rows of the history */
    struct deflate_lz *search; /* NULL: runs are all that is searched for */
    struct buf chunk;          /* the compressed strip; unused with one seat, which writes to the output */
};

struct png_strip {
    struct buf chunk; /* waits for those before it; empty when it is not made yet, or in the output */
    size_t size;      /* size of its rows */
    uint32_t checksum;
};

struct strips {
    const struct image *image;
    int64_t deadline_ns;
    struct buf *output;
    size_t line;
    uint32_t height;  /* rows a strip, but for the last */
    uint32_t history; /* rows before it to which its matches may refer */
    const struct png_form *form;
    bool matches;
    unsigned way; /* of the filters, with matches */
    unsigned count, seats;
    struct png_strip *strip;
    struct seat *seat;
    pthread_mutex_t lock; /* of the output, the strips' chunks and: */
    unsigned joined;      /* first strips that are in the output */
};

/* Filters the rows and those before them; the same filters were chosen for those. */
static enum status write_matches(const struct strips *strips, const struct seat *seat, uint32_t y,
                                 uint32_t count, struct buf *to, struct error *err) {
    const uint32_t history = min_u32(strips->history, y);
    const size_t before = history * strips->line;
    uint8_t *lines = seat->lines + (strips->history - history) * strips->line;
    const struct deflate_lines rows = {
        .data = lines,
        .history = before,
        .size = before + count * strips->line,
        .line = strips->line,
        .pixel = seat->rows.pixel,
    };
    png_way_filter(&seat->rows, y - history, history + count, strips->way, lines);
    return deflate_lz_block(seat->search, &rows, to, err);
}

static enum status write_runs(const struct seat *seat, uint32_t y, uint32_t count, struct buf *to,
                              struct error *err) {
    enum png_filter filter = png_rows_choose(&seat->rows, y, count, seat->lines);
    png_rows_filter(&seat->rows, y, count, filter, seat->lines);
    return deflate_rle_block(seat->lines, count * seat->rows.line, to, err);
}

/* Writes a strip as a chunk; the zlib stream begins in the first one. */
static enum status write_chunk(const struct strips *strips, const struct seat *seat, unsigned index,
                               struct buf *to, struct error *err) {
    static const uint8_t start_of_stream[] = {ZLIB_METHOD, ZLIB_CHECK};
    struct png_strip *strip = &strips->strip[index];
    const uint32_t y = index * strips->height, count = min_u32(strips->image->height - y, strips->height);
    const size_t start = to->size;
    enum status status = png_open_chunk(to, png_tag("IDAT"), err);
    if (status == ST_OK && index == 0) {
        status = buf_append(to, start_of_stream, sizeof(start_of_stream), err);
    }
    if (status == ST_OK) {
        status = strips->matches ? write_matches(strips, seat, y, count, to, err)
                                 : write_runs(seat, y, count, to, err);
    }
    strip->size = count * strips->line;
    strip->checksum = libdeflate_adler32(1, seat->lines + strips->history * strips->line, strip->size);
    return status != ST_OK ? status : png_close_chunk(to, start, err);
}

/* Appends the chunk of a strip to the file, and the finished chunks behind it; one whose turn has not come is
 * kept. The caller holds the lock. */
static enum status join(struct strips *strips, unsigned part, struct bytes chunk, struct error *err) {
    if (part > strips->joined) {
        struct buf *waiting = &strips->strip[part].chunk;
        buf_init(waiting, chunk.size);
        return buf_append(waiting, chunk.data, chunk.size, err);
    }
    enum status status = buf_append(strips->output, chunk.data, chunk.size, err);
    while (++strips->joined < strips->count && strips->strip[strips->joined].chunk.size > 0) {
        struct buf *waiting = &strips->strip[strips->joined].chunk;
        status = status != ST_OK ? status : buf_append(strips->output, waiting->data, waiting->size, err);
        buf_finish(waiting);
    }
    return status;
}

static enum status run_strip(void *context, unsigned part, unsigned number, struct error *err) {
    struct strips *strips = context;
    struct seat *seat = &strips->seat[number];
    enum status status = deadline_check(strips->deadline_ns, err);
    if (status != ST_OK) {
        return status;
    }
    if (strips->seats == 1) {
        return write_chunk(strips, seat, part, strips->output, err);
    }
    seat->chunk.size = 0;
    status = write_chunk(strips, seat, part, &seat->chunk, err);
    if (status == ST_OK) {
        pthread_mutex_lock(&strips->lock);
        status = join(strips, part, buf_bytes(&seat->chunk), err);
        pthread_mutex_unlock(&strips->lock);
    }
    return status;
}

static uint32_t strip_height(size_t line, uint32_t height, bool matches) {
    const size_t most = matches ? MATCHES_SIZE : STRIP_SIZE;
    return min_u32(line < most ? (uint32_t)(most / line) : 1, height);
}

static uint32_t history_height(size_t line, bool matches) {
    return matches ? (uint32_t)(DEFLATE_DISTANCE_MAX / line) : 0;
}

static uint32_t sample_height(size_t line, uint32_t height) {
    const uint32_t most = line < SAMPLE_SIZE ? (uint32_t)(SAMPLE_SIZE / line) : 1;
    return min_u32(min_u32(most, SAMPLE_ROWS), height);
}

static size_t lines_bytes(size_t line, uint32_t strip, bool matches) {
    return (strip + history_height(line, matches)) * line + (matches ? DEFLATE_LZ_PADDING : 0);
}

static size_t seat_bytes(size_t line, uint32_t strip, bool matches) {
    return lines_bytes(line, strip, matches) + (matches ? deflate_lz_bytes() : 0) +
           (CHUNK * strip + ROWS) * line;
}

size_t png_strips_bytes(size_t row, uint32_t height, bool matches, bool helped) {
    const size_t line = row + 1, one = seat_bytes(line, strip_height(line, height, matches), matches),
                 strips = height / strip_height(line, height, matches) + 1, all = strips * one;
    const size_t most = all < SEATS_MEMORY ? all : SEATS_MEMORY, sample = sample_height(line, height) * line;
    return (helped && most > one ? most : one) + (matches ? sample + deflate_lz_most(sample) : 0);
}

static enum status end_stream(const struct strips *strips, struct error *err) {
    uint32_t checksum = 1;
    for (unsigned i = 0; i < strips->count; i++) {
        const struct png_strip *strip = &strips->strip[i];
        checksum = (uint32_t)adler32_combine(checksum, strip->checksum, (z_off_t)strip->size);
    }
    size_t start = strips->output->size;
    uint8_t tail[4];
    bytes_put_be32(tail, checksum);
    enum status status = png_open_chunk(strips->output, png_tag("IDAT"), err);
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
        status = png_rows_init(&seat->rows, strips->image, strips->form, err);
        seat->lines = malloc(lines_bytes(strips->line, strips->height, strips->matches));
        seat->search = strips->matches ? malloc(deflate_lz_bytes()) : NULL;
        buf_init(&seat->chunk, strips->output->maximum);
        if (status == ST_OK && (!seat->lines || (strips->matches && !seat->search))) {
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
        free(strips->seat[i].search);
    }
    free(strips->strip);
    free(strips->seat);
}

/* Samples of the rows, to choose the way to filter them. */
struct sample {
    const struct seat *seat;
    uint8_t *lines;
    struct buf packed;
};

/* The size of a sample of so many rows if it is filtered in that way; SIZE_MAX after a failure. */
static size_t try_way(struct sample *sample, unsigned way, uint32_t most) {
    const struct png_rows *of = &sample->seat->rows;
    const struct deflate_lines rows = {.data = sample->lines,
                                       .size = png_way_sample(of, way, most, sample->lines) * of->line,
                                       .line = of->line,
                                       .pixel = of->pixel};
    sample->packed.size = 0;
    const enum status status = deflate_lz_block(sample->seat->search, &rows, &sample->packed, NULL);
    return status == ST_OK ? sample->packed.size : SIZE_MAX;
}

/* The best of each row takes the time of five, and has to be worth it. */
static size_t price(struct sample *sample, unsigned way, uint32_t most) {
    const size_t size = try_way(sample, way, most);
    return size < SIZE_MAX && way == PNG_WAY_BEST_OF_EACH ? size + size / WORTH : size;
}

/* Tries all ways on few rows, and the best two on more if they are close; PNG_WAYS after a failure. */
static unsigned try_ways(struct sample *sample, uint32_t most) {
    size_t size[PNG_WAYS + 1] = {[PNG_WAYS] = SIZE_MAX};
    unsigned best = PNG_WAYS, second = PNG_WAYS;
    for (unsigned way = 0; way < PNG_WAYS; way++) {
        size[way] = try_way(sample, way, min_u32(most, FIRST_ROWS));
        if (size[way] < size[best]) {
            second = best;
            best = way;
        } else if (size[way] < size[second]) {
            second = way;
        }
    }
    if (most <= FIRST_ROWS || second == PNG_WAYS || size[second] - size[best] > size[best] / CLOSE) {
        return best;
    }
    return price(sample, second, most) < price(sample, best, most) ? second : best;
}

static enum status choose_way(struct strips *strips, struct error *err) {
    const uint32_t most = sample_height(strips->line, strips->image->height);
    const size_t size = most * strips->line;
    struct sample sample = {.seat = &strips->seat[0], .lines = malloc(size + DEFLATE_LZ_PADDING)};
    buf_init(&sample.packed, deflate_lz_most(size));
    strips->way = sample.lines ? try_ways(&sample, most) : PNG_WAYS;
    buf_finish(&sample.packed);
    free(sample.lines);
    return strips->way < PNG_WAYS ? ST_OK : fail(err, ST_BUSY, "out of memory to compress a PNG");
}

enum status png_strips_write(const struct image *image, const struct png_form *form, bool matches,
                             struct crew *crew, int64_t deadline_ns, struct buf *output, struct error *err) {
    struct strips strips = {
        .image = image, .deadline_ns = deadline_ns, .output = output, .form = form, .matches = matches};
    strips.line = png_form_row_bytes(form, image->width) + 1;
    strips.height = strip_height(strips.line, image->height, matches);
    strips.history = history_height(strips.line, matches);
    strips.count = (image->height + strips.height - 1) / strips.height;
    unsigned seats = crew_seats(crew, (uint64_t)strips.line * image->height * COST);
    size_t most = SEATS_MEMORY / seat_bytes(strips.line, strips.height, matches);
    strips.seats = seats < most ? seats : most > 0 ? (unsigned)most : 1;
    strips.seats = strips.seats < strips.count ? strips.seats : strips.count;
    struct crew_work work = {
        .part = run_strip, .context = &strips, .parts = strips.count, .seats = strips.seats};
    pthread_mutex_init(&strips.lock, NULL);
    enum status status = take_memory(&strips, err);
    status = status == ST_OK && matches ? choose_way(&strips, err) : status;
    status = status != ST_OK ? status : crew_run(crew, &work, err);
    status = status != ST_OK ? status : end_stream(&strips, err);
    free_memory(&strips);
    pthread_mutex_destroy(&strips.lock);
    return status;
}
