/* SPDX-License-Identifier: MIT */
#include "tests/gpu/jpeg_pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"

static const struct codec_limits limits = {
    .max_pixels = 1 << 28, .max_side = 1 << 15, .max_scans = 100, .max_memory = 1 << 30};

struct jpeg_picture jpeg_pictures_own(const struct image_shape *shape) {
    struct jpeg_picture owned;
    size_t size = image_layout(&owned.image, shape);
    owned.memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!owned.memory) {
        fprintf(stderr, "check_gpu: no memory\n");
        exit(2);
    }
    memset(owned.memory, 0, size);
    image_place(&owned.image, owned.memory);
    return owned;
}

void jpeg_pictures_paint(struct check *check, const struct image *image) {
    double phase = check_below(check, 100);
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            uint8_t *row = plane_row(plane, y);
            for (uint32_t x = 0; x < plane->width; x++) {
                double value = 128 + 50 * sin(x / 37.0 + phase + p) + 40 * cos(y / 23.0 + x / 91.0);
                value += (x / 64 + y / 48) % 3 == 0 ? 25 : -10;
                row[x] = (uint8_t)(fmin(fmax(value, 0), 250) + check_below(check, 4));
            }
        }
    }
}

struct buf jpeg_pictures_encode(const struct image *image, unsigned quality, bool optimal) {
    const struct encode_options options = {.quality = (uint8_t)quality, .optimal = optimal};
    struct error err = {0};
    struct buf output;
    buf_init(&output, JPEG_PICTURES_ROOM);
    must(codec_encode(CODEC_JPEG, image, &options, NULL, &output, &err), &err);
    return output;
}

struct jpeg_picture jpeg_pictures_decode(struct bytes bytes, const struct image_shape *shape) {
    struct error err = {0};
    struct picture picture;
    must(codec_probe(bytes, &limits, &picture, &err), &err);
    if (memcmp(&picture.native, shape, sizeof *shape) != 0) {
        fprintf(stderr, "check_gpu: the JPEG is of another shape\n");
        exit(2);
    }
    struct jpeg_picture owned = jpeg_pictures_own(shape);
    must(codec_decode(bytes, &picture, &limits, &owned.image, &err), &err);
    return owned;
}
