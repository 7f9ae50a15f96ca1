/* SPDX-License-Identifier: MIT
 * A model of a detector with random weights, for tests: no file is needed, and all its layers have outputs
 * from 0 to 255. */
#ifndef BLURD_TESTS_FILTERS_NETWORK_FIXTURE_H
#define BLURD_TESTS_FILTERS_NETWORK_FIXTURE_H

#include "core/bytes.h"
#include "detect/faces/faces.h"

struct network_fixture {
    const struct detector *detector;
    size_t size;   /* of the file */
    uint8_t *file; /* aligned */
    struct model_weights weights;
};

void network_fixture_make(struct network_fixture *fixture, const struct detector *detector);
void network_fixture_free(struct network_fixture *fixture);

/* Where an array of a layer begins in the file. */
size_t network_fixture_offset(const struct network_fixture *fixture, int layer, enum model_array array);

/* Writes the checksum anew after a change. */
void network_fixture_seal(const struct network_fixture *fixture);

/* Random pixels, the same every time. */
void network_fixture_paint(uint8_t *rgb, size_t size);

#endif
