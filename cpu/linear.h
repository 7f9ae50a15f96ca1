/* SPDX-License-Identifier: MIT
 * Pictures in linear light: between samples on the sRGB curve (IEC 61966-2-1) and 16-bit samples that are
 * proportional to light, by tables that are made at the first call. Colour c of n bits and linear L of 16:
 *
 *     L = round(65535 decode(c / (2^n - 1)))        decode(v) = v / 12.92 for v <= 0.04045,
 *     c = round((2^n - 1) encode(L / 65535))                    else ((v + 0.055) / 1.055)^2.4
 *     alpha has no curve: 8 bits a <-> 257 a, back to the nearest; 16 bits stay
 *
 * with encode the inverse of decode (12.92 L up to 0.0031308). There and back, 8 bits are exact. 16 bits are
 * not, as linear steps are coarser near black: 6 of 65535 at most; mask_restore (cpu/mask/mask.h) brings back
 * what no filter was to touch. The crew (NULL: none) helps; ST_LIMIT at the deadline (core/deadline.h).
 * Thread-safe. */
#ifndef BLURD_CPU_LINEAR_H
#define BLURD_CPU_LINEAR_H

#include "core/crew.h"
#include "core/image.h"

/* Converts `source` (interleaved: grey or RGB with or without alpha; 8 or 16 bits) into `target`, the same
 * shape with 16 bits. The images do not overlap. */
enum status linear_from(struct crew *crew, int64_t deadline_ns, const struct image *source,
                        const struct image *target, struct error *err);

/* The way back: `source` is linear, `target` of 8 or 16 bits. The images do not overlap. */
enum status linear_to(struct crew *crew, int64_t deadline_ns, const struct image *source,
                      const struct image *target, struct error *err);

#endif
