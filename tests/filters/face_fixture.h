/* SPDX-License-Identifier: MIT
 * A model of the face detector with random weights, for tests: no file is needed, and all its layers have
 * outputs from 0 to 255. */
#ifndef BLURD_TESTS_FILTERS_FACE_FIXTURE_H
#define BLURD_TESTS_FILTERS_FACE_FIXTURE_H

#include "core/bytes.h"
#include "detect/model.h"

struct face_fixture {
    uint8_t *file; /* face_weights_size() bytes, aligned */
    struct face_weights weights;
};

void face_fixture_make(struct face_fixture *fixture);
void face_fixture_free(struct face_fixture *fixture);

/* Where the arrays of a layer begin in the file, in the file's order. */
enum face_array { FACE_ARRAY_WEIGHTS, FACE_ARRAY_SCALES, FACE_ARRAY_BIASES, FACE_ARRAY_PAIR };
size_t face_fixture_offset(int layer, enum face_array array);

/* Writes the checksum anew after a change. */
void face_fixture_seal(uint8_t *file);

/* Random pixels, the same every time. */
void face_fixture_paint(uint8_t *rgb, size_t size);

#endif
