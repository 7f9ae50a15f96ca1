/* SPDX-License-Identifier: MIT
 * Pictures for the checks from JPEG to JPEG. Failures end the program. */
#ifndef BLURD_TESTS_GPU_JPEG_PICTURES_H
#define BLURD_TESTS_GPU_JPEG_PICTURES_H

#include "core/bytes.h"
#include "core/image.h"
#include "tests/gpu/check.h"

enum { JPEG_PICTURES_ROOM = 16 << 20, JPEG_PICTURES_SHAPES = 6 };

/* Each model and each reduction of the chroma that the device encodes, without a size. */
extern const struct image_shape jpeg_pictures_shape[JPEG_PICTURES_SHAPES];

/* The caller frees `memory`. */
struct jpeg_picture {
    struct image image;
    uint8_t *memory;
};

/* A black picture. */
struct jpeg_picture jpeg_pictures_own(const struct image_shape *shape);

/* Waves of several lengths, edges and a little noise: typical input of the codecs. */
void jpeg_pictures_paint(struct check *check, const struct image *image);

/* By the CPU's codecs. The file must have planes of the shape. */
struct buf jpeg_pictures_encode(const struct image *image, unsigned quality, bool optimal);

/* The same as a progressive file, and the coefficients that a worker reads from one:
 * core/jpeg/coefficients.h. The caller frees these. */
struct buf jpeg_pictures_progressive(const struct image *image, unsigned quality);
struct bytes jpeg_pictures_hand_over(struct bytes file, const struct image_shape *shape);

/* The same picture with a restart marker after so many MCUs, by libjpeg. */
struct buf jpeg_pictures_restart(struct bytes file, unsigned interval);

/* The coefficients of a file by libjpeg: 64 of each block, column by column, blocks in the order of the scan.
 * The caller frees them. */
int16_t *jpeg_pictures_coefficients(struct bytes file, uint32_t *count);

/* By the CPU: the answer that keeps the blocks of the file that the mask does not touch. */
struct buf jpeg_pictures_patch(struct bytes file, const struct image *result, const struct image *mask);
struct jpeg_picture jpeg_pictures_decode(struct bytes bytes, const struct image_shape *shape);

#endif
