/* SPDX-License-Identifier: MIT
 * The numbers of a JPEG that the encoder's kernels read, and the bytes before its scan. Thread-safe. */
#ifndef BLURD_GPU_JPEG_ENCODE_HEAD_H
#define BLURD_GPU_JPEG_ENCODE_HEAD_H

#include "core/image.h"
#include "core/jpeg_codes.h"
#include "core/status.h"
#include "gpu/jpeg/encode_kernels.h"

/* The standard's codes, JPEG_CODE_TABLES of them. */
void gpu_encode_head_standard(struct jpeg_codes *codes);

/* The codes that suit the counts of a picture; one of a single plane has the first two tables. ST_DEVICE for
 * counts that no picture has. */
enum status gpu_encode_head_optimal(const struct encode_counts *counts, unsigned planes,
                                    struct jpeg_codes *codes, struct error *err);

/* Fills in the codes of these tables. */
void gpu_encode_head_codes(const struct jpeg_codes *codes, unsigned planes, struct encode_tables *tables);

/* Fills in the order of the coefficients, and with these codes and the pass's quantisers all bytes before the
 * scan, for a grey or planar YCbCr picture. */
void gpu_encode_head(const struct image *image, const struct jpeg_codes *codes, struct encode_pass *pass);

#endif
