/* SPDX-License-Identifier: MIT
 * Apple's gain maps of iPhones before iOS 18, which have no numbers but a headroom. Source of all formulas:
 * "Applying Apple HDR effect to your photos", Apple's documentation for developers. Thread-safe.
 *
 * With H the headroom, SDR the linear base, and l the light that Rec. 709 codes as a sample s of the map,
 *
 *     HDR = SDR * (1 + (H - 1) * l)
 *
 * As numbers of ISO 21496-1 this is a gain of 0 to log2(H) stops without offsets, of samples that say
 * log2(1 + (H - 1) * l) / log2(H). */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_APPLE_H
#define BLURD_CODECS_GAINMAP_GAINMAP_APPLE_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

enum { GAINMAP_LEVELS = 256 };

/* The headroom in stops, of the tags 33 and 48 of the maker note in a base's EXIF (without "Exif\0\0"), where
 * both are ratios. With a = tag 33 and b = tag 48 it is
 *
 *     a < 1     b <= 0.01: 1.8 - 20 b     else 1.601 - 0.101 b
 *     a >= 1    b <= 0.01: 3 - 70 b       else 2.303 - 0.303 b
 *
 * and 0 at least. False without such tags. */
bool gainmap_apple_stops(struct bytes exif, double *stops);

/* The numbers for that headroom. False where gainmap_numbers_fit refuses them: it is 0. */
bool gainmap_apple_numbers(double stops, struct gainmap_numbers *numbers);

/* The numbers for the headroom that the map says, or else (0) the base's EXIF. False without a headroom. */
bool gainmap_apple_read(double stops, struct bytes exif, struct gainmap_numbers *numbers);

/* Fills in what each sample of 8 bits becomes with these numbers. It is off by half a step at most. */
void gainmap_apple_levels(const struct gainmap_numbers *numbers, uint8_t level[static GAINMAP_LEVELS]);

#endif
