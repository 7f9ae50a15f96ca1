/* SPDX-License-Identifier: MIT
 * JPEG XL files of the tests. */
#ifndef BLURD_TESTS_JXL_FIXTURE_H
#define BLURD_TESTS_JXL_FIXTURE_H

#include "tests/unit/codecs/picture_fixture.h"

enum { SKIPPED = 77 };

static inline struct buf jxl_painted(enum pixel_model model, unsigned depth,
                                     const struct encode_options *options, const struct metadata *metadata) {
    struct image image = fixture_painted(fixture_shape(model, depth, 40, 24));
    struct buf file = fixture_encode(CODEC_JXL, &image, options, metadata);
    fixture_image_free(&image);
    return file;
}

#endif
