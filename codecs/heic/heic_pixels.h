/* SPDX-License-Identifier: MIT
 * Copies libheif's planes into an image. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_PIXELS_H
#define BLURD_CODECS_HEIC_HEIC_PIXELS_H

#include "codecs/heic/heic_library.h"
#include "core/image.h"

/* Interleaves the planes R, G, B (R alone when the image is grey), or the colours of Y, Cb and Cr by
 * heic_colours.h, and, if the image has alpha, A. Samples are scaled to the image's depth, and premultiplied
 * colours divided by alpha. ST_CORRUPT when a plane is missing or has another size, ST_UNSUPPORTED when luma
 * and chroma differ in bits. Thread-safe. */
enum status heic_pixels_copy(const struct heic_library *heif, const struct heif_image *planes,
                             bool premultiplied, const struct image *image, struct error *err);

#endif
