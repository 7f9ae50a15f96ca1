/* SPDX-License-Identifier: MIT
 * With the standard's tables a piece of 16 MCUs is transformed, its tokens are found and written while it is
 * in the first-level cache. For tables of the picture all tokens are counted first and kept, four bytes each,
 * as long as they fit in the memory that baseline_bytes promised; at the end they are written, and the rows
 * of MCUs whose tokens were not kept are transformed again. */
#include "codecs/jpeg/baseline/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/baseline/base_colours.h"
#include "codecs/jpeg/baseline/base_level.h"
#include "core/deadline.h"

enum {
    KEPT_PART = 1 << 16, /* tokens written between looks at the clock */
    PIECE_BYTES = BASE_TOKENS * 4,
};

struct base_component {
    const struct plane *plane;
    uint32_t blocks_x, blocks_y; /* in the picture */
    uint32_t h, v;               /* in an MCU */
    uint32_t first;              /* of a piece: its first block */
    int32_t last_dc, kept_dc;    /* of the last block, and of the last one whose tokens are kept */
    const struct base_steps *steps;
};

struct baseline {
    struct base_piece piece; /* first, for its alignment */
    struct base_steps steps[JPEG_STEP_TABLES];
    const struct base_level *level;
    const struct image *image;   /* the picture's planes; those of `colours`, if it has none */
    struct base_colours colours; /* no memory: the picture has planes */
    const struct encode_options *options;
    struct buf *output;
    struct base_component component[IMAGE_PLANES_MAX];
    uint32_t mcus, mcu_rows, lines; /* MCUs in a row, rows of them, rows of pixels in an MCU */
    uint32_t next_row;              /* of MCUs */
    uint32_t kept_rows;             /* rows of MCUs whose tokens are kept, from the top */
    bool keeps;                     /* more of them can be kept */
    struct buf kept;                /* their tokens */
    struct base_bits bits;
    uint64_t count[2][BASE_INDICES]; /* of tokens: with even numbers, with odd ones */
    uint32_t code[BASE_INDICES];
    uint32_t token[BASE_TOKENS];
    uint8_t bytes[BASE_WRITE_BYTES];
};

static uint32_t divide_up(uint32_t value, uint32_t by) {
    return (value + by - 1) / by;
}

static const struct base_level *best_level(void) {
    const struct base_level *levels[BASE_LEVELS_MAX + 1];
    base_levels(levels);
    return levels[0];
}

static bool has_planes(const struct image_shape *shape) {
    return shape->depth == 8 && (shape->model == PIXEL_GRAY || shape->model == PIXEL_YCBCR);
}

bool baseline_takes(const struct image_shape *shape, const struct encode_options *options) {
    const struct image_shape planes = base_colours_shape(shape, options);
    unsigned luma = 1u << (planes.chroma_shift_x + planes.chroma_shift_y);
    return !options->progressive && !options->libjpeg && best_level()->vectors &&
           shape->width <= JPEG_FILE_SIDE_MAX && shape->height <= JPEG_FILE_SIDE_MAX &&
           (planes.model == PIXEL_GRAY || luma + 2 <= JPEG_MCU_BLOCKS_MAX);
}

/* Memory for kept tokens: a byte for two samples. All tokens of most photographs fit at quality 85. It is
 * taken as it is needed, with room for a piece in front. */
static size_t kept_bytes(const struct image_shape *shape) {
    struct image image;
    return image_layout(&image, shape) / 2 + PIECE_BYTES;
}

size_t baseline_bytes(const struct image_shape *shape, const struct encode_options *options) {
    const struct image_shape planes = base_colours_shape(shape, options);
    return sizeof(struct baseline) + (has_planes(shape) ? 0 : base_colours_bytes(shape)) +
           (options->optimal ? kept_bytes(&planes) : 0);
}

