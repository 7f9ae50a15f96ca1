/* SPDX-License-Identifier: MIT
 * A libjpeg decompressor over bytes in memory, with limits, for pixels or coefficients. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_READER_H
#define BLURD_CODECS_JPEG_JPEG_READER_H

#include "codecs/jpeg/jpeg.h"

/* State of reading one picture; libjpeg's client_data points to it. All 0 when it holds nothing.
 * jpeg_destroy_decompress(&reader.cinfo) ends it in any state. */
struct jpeg_reader {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_guard *guard;
    struct jpeg_source_mgr source;
    struct bytes rest; /* input behind the source's buffer */
    struct jpeg_progress_mgr progress;
    const struct codec_limits *limits;
    bool end_required;        /* input that ends before EOI is incomplete: see end_data */
    uint32_t components_seen; /* one bit for each component that had a scan */
};

/* Does not call libjpeg yet. Guard and limits must outlive *reader. */
void jpeg_reader_init(struct jpeg_reader *reader, struct jpeg_guard *guard,
                      const struct codec_limits *limits);

/* Guarded. Creates the decompressor and reads up to the first scan. The deadline, the number of scans and
 * libjpeg's memory are limited afterwards. */
void jpeg_reader_open(struct jpeg_reader *reader, struct bytes input);

/* Guarded, after all scans of a file with several: ST_CORRUPT when a component had none, or none of DC. */
enum status jpeg_reader_check_scans(const struct jpeg_reader *reader);

/* Number of blocks of all components; a block has 64 coefficients. */
uint64_t jpeg_reader_blocks(const struct jpeg_reader *reader);

/* ST_LIMIT when the coefficients need more memory than allowed. */
enum status jpeg_reader_check_memory(const struct jpeg_reader *reader);

/* Whether the stored components can be used as planes; fills in the reductions. Luma must be the largest,
 * both chroma planes alike, and the sampling factors powers of two, so that an MCU row fits in the padding
 * of the planes. A reduction by 4 in both directions cannot be encoded again: an MCU holds 10 blocks. */
bool jpeg_planes_fit(const struct jpeg_decompress_struct *cinfo, struct image_shape *shape);

/* Whether the planes of a PIXEL_YCBCR image are reduced like the stored components. */
bool jpeg_same_planes(const struct jpeg_decompress_struct *cinfo, const struct image *image);

/* log2(full / part); 3 unless the ratio is 1, 2 or 4. */
unsigned jpeg_shift_between(int full, int part);

#endif
