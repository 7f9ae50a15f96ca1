/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_whole.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "codecs/png/png.h"
#include "codecs/png/png_chunks.h"
#include "codecs/png/png_expand.h"
#include "codecs/png/png_filter.h"
#include "core/deadline.h"
#include "core/numbers.h"

enum {
    ROWS_MAX = 128 << 20, /* bytes of rows as they are decoded: inflating them is one call that no deadline
                             ends (0.2 s) */
    ZLIB_OVERHEAD = 6,    /* header and checksum */
    WINDOW_MAX = 7,       /* maximum of the header's window field: 32 KiB */
    COLOUR_SIZE = 3,
    COLOURS_MAX = 256,
    SPARES = 3, /* two rows without filter and one of indices, where pixels are expanded */
};

struct png_plan {
    struct bytes input;
    struct png_facts facts;
    struct bytes palette;      /* PLTE; empty if none */
    struct bytes transparency; /* tRNS, if libpng applies it */
    size_t first;              /* position of the first IDAT chunk, or of chunks that are passed over */
    size_t chunks;             /* IDAT chunks in a row */
    size_t data_size;          /* bytes in them */
    size_t line;               /* bytes of a row in the file, with its filter byte */
    unsigned pixel;            /* bytes a pixel in the file, at least 1 */
    uint8_t *rows;             /* filtered, as inflated, in the image's memory; behind them */
    uint8_t *spare[SPARES];    /* is room for as many rows of the image; at first the first is zero */
    struct bytes stream;       /* the data in one piece */
    uint8_t *memory;           /* for the data if it is in pieces, beyond the spare; to be freed */
};

static bool is_usual(const struct png_facts *facts, const struct image *image) {
    const struct image_shape shape = png_facts_shape(facts), given = image_shape(image);
    return !facts->interlaced && image_same_shape(&shape, &given) && png_whole_room(&given) > 0;
}

static size_t rows_size(const struct png_plan *plan) {
    return plan->line * plan->facts.height;
}

/* A row of pixels never overlaps rows that are still to be read, nor do two that are made at once: rows of
 * the file begin two rows of the image behind its own, and that much more as theirs are shorter. */
static size_t rows_offset(const struct png_plan *plan, size_t stride) {
    const size_t shorter = stride > plan->line ? stride - plan->line : 0;
    return 2 * stride + shorter * plan->facts.height;
}

/* Finds the places of the rows; false without room. */
static bool place_rows(struct png_plan *plan, const struct image *image) {
    const struct plane *plane = &image->plane[0];
    const size_t begin = rows_offset(plan, plane->stride);
    const size_t end = bytes_align_up(begin + rows_size(plan), IMAGE_ALIGNMENT);
    plan->rows = plane->data + begin;
    for (unsigned i = 0; i < SPARES; i++) {
        plan->spare[i] = plane->data + end + i * plane->stride;
    }
    return end + SPARES * plane->stride <= plane->stride * plane->height + image->room;
}

size_t png_whole_room(const struct image_shape *shape) {
    struct image image;
    image_layout(&image, shape);
    const struct plane *plane = &image.plane[0];
    const bool few = plane_row_bytes(plane, shape->depth) < ROWS_MAX / max_u32(shape->height, 1);
    return few ? (2 + SPARES) * plane->stride + bytes_align_up(shape->height, IMAGE_ALIGNMENT) : 0;
}

/* Whether libpng would skip the chunk: letters only, not critical, of an accepted size, and not tRNS. Its
 * checksum does not matter. */
static bool is_passed_over(const struct png_chunk *chunk) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint8_t letter = (uint8_t)(chunk->tag >> shift) | 0x20;
        if (letter < 'a' || letter > 'z') {
            return false;
        }
    }
    bool critical = !(chunk->tag & 0x20000000), reserved = chunk->tag & 0x2000;
    return !critical && !reserved && chunk->tag != png_tag("tRNS") && chunk->data.size <= PNG_CHUNK_MAX;
}