/* Lays the components out over the picture and the blocks of a piece. */
static void set_components(struct baseline *baseline) {
    const struct image *image = baseline->image;
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    struct base_piece *piece = &baseline->piece;
    uint32_t first = 0;
    for (unsigned i = 0; i < image->plane_count; i++) {
        const struct plane *plane = &image->plane[i];
        struct base_component *component = &baseline->component[i];
        *component = (struct base_component){.plane = plane,
                                             .blocks_x = divide_up(plane->width, JPEG_SIDE),
                                             .blocks_y = divide_up(plane->height, JPEG_SIDE),
                                             .h = i > 0 ? 1 : 1u << reduced->shift_x,
                                             .v = i > 0 ? 1 : 1u << reduced->shift_y,
                                             .first = first,
                                             .steps = &baseline->steps[i > 0]};
        for (uint32_t block = 0; block < component->h * component->v; block++) {
            uint32_t x = block % component->h, y = block / component->h;
            piece->unit[piece->unit_count++] =
                (struct base_unit){.last_dc = &component->last_dc,
                                   .table = i > 0 ? 2 : 0,
                                   .first = first + y * component->h * BASE_MCUS + x,
                                   .step = component->h};
        }
        first += component->h * component->v * BASE_MCUS;
    }
    baseline->lines = JPEG_SIDE * baseline->component[0].v;
    baseline->mcus = divide_up(image->width, JPEG_SIDE * baseline->component[0].h);
    baseline->mcu_rows = divide_up(image->height, baseline->lines);
}

static void use_codes(struct baseline *baseline, unsigned table, const struct jpeg_codes *codes) {
    uint32_t code[JPEG_SYMBOLS];
    jpeg_codes_number(codes, code, JPEG_SYMBOLS);
    for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
        uint32_t size = symbol & 15, length = (code[symbol] >> JPEG_CODE_LENGTHS) + size;
        uint32_t bits = code[symbol] & ((1u << JPEG_CODE_LENGTHS) - 1);
        baseline->code[table * JPEG_SYMBOLS + symbol] = code[symbol] ? length << BASE_CODE | bits << size : 0;
    }
}

/* Chooses the Huffman tables, and writes them and the header of the scan. */
static enum status begin_scan(struct baseline *baseline, struct error *err) {
    uint8_t head[JPEG_CODE_TABLES * JPEG_HEAD_CODES + JPEG_HEAD_SCAN], *to = head;
    unsigned tables = baseline->image->plane_count > 1 ? JPEG_CODE_TABLES : JPEG_CODE_TABLES / 2;
    for (unsigned table = 0; table < tables; table++) {
        struct jpeg_codes made;
        const struct jpeg_codes *codes = jpeg_codes_standard(table);
        if (baseline->options->optimal) {
            uint64_t *count = baseline->count[0] + table * JPEG_SYMBOLS;
            for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
                count[symbol] += baseline->count[1][table * JPEG_SYMBOLS + symbol];
            }
            jpeg_codes_optimal(table, count, &made);
            codes = &made;
        }
        use_codes(baseline, table, codes);
        to = jpeg_head_put_codes(to, codes);
    }
    to = jpeg_head_put_scan(to, baseline->image);
    return buf_append(baseline->output, head, (size_t)(to - head), err);
}

static enum status put_head(struct baseline *baseline, const struct jpeg_segments *segments,
                            struct error *err) {
    uint16_t steps[JPEG_STEP_TABLES][JPEG_COEFFICIENTS];
    uint8_t head[JPEG_HEAD_FRAME];
    const struct jfif *jfif = &segments->jfif;
    for (unsigned table = 0; table < JPEG_STEP_TABLES; table++) {
        jpeg_head_steps(baseline->options->quality, table, steps[table]);
        base_steps_set(&baseline->steps[table], steps[table]);
    }
    uint8_t *end = jpeg_head_put_file(head, jfif->unit, jfif->x, jfif->y);
    enum status status = buf_append(baseline->output, head, (size_t)(end - head), err);
    if (status == ST_OK) {
        status = buf_append(baseline->output, segments->bytes.data, segments->bytes.size, err);
    }
    end = jpeg_head_put_frame(head, baseline->image, (const uint16_t(*)[JPEG_COEFFICIENTS])steps);
    return status == ST_OK ? buf_append(baseline->output, head, (size_t)(end - head), err) : status;
}

enum status baseline_begin(const struct base_level *level, const struct image *image,
                           const struct encode_options *options, const struct jpeg_segments *segments,
                           struct buf *output, struct baseline **made, struct error *err) {
    struct baseline *baseline = aligned_alloc(64, bytes_align_up(sizeof *baseline, 64));
    *made = baseline;
    if (!baseline) {
        return fail(err, ST_BUSY, "no memory to encode a JPEG");
    }
    const struct image_shape shape = image_shape(image), planes = base_colours_shape(&shape, options);
    baseline->level = level ? level : best_level();
    baseline->image = image;
    baseline->colours = (struct base_colours){0};
    baseline->options = options;
    baseline->output = output;
    baseline->piece.unit_count = 0;
    baseline->next_row = baseline->kept_rows = 0;
    baseline->keeps = options->optimal;
    baseline->bits = (struct base_bits){0};
    memset(baseline->count, 0, sizeof baseline->count);
    buf_init(&baseline->kept, kept_bytes(&planes));
    enum status status = ST_OK;
    if (!has_planes(&shape)) {
        status = base_colours_init(&baseline->colours, image, options, err);
        baseline->image = &baseline->colours.planes;
    }
    if (status == ST_OK) {
        base_order_set(&baseline->piece.order);
        set_components(baseline);
        status = put_head(baseline, segments, err);
    }
    if (status == ST_OK && !options->optimal) {
        status = begin_scan(baseline, err);
    }
    if (status != ST_OK) {
        baseline_finish(baseline);
        *made = NULL;
    }
    return status;
}

