/* SPDX-License-Identifier: MIT
 * AVIF files of the tests. */
#ifndef BLURD_TESTS_AVIF_FIXTURE_H
#define BLURD_TESTS_AVIF_FIXTURE_H

#include "tests/unit/codecs/picture_fixture.h"

enum { SKIPPED = 77 };

static inline struct encode_options best(enum subsampling subsampling) {
    return (struct encode_options){.quality = 100, .subsampling = subsampling};
}

static inline uint8_t *find_box(struct buf *file, const char *name) {
    uint8_t *found = memmem(file->data, file->size, name, 4);
    return found ? found + 4 : NULL;
}

#endif