/* Notes a palette or the transparency; false unless libpng takes this one, and no other. */
static bool take_colours(struct png_plan *plan, const struct png_chunk *chunk) {
    const bool palette = chunk->tag == png_tag("PLTE");
    struct bytes *to = palette ? &plan->palette : &plan->transparency;
    if (to->size > 0) {
        return false;
    }
    *to = chunk->data;
    return palette ? plan->facts.color_type == PNG_COLOR_TYPE_PALETTE && to->size > 0 &&
                         to->size % COLOUR_SIZE == 0 && to->size <= COLOUR_SIZE * COLOURS_MAX &&
                         png_chunk_is_intact(chunk)
                   : chunk->tag == png_tag("tRNS") && plan->facts.transparent;
}

static bool has_palette(const struct png_plan *plan) {
    return plan->palette.size > 0 || plan->facts.color_type != PNG_COLOR_TYPE_PALETTE;
}

/* Finds the pixel data; libpng wants its chunks without others in between. */
static bool find_data(struct png_plan *plan) {
    const size_t data_max = max_size(rows_size(plan), PNG_CHUNK_MAX);
    size_t position = PNG_SIGNATURE_SIZE;
    struct png_chunk chunk;
    if (!png_next_chunk(plan->input, &position, &chunk)) {
        return false; /* the header is already checked */
    }
    plan->first = position;
    while (png_next_chunk(plan->input, &position, &chunk)) {
        if (chunk.tag == png_tag("IDAT")) {
            if (chunk.data.size > data_max) {
                return false;
            }
            plan->chunks++;
            plan->data_size += chunk.data.size;
        } else if (plan->chunks > 0) {
            break;
        } else if (is_passed_over(&chunk) || take_colours(plan, &chunk)) {
            plan->first = position;
        } else {
            return false;
        }
    }
    return plan->chunks > 0 && has_palette(plan);
}

/* Checks the chunks and joins them. */
static bool gather(struct png_plan *plan, const struct codec_limits *limits) {
    size_t position = plan->first;
    uint8_t *to = limits->spare;
    if (plan->chunks > 1 && plan->data_size > limits->spare_size) {
        to = plan->memory = plan->data_size <= limits->max_memory ? malloc(plan->data_size) : NULL;
        if (!to) {
            return false;
        }
    }
    plan->stream = (struct bytes){to, plan->data_size};
    for (size_t i = 0; i < plan->chunks; i++) {
        struct png_chunk chunk;
        if (!png_next_chunk(plan->input, &position, &chunk) || !png_chunk_is_intact(&chunk)) {
            return false;
        }
        if (plan->chunks == 1) {
            plan->stream = chunk.data;
        } else {
            memcpy(to, chunk.data.data, chunk.data.size);
            to += chunk.data.size;
        }
    }
    return true;
}

/* zlib enforces the window size of the stream and libdeflate does not: accepts only streams where that
 * makes no difference. */
static bool window_is_enough(const struct png_plan *plan) {
    unsigned window = plan->stream.data[0] >> 4;
    return window == WINDOW_MAX || (window < WINDOW_MAX && rows_size(plan) <= (size_t)256 << window);
}

/* True when the stream ends with the data, holds exactly the rows, and its checksum is right. */
static bool inflate_rows(const struct png_plan *plan) {
    if (plan->stream.size < ZLIB_OVERHEAD || !window_is_enough(plan)) {
        return false;
    }
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) {
        return false;
    }
    size_t used = 0;
    enum libdeflate_result result = libdeflate_zlib_decompress_ex(
        decompressor, plan->stream.data, plan->stream.size, plan->rows, rows_size(plan), &used, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS && used == plan->stream.size;
}

/* Checked before rows are reported: afterwards libpng cannot start over. */
static bool filters_are_known(const struct png_plan *plan) {
    uint8_t most = 0;
    for (uint32_t y = 0; y < plan->facts.height; y++) {
        uint8_t filter = plan->rows[y * plan->line];
        most = filter > most ? filter : most;
    }
    return most < FILTER_COUNT;
}

static void to_host_order(uint8_t *row, size_t size) {
    for (size_t i = 0; i < size; i += 2) {
        uint16_t value = (uint16_t)(row[i] << 8 | row[i + 1]);
        memcpy(row + i, &value, sizeof(value));
    }
}

static struct png_row row_at(const struct png_plan *plan, const struct plane *plane, uint32_t y) {
    return (struct png_row){
        .to = plane_row(plane, y),
        .from = plan->rows + y * plan->line + 1,
        .above = y > 0 ? plane_row(plane, y - 1) : plan->spare[0],
        .size = plan->line - 1,
        .pixel = plan->pixel,
    };
}

