/* SPDX-License-Identifier: MIT
 * With the standard's tables a piece of 16 MCUs is transformed, its tokens are found and written while it is
 * in the first-level cache. For tables of the picture all tokens are counted first and kept, four bytes each,
 * as long as they fit in the memory that baseline_bytes promised; at the end they are written, and the rows
 * of MCUs whose tokens were not kept are transformed again. If the picture is complete before the encoder
 * begins, idle threads help with that. */
#include "codecs/jpeg/baseline/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/baseline/jpeg_enc_parts.h"
#include "core/deadline.h"

struct baseline {
    struct jpeg_enc_scan scan; /* first, for its alignment */
    struct jpeg_enc_coder coder;
    struct jpeg_enc_part part;       /* all rows; unused if several threads encode */
    struct jpeg_enc_colours colours; /* no memory: the picture has planes */
    struct buf *output;
    size_t kept; /* bytes for tokens, at most */
};

static const struct jpeg_enc_level *best_level(void) {
    const struct jpeg_enc_level *levels[JPEG_ENC_LEVELS_MAX + 1];
    jpeg_enc_levels(levels);
    return levels[0];
}

static bool has_planes(const struct image_shape *shape) {
    return shape->depth == 8 && (shape->model == PIXEL_GRAY || shape->model == PIXEL_YCBCR);
}

bool baseline_takes(const struct image_shape *shape, const struct encode_options *options) {
    const struct image_shape planes = jpeg_enc_colours_shape(shape, options);
    unsigned luma = 1u << (planes.chroma_shift_x + planes.chroma_shift_y);
    return !options->progressive && !options->libjpeg && best_level()->vectors &&
           shape->width <= JPEG_FILE_SIDE_MAX && shape->height <= JPEG_FILE_SIDE_MAX &&
           (planes.model == PIXEL_GRAY || luma + 2 <= JPEG_MCU_BLOCKS_MAX);
}

/* Memory for kept tokens: a byte for two samples. All tokens of most photographs fit at quality 85. It is
 * taken as it is needed, with room for a piece in front. */
static size_t kept_bytes(const struct image_shape *shape) {
    struct image image;
    return image_layout(&image, shape) / 2 + JPEG_ENC_PIECE_BYTES;
}

size_t baseline_bytes(const struct image_shape *shape, const struct encode_options *options) {
    const struct image_shape planes = jpeg_enc_colours_shape(shape, options);
    size_t kept = options->optimal ? kept_bytes(&planes) : 0, parts = 0;
    if (options->optimal && options->crew && has_planes(shape)) {
        parts = jpeg_enc_parts_bytes(shape->height / JPEG_SIDE + 1, kept);
    }
    return sizeof(struct baseline) + (has_planes(shape) ? 0 : jpeg_enc_colours_bytes(shape)) + kept + parts;
}

static void use_codes(struct jpeg_enc_scan *scan, unsigned table, const struct jpeg_huffman *codes) {
    uint32_t code[JPEG_SYMBOLS];
    jpeg_huffman_number(codes, code, JPEG_SYMBOLS);
    for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
        uint32_t size = symbol & 15, length = (code[symbol] >> JPEG_CODE_LENGTHS) + size;
        uint64_t bits = code[symbol] & ((1u << JPEG_CODE_LENGTHS) - 1);
        scan->code[table * JPEG_SYMBOLS + symbol] = code[symbol] ? bits << size << JPEG_ENC_CODE | length : 0;
    }
}

/* Coefficients of a file may have more bits than those of 8-bit samples. */
static bool has_unusual(const uint64_t count[JPEG_ENC_INDICES]) {
    enum { DC_BITS_MAX = 11, AC_BITS_MAX = 10 };
    for (unsigned index = 0; index < JPEG_ENC_INDICES; index++) {
        bool ac = index / JPEG_SYMBOLS % 2;
        unsigned symbol = index % JPEG_SYMBOLS;
        if (count[index] && (ac ? symbol % 16 > AC_BITS_MAX : symbol > DC_BITS_MAX)) {
            return true;
        }
    }
    return false;
}

