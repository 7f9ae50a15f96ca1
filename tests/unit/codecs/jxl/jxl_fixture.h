/* SPDX-License-Identifier: MIT
 * JPEG XL files of the tests. */
#ifndef BLURD_TESTS_JXL_FIXTURE_H
#define BLURD_TESTS_JXL_FIXTURE_H

#include <fcntl.h>
#include <unistd.h>

#include "core/sanitizers.h"
#include "tests/unit/codecs/picture_fixture.h"

enum { SKIPPED = 77 };

static int jxl_spoken = -1;

/* Setup and teardown of tests in which libjxl says much about each damaged file. cmocka tells a failure
 * behind the teardown. */
static inline int jxl_hush(void **state) {
    (void)state;
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    jxl_spoken = SANITIZED ? -1 : dup(STDERR_FILENO);
    if (jxl_spoken >= 0) {
        dup2(nothing, STDERR_FILENO);
    }
    return close(nothing);
}

static inline int jxl_speak(void **state) {
    (void)state;
    if (jxl_spoken >= 0) {
        dup2(jxl_spoken, STDERR_FILENO);
        close(jxl_spoken);
        jxl_spoken = -1;
    }
    return 0;
}

static inline struct buf jxl_painted(enum pixel_model model, unsigned depth,
                                     const struct encode_options *options, const struct metadata *metadata) {
    struct image image = fixture_painted(fixture_shape(model, depth, 40, 24));
    struct buf file = fixture_encode(CODEC_JXL, &image, options, metadata);
    fixture_image_free(&image);
    return file;
}

#endif