/* Undoes the filters of one row, or of two when that is faster; returns the number of rows, 0 for an
 * unknown filter. */
static uint32_t unfilter(const struct png_plan *plan, const struct plane *plane, uint32_t y) {
    struct png_row row = row_at(plan, plane, y);
    const uint8_t filter = row.from[-1];
    if (filter == FILTER_PAETH && y + 1 < plane->height) {
        struct png_row next = row_at(plan, plane, y + 1);
        if (next.from[-1] == FILTER_PAETH) {
            png_unfilter_paeth_pair(&row, &next);
            return 2;
        }
    }
    return png_unfilter(filter, &row) ? 1 : 0;
}

/* The same of one row whose pixels are then expanded. */
static uint32_t expand(const struct png_plan *plan, const struct png_expansion *expansion,
                       const struct plane *plane, uint32_t y) {
    struct png_row row = row_at(plan, plane, y);
    row.above = plan->spare[y % 2];
    row.to = plan->spare[(y + 1) % 2];
    const bool known = png_unfilter(row.from[-1], &row);
    png_expand_row(expansion, row.to, plan->spare[2], plane_row(plane, y), plane->width);
    return known ? 1 : 0;
}

/* An engine of a GPU may map the image. It cannot do more than change pixels. */
static enum status fail_changed(struct error *err) {
    return fail(err, ST_INTERNAL, "the rows of a PNG were changed while they were decoded");
}

static enum status expand_rows(const struct png_plan *plan, const struct codec_limits *limits,
                               const struct image *image, struct error *err) {
    struct png_expansion expansion;
    png_expansion_init(&expansion, &plan->facts, plan->palette, plan->transparency);
    enum status status = ST_OK;
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        status = deadline_check(limits->deadline_ns, err);
        if (status == ST_OK && expand(plan, &expansion, &image->plane[0], y) == 0) {
            status = fail_changed(err);
        }
        if (status == ST_OK) {
            progress_tell(limits->progress, y + 1);
        }
    }
    return status;
}

static enum status unfilter_rows(const struct png_plan *plan, const struct codec_limits *limits,
                                 const struct image *image, struct error *err) {
    const struct plane *plane = &image->plane[0];
    /* The row above is needed in file order, so 16-bit rows are swapped late. */
    for (uint32_t y = 0, turned = 0, count; y < image->height; y += count) {
        enum status status = deadline_check(limits->deadline_ns, err);
        count = status == ST_OK ? unfilter(plan, plane, y) : 0;
        if (count == 0) {
            return status != ST_OK ? status : fail_changed(err);
        }
        uint32_t end = y + count < image->height ? y + count - 1 : image->height;
        for (; image->depth == 16 && turned < end; turned++) {
            to_host_order(plane_row(plane, turned), plan->line - 1);
        }
        progress_tell(limits->progress, image->depth == 16 ? turned : y + count);
    }
    return ST_OK;
}

/* Reads the header and finds all parts; false when the picture is left to libpng. */
static bool make_plan(struct png_plan *plan, const struct image *image, struct error *err) {
    static const uint8_t samples[] = {1, 0, 3, 1, 2, 0, 4};
    struct png_facts *facts = &plan->facts;
    if (png_read_facts(plan->input, facts, err) != ST_OK || !is_usual(facts, image)) {
        return false;
    }
    const size_t bits = (size_t)samples[facts->color_type] * facts->depth;
    plan->line = (facts->width * bits + 7) / 8 + 1;
    plan->pixel = bits < 8 ? 1 : (unsigned)bits / 8;
    return place_rows(plan, image) && find_data(plan);
}

enum status png_decode_whole(struct bytes input, const struct codec_limits *limits, const struct image *image,
                             bool *done, struct error *err) {
    struct png_plan plan = {.input = input};
    *done = make_plan(&plan, image, err) && gather(&plan, limits) && inflate_rows(&plan) &&
            filters_are_known(&plan);
    free(plan.memory);
    if (!*done) {
        return ST_OK;
    }
    memset(plan.spare[0], 0, plan.line - 1);
    return png_expands(&plan.facts) ? expand_rows(&plan, limits, image, err)
                                    : unfilter_rows(&plan, limits, image, err);
}
