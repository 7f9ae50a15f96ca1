/* SPDX-License-Identifier: MIT
 * The two ways to decode a PNG, compared: the fast one and libpng's. */
#ifndef BLURD_TESTS_PNG_WAYS_FIXTURE_H
#define BLURD_TESTS_PNG_WAYS_FIXTURE_H

#include "codecs/png/png.h"
#include "codecs/png/png_whole.h"
#include "tests/unit/codecs/png/png_fixture.h"

static uint32_t random_state = 1;

static inline uint8_t random_byte(void) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint8_t)(random_state >> 24);
}

/* The status and the pixels that a decoder gives for a file. */
struct outcome {
    enum status status;
    struct image image;
};

enum way { STREAM, WHOLE, BOTH };

static inline struct outcome decode_by(enum way way, struct bytes file, bool *done) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    struct outcome outcome = {.status = codec_probe(file, &limits, &picture, &err)};
    if (outcome.status != ST_OK) {
        return outcome;
    }
    outcome.image = fixture_image(picture.pixels);
    bool settled = true;
    if (way == STREAM) {
        outcome.status = png_decode_stream(file, &limits, &outcome.image, &err);
    } else if (way == WHOLE) {
        outcome.status = png_decode_whole(file, &limits, &outcome.image, &settled, &err);
    } else {
        outcome.status = png_decode(file, NULL, &limits, &outcome.image, &err);
    }
    if (done) {
        *done = settled;
    }
    return outcome;
}

/* Decodes as the daemon does and with libpng alone; both must agree. */
static inline enum status check_agreement(struct bytes file) {
    struct outcome ours = decode_by(BOTH, file, NULL), theirs = decode_by(STREAM, file, NULL);
    assert_int_equal(ours.status, theirs.status);
    if (ours.status == ST_OK) {
        assert_int_equal(fixture_difference(&ours.image, &theirs.image), 0);
    }
    fixture_image_free(&ours.image);
    fixture_image_free(&theirs.image);
    return ours.status;
}

static inline bool is_decoded_whole(struct bytes file) {
    bool done = false;
    struct outcome outcome = decode_by(WHOLE, file, &done);
    fixture_image_free(&outcome.image);
    return done && outcome.status == ST_OK;
}

#endif