void baseline_finish(struct baseline *baseline) {
    if (baseline) {
        buf_finish(&baseline->kept);
        base_colours_finish(&baseline->colours);
        free(baseline);
    }
}

/* Extends the last column, and below the picture the last row, to whole blocks in a row of blocks, so that
 * old contents of the padding neither cost bits nor ring into the picture. */
static void fill_padding(const struct plane *plane, uint32_t first) {
    size_t width = bytes_align_up(plane->width, JPEG_SIDE);
    for (uint32_t y = first; y < first + JPEG_SIDE; y++) {
        uint8_t *row = plane_row(plane, y);
        if (y < plane->height) {
            memset(row + plane->width, row[plane->width - 1], width - plane->width);
        } else {
            memcpy(row, plane_row(plane, plane->height - 1), width);
        }
    }
}

static void fill_row(struct baseline *baseline, uint32_t mcu_row) {
    if (baseline->colours.memory) {
        base_colours_fill(&baseline->colours, baseline->level, mcu_row);
        return;
    }
    for (unsigned i = 0; i < baseline->image->plane_count; i++) {
        const struct base_component *component = &baseline->component[i];
        for (uint32_t y = mcu_row * component->v; y < (mcu_row + 1) * component->v; y++) {
            if (y < component->blocks_y) {
                fill_padding(component->plane, y * JPEG_SIDE);
            }
        }
    }
}

/* Transforms the blocks of a component, and sets which of them are real. */
static void transform_component(struct baseline *baseline, const struct base_component *component,
                                struct base_unit *unit, uint32_t mcu_row, uint32_t mcu) {
    uint32_t x = mcu * component->h, most = BASE_MCUS * component->h;
    uint32_t left = x < component->blocks_x ? component->blocks_x - x : 0, count = left < most ? left : most;
    for (uint32_t i = 0; i < component->v; i++) {
        uint32_t y = mcu_row * component->v + i;
        bool inside = y < component->blocks_y;
        if (inside && count > 0) {
            uint32_t row = baseline->colours.memory ? i : y;
            const uint8_t *from = plane_row(component->plane, row * JPEG_SIDE) + (size_t)x * JPEG_SIDE;
            baseline->level->transform(from, component->plane->stride, component->steps, count,
                                       &baseline->piece, component->first + i * most);
        }
        for (uint32_t k = 0; k < component->h; k++, unit++) {
            unit->real = inside && count > k ? (count - k - 1) / component->h + 1 : 0;
        }
    }
}

/* Finds the tokens of up to BASE_MCUS MCUs. */
static uint32_t *find_piece(struct baseline *baseline, uint32_t mcu_row, uint32_t mcu, uint32_t *to) {
    struct base_unit *unit = baseline->piece.unit;
    uint32_t left = baseline->mcus - mcu;
    for (unsigned i = 0; i < baseline->image->plane_count; i++) {
        const struct base_component *component = &baseline->component[i];
        transform_component(baseline, component, unit, mcu_row, mcu);
        unit += component->h * component->v;
    }
    return baseline->level->find(&baseline->piece, left < BASE_MCUS ? left : BASE_MCUS, to);
}

static enum status write_tokens(struct baseline *baseline, const uint32_t *token, size_t count,
                                struct error *err) {
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i += BASE_WRITE_TOKENS) {
        size_t part = count - i < BASE_WRITE_TOKENS ? count - i : BASE_WRITE_TOKENS;
        const uint8_t *end =
            baseline->level->write(token + i, part, baseline->code, &baseline->bits, baseline->bytes);
        status = buf_append(baseline->output, baseline->bytes, (size_t)(end - baseline->bytes), err);
    }
    return status;
}