/* Writes the Huffman tables and the header of the scan. `count` has the number of each token; NULL: the
 * tables are the standard's. */
static enum status begin_scan(struct baseline *baseline, const uint64_t count[JPEG_ENC_INDICES],
                              struct error *err) {
    uint8_t head[JPEG_CODE_TABLES * JPEG_WRITE_CODES + JPEG_WRITE_SCAN], *to = head;
    const struct image *image = baseline->scan.image;
    unsigned tables = image->plane_count > 1 ? JPEG_CODE_TABLES : JPEG_CODE_TABLES / 2;
    if (count && has_unusual(count)) {
        return fail(err, ST_UNSUPPORTED, "coefficients of more than 8-bit samples");
    }
    for (unsigned table = 0; table < tables; table++) {
        struct jpeg_huffman made;
        const struct jpeg_huffman *codes = jpeg_huffman_standard(table);
        if (count) {
            jpeg_huffman_optimal(table, count + table * JPEG_SYMBOLS, &made);
            codes = &made;
        }
        use_codes(&baseline->scan, table, codes);
        to = jpeg_write_codes(to, codes);
    }
    to = jpeg_write_scan(to, image);
    return buf_append(baseline->output, head, (size_t)(to - head), err);
}

static enum status put_head(struct baseline *baseline, const struct jpeg_segments *segments,
                            struct error *err) {
    uint16_t quantiser[JPEG_QUANTISERS][JPEG_COEFFICIENTS];
    uint8_t head[JPEG_WRITE_FRAME];
    const struct jfif *jfif = &segments->jfif;
    const struct baseline_blocks *blocks = baseline->scan.blocks;
    for (unsigned table = 0; table < JPEG_QUANTISERS; table++) {
        if (blocks) {
            memcpy(quantiser[table], blocks->quantiser[table], sizeof quantiser[table]);
        } else {
            jpeg_quantiser_make(baseline->scan.options->quality, table, quantiser[table]);
            jpeg_enc_quantiser_set(&baseline->scan.quantiser[table], quantiser[table]);
        }
    }
    uint8_t *end = jpeg_write_file(head, jfif->unit, jfif->x, jfif->y);
    enum status status = buf_append(baseline->output, head, (size_t)(end - head), err);
    if (status == ST_OK) {
        status = buf_append(baseline->output, segments->bytes.data, segments->bytes.size, err);
    }
    end = jpeg_write_frame(head, baseline->scan.image, (const uint16_t(*)[JPEG_COEFFICIENTS])quantiser);
    return status == ST_OK ? buf_append(baseline->output, head, (size_t)(end - head), err) : status;
}

enum status baseline_begin_blocks(const struct jpeg_enc_level *level, const struct image *image,
                                  const struct baseline_blocks *blocks, const struct encode_options *options,
                                  const struct jpeg_segments *segments, struct buf *output,
                                  struct baseline **made, struct error *err) {
    struct baseline *baseline = aligned_alloc(64, bytes_align_up(sizeof *baseline, 64));
    *made = baseline;
    if (!baseline) {
        return fail(err, ST_BUSY, "no memory to encode a JPEG");
    }
    const struct image_shape shape = image_shape(image), planes = jpeg_enc_colours_shape(&shape, options);
    struct jpeg_enc_scan *scan = &baseline->scan;
    scan->level = level ? level : best_level();
    scan->image = image;
    scan->colours = NULL;
    scan->blocks = blocks;
    scan->options = options;
    scan->padded = false;
    baseline->colours = (struct jpeg_enc_colours){0};
    baseline->output = output;
    baseline->kept = options->optimal ? kept_bytes(&planes) : 0;
    baseline->part = (struct jpeg_enc_part){0};
    enum status status = ST_OK;
    if (!has_planes(&shape)) {
        status = jpeg_enc_colours_init(&baseline->colours, image, options, err);
        scan->image = &baseline->colours.planes;
        scan->colours = &baseline->colours;
    }
    if (status == ST_OK) {
        jpeg_enc_scan_set(scan);
        jpeg_enc_coder_set(&baseline->coder, scan);
        jpeg_enc_part_init(&baseline->part, 0, scan->mcu_rows, baseline->kept, &baseline->coder);
        status = put_head(baseline, segments, err);
    }
    if (status == ST_OK && !options->optimal) {
        status = begin_scan(baseline, NULL, err);
    }
    if (status != ST_OK) {
        baseline_finish(baseline);
        *made = NULL;
    }
    return status;
}

