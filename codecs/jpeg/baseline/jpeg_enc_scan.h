/* SPDX-License-Identifier: MIT
 * Rows of MCUs to tokens, and tokens to bytes. Internal to codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_SCAN_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_SCAN_H

#include "codecs/definition.h"
#include "codecs/jpeg/baseline/jpeg_enc_blocks.h"
#include "codecs/jpeg/baseline/jpeg_enc_colours.h"
#include "codecs/jpeg/baseline/jpeg_enc_level.h"

enum { JPEG_ENC_PIECE_BYTES = JPEG_ENC_TOKENS * 4 };

struct jpeg_enc_component {
    const struct plane *plane;
    uint32_t blocks_x, blocks_y; /* in the picture */
    uint32_t h, v;               /* in an MCU */
    uint32_t first;              /* of a piece: its first block */
    const struct jpeg_enc_quantiser *quantiser;
};

/* A scan: its picture and its tables. While several threads encode parts of it, they only read it. */
struct jpeg_enc_scan {
    struct jpeg_enc_quantiser quantiser[JPEG_QUANTISERS]; /* first, for its alignment */
    const struct jpeg_enc_level *level;
    const struct image *image;            /* the picture's planes; those of `colours`, if it has none */
    struct jpeg_enc_colours *colours;     /* NULL: the picture has planes */
    const struct baseline_blocks *blocks; /* NULL: they are made of the picture's samples */
    const struct encode_options *options;
    struct jpeg_enc_component component[IMAGE_PLANES_MAX];
    uint32_t mcus, mcu_rows, lines; /* MCUs in a row, rows of them, rows of pixels in an MCU */
    bool padded;                    /* the padding of all rows is filled */
    uint64_t code[JPEG_ENC_INDICES];
};

/* What one thread needs to encode. Aligned to 64 bytes. */
struct jpeg_enc_coder {
    struct jpeg_enc_piece piece;
    int32_t last_dc[IMAGE_PLANES_MAX]; /* of each component's last block */
    uint32_t token[JPEG_ENC_TOKENS];
    uint8_t bytes[JPEG_ENC_WRITE_BYTES];
};

/* Rows of MCUs whose tokens are counted, and kept as long as there is memory. */
struct jpeg_enc_part {
    uint32_t from, to;                 /* rows of MCUs */
    uint32_t next;                     /* the row that is counted next */
    uint32_t kept_to;                  /* the tokens of the rows before it are kept */
    bool keeps;                        /* more of them can be kept */
    struct buf kept;                   /* four bytes for each token */
    int32_t kept_dc[IMAGE_PLANES_MAX]; /* of the last blocks whose tokens are kept */
    struct jpeg_enc_bits bits;
    uint64_t count[2][JPEG_ENC_INDICES]; /* of tokens: with even numbers, with odd ones */
};

/* Lays the components out over scan->image and the blocks of a piece. */
void jpeg_enc_scan_set(struct jpeg_enc_scan *scan);

/* Prepares a thread's memory for this scan. */
void jpeg_enc_coder_set(struct jpeg_enc_coder *coder, const struct jpeg_enc_scan *scan);

/* Sets last_dc to that of the last blocks of a row of MCUs whose padding is filled. */
void jpeg_enc_coder_pass(struct jpeg_enc_coder *coder, const struct jpeg_enc_scan *scan, uint32_t mcu_row);

/* Fills the padding of the planes in a row of MCUs, or makes the planes. */
void jpeg_enc_scan_fill(const struct jpeg_enc_scan *scan, uint32_t mcu_row);

/* Keeps at most `most` bytes of tokens. The coder is at the first row of the part. */
void jpeg_enc_part_init(struct jpeg_enc_part *part, uint32_t from, uint32_t to, size_t most,
                        const struct jpeg_enc_coder *coder);
void jpeg_enc_part_finish(struct jpeg_enc_part *part);

/* Counts the tokens of the next row of the part. */
void jpeg_enc_part_count(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                         struct jpeg_enc_coder *coder);

/* Writes the bytes of the part, whose rows are all counted, by the scan's codes. Rows whose tokens were not
 * kept are transformed again. ST_LIMIT: over the deadline or the maximum of the output; ST_BUSY: no memory.
 */
enum status jpeg_enc_part_write(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                                struct jpeg_enc_coder *coder, struct buf *output, struct error *err);

/* Writes the bytes of a row that is not counted. Fails as jpeg_enc_part_write. */
enum status jpeg_enc_part_write_row(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                                    struct jpeg_enc_coder *coder, uint32_t mcu_row, struct buf *output,
                                    struct error *err);

#endif
