/* SPDX-License-Identifier: MIT
 * A libjpeg decompressor over bytes in memory, under our limits: what decoding to pixels
 * and reading coefficients have in common. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_READER_H
#define BLURD_CODECS_JPEG_JPEG_READER_H

#include "codecs/jpeg/jpeg.h"

/* Everything that reading one picture needs; libjpeg's client_data points to it. All 0
 * when it holds nothing; jpeg_destroy_decompress(&reader.cinfo) ends it in any state. */
struct jpeg_reader {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_guard *guard;
    struct jpeg_source_mgr source;
    struct bytes rest; /* of the input, behind what the source holds */
    struct jpeg_progress_mgr progress;
    const struct codec_limits *limits;
    bool end_required;        /* data that stops before EOI is incomplete: see end_data */
    uint32_t components_seen; /* one bit for each component that had a scan */
};

/* Prepares *reader, without libjpeg yet. Guard and limits must outlive it. */
void jpeg_reader_init(struct jpeg_reader *reader, struct jpeg_guard *guard,
                      const struct codec_limits *limits);

/* Guarded. Creates the decompressor and reads up to the first scan. From here on the
 * deadline, the number of scans and libjpeg's memory are limited. */
void jpeg_reader_open(struct jpeg_reader *reader, struct bytes input);

/* Guarded, once all scans of a file that has several are read: ST_CORRUPT when a
 * component had none. */
enum status jpeg_reader_check_scans(const struct jpeg_reader *reader);

/* The blocks of all components, 64 coefficients each. */
uint64_t jpeg_reader_blocks(const struct jpeg_reader *reader);

/* ST_LIMIT when the coefficients of the whole picture need more memory than allowed. */
enum status jpeg_reader_check_memory(const struct jpeg_reader *reader);

/* Whether the stored components can be handed over as they are, and the reductions. Luma
 * must be the largest, both chroma planes alike, and the sampling factors powers of two,
 * so that an MCU row fits in the padding of the planes. A reduction by 4 in both
 * directions cannot be written again: an MCU holds 10 blocks. */
bool jpeg_planes_fit(const struct jpeg_decompress_struct *cinfo, struct image_shape *shape);

/* Whether the planes of `image`, a PIXEL_YCBCR one, are reduced as the stored components. */
bool jpeg_same_planes(const struct jpeg_decompress_struct *cinfo, const struct image *image);

/* Log2 of how much smaller the second number is; 3 when it is not 1, 2 or 4 times. */
unsigned jpeg_shift_between(int full, int part);

#endif
