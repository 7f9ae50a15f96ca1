/* SPDX-License-Identifier: MIT
 * Template: what the lanes without permutations of whole blocks share. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_ORDER_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_ORDER_H

#include "codecs/jpeg/baseline/jpeg_enc_level.h"

/* The order of the scan, for the set of coefficients `some` of rows `row` and `row + 1`. */
static inline uint64_t jpeg_enc_order_of(const struct jpeg_enc_order *order, unsigned row, unsigned some) {
    return order->row[row][some & 255] | order->row[row + 1][some >> 8];
}

#endif
