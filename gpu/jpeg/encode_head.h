/* SPDX-License-Identifier: MIT
 * The numbers of a JPEG that the encoder's kernels read, and the bytes before its scan. Thread-safe. */
#ifndef BLURD_GPU_JPEG_ENCODE_HEAD_H
#define BLURD_GPU_JPEG_ENCODE_HEAD_H

#include "core/image.h"
#include "gpu/jpeg/encode_kernels.h"

/* Fills in the standard's codes. */
void gpu_encode_head_codes(struct encode_tables *tables);

/* Fills in the quantisers and the order of the coefficients, and with the standard's codes all bytes before
 * the scan, for a grey or planar YCbCr picture. `quality`: 1 to 100. */
void gpu_encode_head(const struct image *image, uint8_t quality, struct encode_pass *pass);

#endif
