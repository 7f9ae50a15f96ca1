/* SPDX-License-Identifier: MIT
 * JPEG to planes and back, by libjpeg. Touches the samples of the picture and nothing beside them, so that
 * what reads or writes the padding shows. */
#ifndef BLURD_TESTS_FAKE_NVJPEG_PLANES_H
#define BLURD_TESTS_FAKE_NVJPEG_PLANES_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/nvjpeg.h"
#include "tests/fake_nvjpeg/walk.h"

struct planes_shape {
    int chroma; /* enum nvjpeg_subsampling */
    int width, height;
};

struct planes_coding {
    int quality; /* 1 to 100 */
    bool optimised;
};

/* The stored components, as they are. Samples may differ from those of blurd's own decoder by one, as the
 * hardware's do. False for a file that libjpeg refuses, warns of, or reads another shape from. Thread-safe.
 */
bool planes_decode(const unsigned char *data, size_t size, const struct walk *walk,
                   const struct nvjpeg_image *to);

/* *data is to be freed; NULL after a failure. Thread-safe. */
bool planes_encode(const struct nvjpeg_image *from, const struct planes_shape *shape,
                   const struct planes_coding *coding, unsigned char **data, unsigned long *size);

/* Whether it is one of those that planes_encode can do. */
bool planes_know(int chroma);

#endif
