/* SPDX-License-Identifier: MIT
 * Sanitized copies of EXIF structures. */
#ifndef BLURD_TESTS_SANITIZE_FIXTURE_H
#define BLURD_TESTS_SANITIZE_FIXTURE_H

#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

static unsigned losses; /* of the latest copy */

static inline struct buf sanitized(struct bytes tiff, bool upright) {
    struct buf output;
    struct exif_facts facts = {.upright = upright, .width = 1234, .height = 567};
    losses = 0;
    buf_init(&output, EXIF_SIZE_MAX);
    assert_int_equal(exif_sanitize(tiff, &facts, &output, &losses, NULL), ST_OK);
    return output;
}

#endif