static enum status write_row(struct baseline *baseline, uint32_t mcu_row, struct error *err) {
    enum status status = ST_OK;
    fill_row(baseline, mcu_row);
    for (uint32_t mcu = 0; mcu < baseline->mcus && status == ST_OK; mcu += BASE_MCUS) {
        const uint32_t *end = find_piece(baseline, mcu_row, mcu, baseline->token);
        status = write_tokens(baseline, baseline->token, (size_t)(end - baseline->token), err);
    }
    return status;
}

static void count_tokens(struct baseline *baseline, const uint32_t *token, size_t count) {
    for (size_t i = 0; i + 1 < count; i += 2) {
        baseline->count[0][token[i] % BASE_INDICES]++;
        baseline->count[1][token[i + 1] % BASE_INDICES]++;
    }
    if (count % 2) {
        baseline->count[0][token[count - 1] % BASE_INDICES]++;
    }
}

/* Counts the tokens of a row of MCUs, and keeps them if there is memory. */
static void count_row(struct baseline *baseline, uint32_t mcu_row) {
    struct buf *kept = &baseline->kept;
    size_t before = kept->size;
    fill_row(baseline, mcu_row);
    for (uint32_t mcu = 0; mcu < baseline->mcus; mcu += BASE_MCUS) {
        baseline->keeps = baseline->keeps && buf_reserve(kept, PIECE_BYTES, NULL) == ST_OK;
        uint32_t *to = baseline->keeps ? (uint32_t *)(void *)(kept->data + kept->size) : baseline->token;
        size_t count = (size_t)(find_piece(baseline, mcu_row, mcu, to) - to);
        count_tokens(baseline, to, count);
        kept->size += baseline->keeps ? count * sizeof *to : 0;
    }
    if (!baseline->keeps) {
        kept->size = baseline->kept_rows == mcu_row ? before : kept->size;
        return;
    }
    baseline->kept_rows++;
    for (unsigned i = 0; i < baseline->image->plane_count; i++) {
        baseline->component[i].kept_dc = baseline->component[i].last_dc;
    }
}

enum status baseline_rows(struct baseline *baseline, uint32_t rows, struct error *err) {
    enum status status = ST_OK;
    bool all = rows >= baseline->image->height;
    while (status == ST_OK && baseline->next_row < baseline->mcu_rows &&
           (all || (baseline->next_row + 1) * baseline->lines <= rows)) {
        status = deadline_check(baseline->options->deadline_ns, err);
        if (status == ST_OK && baseline->options->optimal) {
            count_row(baseline, baseline->next_row);
        } else if (status == ST_OK) {
            status = write_row(baseline, baseline->next_row, err);
        }
        baseline->next_row++;
    }
    return status;
}

/* Writes all rows of MCUs with the tables that suit them. */
static enum status write_counted(struct baseline *baseline, struct error *err) {
    const uint32_t *token = (const uint32_t *)(const void *)baseline->kept.data;
    size_t count = baseline->kept.size / sizeof *token;
    enum status status = begin_scan(baseline, err);
    for (size_t i = 0; i < count && status == ST_OK; i += KEPT_PART) {
        status = deadline_check(baseline->options->deadline_ns, err);
        if (status == ST_OK) {
            status = write_tokens(baseline, token + i, count - i < KEPT_PART ? count - i : KEPT_PART, err);
        }
    }
    for (unsigned i = 0; i < baseline->image->plane_count; i++) {
        baseline->component[i].last_dc = baseline->component[i].kept_dc;
    }
    for (uint32_t row = baseline->kept_rows; row < baseline->mcu_rows && status == ST_OK; row++) {
        status = deadline_check(baseline->options->deadline_ns, err);
        status = status == ST_OK ? write_row(baseline, row, err) : status;
    }
    return status;
}

enum status baseline_end(struct baseline *baseline, struct error *err) {
    enum status status = baseline_rows(baseline, baseline->image->height, err);
    if (status == ST_OK && baseline->options->optimal) {
        status = write_counted(baseline, err);
    }
    if (status != ST_OK) {
        return status;
    }
    struct base_bits *bits = &baseline->bits;
    uint8_t end[4] = {0}, *to = end;
    if (bits->count > 0) { /* ones fill up the last byte */
        *to = (uint8_t)(bits->word << (8 - bits->count) | 0xffu >> bits->count);
        to += *to == 0xff ? 2 : 1;
    }
    *to++ = 0xff;
    *to++ = 0xd9;
    return buf_append(baseline->output, end, (size_t)(to - end), err);
}
