/* SPDX-License-Identifier: MIT
 * Turns and crops a JPEG without a new encoding: its blocks of quantised coefficients get other places. A
 * mirrored block has other signs, a turned one has rows for columns, and so has its quantisation table.
 *
 * Blocks begin at the top left corner of a picture and may be cut by the right and bottom border only. So the
 * edges that become the left and the top one must lie on the grid of the blocks of all components.
 *
 * Thread-safe; keeps no state between calls. */
#ifndef BLURD_CODECS_JPEG_JPEG_TURN_H
#define BLURD_CODECS_JPEG_JPEG_TURN_H

#include "codecs/definition.h"

/* A part of the picture as stored, and the EXIF orientation that is undone behind it. */
struct jpeg_turn {
    uint32_t x, y, width, height;
    uint8_t orientation;
};

/* Crops what the turn shows so far. The rectangle lies in it. */
void jpeg_turn_crop(struct jpeg_turn *turn, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* ST_UNSUPPORTED: blocks of a JPEG whose probe found this native shape cannot be placed so. */
enum status jpeg_turn_check(const struct image_shape *native, const struct jpeg_turn *turn,
                            struct error *err);

/* The most bytes that jpeg_turn takes besides the output, and a bound for the bytes of the output. */
size_t jpeg_turn_bytes(const struct picture *picture);
size_t jpeg_turn_room(const struct picture *picture, size_t input);

/* Appends the turned JPEG to *output, for a turn that jpeg_turn_check allows. `shape` is that of the result,
 * the options are progressive, keep_metadata, upright and deadline_ns. Fails like jpeg_patch, with
 * ST_UNSUPPORTED also for an arithmetic-coded file. On failure *output may hold a part. */
enum status jpeg_turn(struct bytes input, const struct codec_limits *limits, const struct jpeg_turn *turn,
                      const struct image_shape *shape, const struct encode_options *options,
                      const struct metadata *metadata, struct buf *output, struct error *err);

#endif
