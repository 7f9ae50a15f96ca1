/* SPDX-License-Identifier: MIT
 * The bytes of a JPEG before its scan, as libjpeg writes them: quantisers, the standard's Huffman codes,
 * markers. Thread-safe. */
#ifndef BLURD_GPU_JPEG_ENCODE_HEAD_H
#define BLURD_GPU_JPEG_ENCODE_HEAD_H

#include "core/image.h"
#include "gpu/jpeg/encode_kernels.h"

/* Fills in the quantisers of luma and chroma, row by row. `quality`: 1 to 100. */
void gpu_encode_head_quantisers(uint8_t quality,
                                uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]);

/* Fills in the zigzag index of each coefficient, row by row. */
void gpu_encode_head_zigzag(uint8_t place[KERNEL_ENCODE_COEFFICIENTS]);

/* Fills in all codes of baseline pictures. */
void gpu_encode_head_codes(struct encode_tables *tables);

/* Writes all bytes before the scan of a grey or planar YCbCr picture. Returns their number. */
uint32_t gpu_encode_head(const struct image *image,
                         const uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS],
                         uint8_t head[KERNEL_ENCODE_HEAD]);

#endif
