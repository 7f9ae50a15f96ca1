/* SPDX-License-Identifier: MIT
 * The crop of an AVIF file (`clap`). Versions of libavif differ in which crops they take, so it is computed
 * here. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_CROP_H
#define BLURD_CODECS_AVIF_AVIF_CROP_H

#include <stdbool.h>

#include "codecs/avif/avif_library.h"

/* Sets *crop to the whole pixels that the crop shows of a picture; all of it without a crop. Pixels that a
 * crop cuts are not shown. ST_CORRUPT for a crop that is not inside the picture, or contains no pixel: the
 * picture must not be answered then, since what was cropped away is not for others. */
enum status avif_crop_read(const avifImage *image, avifCropRect *crop, struct error *err);

/* Whether the crop begins inside of a chroma sample of a picture of that format. */
bool avif_crop_cuts_chroma(const avifCropRect *crop, avifPixelFormat format);

/* The part of width x height that contains the crop, begins between chroma samples, and has the neighbours
 * that chroma at its edges is interpolated from. */
avifCropRect avif_crop_widened(const avifCropRect *crop, uint32_t width, uint32_t height);

#endif