enum status baseline_begin(const struct jpeg_enc_level *level, const struct image *image,
                           const struct encode_options *options, const struct jpeg_segments *segments,
                           struct buf *output, struct baseline **made, struct error *err) {
    return baseline_begin_blocks(level, image, NULL, options, segments, output, made, err);
}

void baseline_finish(struct baseline *baseline) {
    if (baseline) {
        jpeg_enc_part_finish(&baseline->part);
        jpeg_enc_colours_finish(&baseline->colours);
        free(baseline);
    }
}

enum status baseline_rows(struct baseline *baseline, uint32_t rows, struct error *err) {
    const struct jpeg_enc_scan *scan = &baseline->scan;
    struct jpeg_enc_part *part = &baseline->part;
    enum status status = ST_OK;
    bool all = rows >= scan->image->height;
    while (status == ST_OK && part->next < scan->mcu_rows &&
           (all || (part->next + 1) * scan->lines <= rows)) {
        if (scan->options->optimal) {
            status = deadline_check(scan->options->deadline_ns, err);
            jpeg_enc_part_count(part, scan, &baseline->coder);
        } else {
            status =
                jpeg_enc_part_write_row(part, scan, &baseline->coder, part->next++, baseline->output, err);
        }
    }
    return status;
}

/* Writes the rows that were counted, with the tables that suit them. */
static enum status write_counted(struct baseline *baseline, struct error *err) {
    struct jpeg_enc_part *part = &baseline->part;
    for (unsigned index = 0; index < JPEG_ENC_INDICES; index++) {
        part->count[0][index] += part->count[1][index];
    }
    enum status status = begin_scan(baseline, part->count[0], err);
    return status == ST_OK
               ? jpeg_enc_part_write(part, &baseline->scan, &baseline->coder, baseline->output, err)
               : status;
}

/* All rows, by several threads. */
static enum status write_parts(struct baseline *baseline, unsigned seats, struct error *err) {
    struct jpeg_enc_parts parts;
    uint64_t count[JPEG_ENC_INDICES] = {0};
    enum status status = jpeg_enc_parts_init(&parts, &baseline->scan, seats, baseline->kept, err);
    status = status == ST_OK ? jpeg_enc_parts_count(&parts, count, err) : status;
    status = status == ST_OK ? begin_scan(baseline, count, err) : status;
    status =
        status == ST_OK ? jpeg_enc_parts_write(&parts, baseline->output, &baseline->part.bits, err) : status;
    jpeg_enc_parts_finish(&parts);
    return status;
}

/* The threads that encode, 1 once the encoder has followed the picture. */
static unsigned seats_now(const struct baseline *baseline) {
    return baseline->scan.options->optimal && baseline->part.next == 0 ? jpeg_enc_parts_seats(&baseline->scan)
                                                                       : 1;
}

static enum status end_file(struct baseline *baseline, struct error *err) {
    struct jpeg_enc_bits *bits = &baseline->part.bits;
    uint8_t end[4] = {0}, *to = end;
    if (bits->count > 0) { /* ones fill up the last byte */
        *to = (uint8_t)(bits->word << (8 - bits->count) | 0xffu >> bits->count);
        to += *to == 0xff ? 2 : 1;
    }
    *to++ = 0xff;
    *to++ = 0xd9;
    return buf_append(baseline->output, end, (size_t)(to - end), err);
}

enum status baseline_end(struct baseline *baseline, struct error *err) {
    unsigned seats = seats_now(baseline);
    enum status status;
    if (seats > 1) {
        status = write_parts(baseline, seats, err);
    } else {
        status = baseline_rows(baseline, baseline->scan.image->height, err);
        if (status == ST_OK && baseline->scan.options->optimal) {
            status = write_counted(baseline, err);
        }
    }
    return status == ST_OK ? end_file(baseline, err) : status;
}
