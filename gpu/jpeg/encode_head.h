/* SPDX-License-Identifier: MIT
 * What a JPEG has before its scan, to the byte as libjpeg writes it: the quantisers of a quality, the
 * standard's Huffman codes, the markers. Thread-safe. */
#ifndef BLURD_GPU_JPEG_ENCODE_HEAD_H
#define BLURD_GPU_JPEG_ENCODE_HEAD_H

#include <stddef.h>

#include "core/image.h"
#include "gpu/jpeg/encode_kernels.h"

/* Of luma and chroma, row by row. `quality`: 1 to 100. */
void gpu_encode_head_quantisers(uint8_t quality,
                                uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]);

/* Where in zigzag order each of the coefficients row by row comes. */
void gpu_encode_head_zigzag(uint8_t place[KERNEL_ENCODE_COEFFICIENTS]);

/* All codes that a baseline picture needs. */
void gpu_encode_head_codes(struct encode_tables *tables);

/* All bytes before the scan, for grey or YCbCr in planes; returns how many. */
uint32_t gpu_encode_head(const struct image *image,
                         const uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS],
                         uint8_t head[KERNEL_ENCODE_HEAD]);

#endif
