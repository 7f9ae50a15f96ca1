/* SPDX-License-Identifier: MIT
 * The numbers of a JPEG that the encoder's kernels read, and the bytes before its scan. Thread-safe. */
#ifndef BLURD_GPU_JPEG_ENCODE_HEAD_H
#define BLURD_GPU_JPEG_ENCODE_HEAD_H

#include "core/image.h"
#include "core/jpeg/huffman.h"
#include "gpu/jpeg/encode_kernels.h"

/* Fills in the standard's tables, of luma and chroma. */
void gpu_encode_head_standard(struct encode_tables *tables);

/* Fills in the order of the coefficients, and with the pass's quantisers all bytes before the scan but those
 * of the Huffman tables, for a grey or planar YCbCr picture. */
void gpu_encode_head(const struct image *image, struct encode_pass *pass);

#endif
