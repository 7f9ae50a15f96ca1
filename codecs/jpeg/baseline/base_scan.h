/* SPDX-License-Identifier: MIT
 * Rows of MCUs to tokens, and tokens to bytes. Internal to codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASE_SCAN_H
#define BLURD_CODECS_JPEG_BASELINE_BASE_SCAN_H

#include "codecs/definition.h"
#include "codecs/jpeg/baseline/base_blocks.h"
#include "codecs/jpeg/baseline/base_colours.h"
#include "codecs/jpeg/baseline/base_level.h"

enum { BASE_PIECE_BYTES = BASE_TOKENS * 4 };

struct base_component {
    const struct plane *plane;
    uint32_t blocks_x, blocks_y; /* in the picture */
    uint32_t h, v;               /* in an MCU */
    uint32_t first;              /* of a piece: its first block */
    const struct base_steps *steps;
};

/* A scan: its picture and its tables. While several threads encode parts of it, they only read it. */
struct base_scan {
    struct base_steps steps[JPEG_STEP_TABLES]; /* first, for its alignment */
    const struct base_level *level;
    const struct image *image;            /* the picture's planes; those of `colours`, if it has none */
    struct base_colours *colours;         /* NULL: the picture has planes */
    const struct baseline_blocks *blocks; /* NULL: they are made of the picture's samples */
    const struct encode_options *options;
    struct base_component component[IMAGE_PLANES_MAX];
    uint32_t mcus, mcu_rows, lines; /* MCUs in a row, rows of them, rows of pixels in an MCU */
    bool padded;                    /* the padding of all rows is filled */
    uint64_t code[BASE_INDICES];
};

/* What one thread needs to encode. Aligned to 64 bytes. */
struct base_coder {
    struct base_piece piece;
    int32_t last_dc[IMAGE_PLANES_MAX]; /* of each component's last block */
    uint32_t token[BASE_TOKENS];
    uint8_t bytes[BASE_WRITE_BYTES];
};

/* Rows of MCUs whose tokens are counted, and kept as long as there is memory. */
struct base_part {
    uint32_t from, to;                 /* rows of MCUs */
    uint32_t next;                     /* the row that is counted next */
    uint32_t kept_to;                  /* the tokens of the rows before it are kept */
    bool keeps;                        /* more of them can be kept */
    struct buf kept;                   /* four bytes for each token */
    int32_t kept_dc[IMAGE_PLANES_MAX]; /* of the last blocks whose tokens are kept */
    struct base_bits bits;
    uint64_t count[2][BASE_INDICES]; /* of tokens: with even numbers, with odd ones */
};

/* Lays the components out over scan->image and the blocks of a piece. */
void base_scan_set(struct base_scan *scan);

/* Prepares a thread's memory for this scan. */
void base_coder_set(struct base_coder *coder, const struct base_scan *scan);

/* Sets last_dc to that of the last blocks of a row of MCUs whose padding is filled. */
void base_coder_pass(struct base_coder *coder, const struct base_scan *scan, uint32_t mcu_row);

/* Fills the padding of the planes in a row of MCUs, or makes the planes. */
void base_scan_fill(const struct base_scan *scan, uint32_t mcu_row);

/* Keeps at most `most` bytes of tokens. The coder is at the first row of the part. */
void base_part_init(struct base_part *part, uint32_t from, uint32_t to, size_t most,
                    const struct base_coder *coder);
void base_part_finish(struct base_part *part);

/* Counts the tokens of the next row of the part. */
void base_part_count(struct base_part *part, const struct base_scan *scan, struct base_coder *coder);

/* Writes the bytes of the part, whose rows are all counted, by the scan's codes. Rows whose tokens were not
 * kept are transformed again. ST_LIMIT: over the deadline or the maximum of the output; ST_BUSY: no memory.
 */
enum status base_part_write(struct base_part *part, const struct base_scan *scan, struct base_coder *coder,
                            struct buf *output, struct error *err);

/* Writes the bytes of a row that is not counted. Fails as base_part_write. */
enum status base_part_write_row(struct base_part *part, const struct base_scan *scan,
                                struct base_coder *coder, uint32_t mcu_row, struct buf *output,
                                struct error *err);

#endif
