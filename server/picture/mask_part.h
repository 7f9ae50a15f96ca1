/* SPDX-License-Identifier: MIT
 * The mask of a form: a grey PNG of 8 bits that weighs the filter for each pixel of the upright picture. */
#ifndef BLURD_SERVER_PICTURE_MASK_PART_H
#define BLURD_SERVER_PICTURE_MASK_PART_H

#include "codecs/codec.h"

/* Zero-initialise. */
struct mask_part {
    struct bytes input; /* no data: the form has none */
    struct picture picture;
};

/* Reads the header of `input` (no data: does nothing). ST_ARGUMENT: it is no grey PNG of 8 bits and of this
 * size; ST_LIMIT like codec_probe. Errors begin with the part's name. */
enum status mask_part_open(struct mask_part *part, struct bytes input, uint32_t width, uint32_t height,
                           const struct codec_limits *limits, struct error *err);

/* Memory that mask_part_read takes of its own. */
size_t mask_part_bytes(const struct mask_part *part);

/* Decodes it and turns it as the stored picture lies, which has this EXIF orientation. `mask` has the shape
 * of the stored picture; `spare` is memory for the upright one. Fails like mask_part_open and codec_decode.
 */
enum status mask_part_read(const struct mask_part *part, uint8_t orientation,
                           const struct codec_limits *limits, const struct image *mask, uint8_t *spare,
                           struct error *err);

void mask_part_finish(struct mask_part *part);

#endif
