/* SPDX-License-Identifier: MIT
 * Pictures and files for the codec tests, made in memory. Includes cmocka, and
 * before it our headers: cmocka has a macro named fail. */
#ifndef BLURD_TESTS_PICTURE_FIXTURE_H
#define BLURD_TESTS_PICTURE_FIXTURE_H

#include "codecs/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline struct codec_limits fixture_limits(void) {
    return (struct codec_limits){
        .max_pixels = 64000000, .max_side = 32768, .max_scans = 100, .max_memory = 512u << 20};
}

static inline struct encode_options fixture_options(void) {
    return (struct encode_options){.quality = 90, .effort = 1};
}

static inline struct image_shape fixture_shape(enum pixel_model model, unsigned depth, uint32_t width,
                                               uint32_t height) {
    return (struct image_shape){.model = model, .depth = (uint8_t)depth, .width = width, .height = height};
}

/* Lends an image its memory, filled with a pattern that must not show. Free with
 * fixture_image_free. */
static inline struct image fixture_image(struct image_shape shape) {
    struct image image;
    size_t size = image_layout(&image, &shape), room = codec_decode_room(CODEC_PNG, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size + room);
    assert_non_null(memory);
    memset(memory, 0xA5, size + room);
    image_place(&image, memory);
    image.room = room;
    return image;
}

static inline void fixture_image_free(struct image *image) {
    free(image->plane[0].data);
}

/* Paints soft slopes, different in each channel, that survive JPEG well. 16-bit samples
 * get a low byte of their own. */
static inline void fixture_paint(struct image *image) {
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
                uint32_t x = i / plane->channels, c = i % plane->channels + p;
                uint32_t v = 40 + (x * (2 + c) / 2 + y * (3 - c % 3)) % 160;
                if (image->depth == 16) {
                    uint16_t deep = (uint16_t)(v * 257 + (x + c) % 200);
                    memcpy(plane_row(plane, y) + 2 * (size_t)i, &deep, 2);
                } else {
                    plane_row(plane, y)[i] = (uint8_t)v;
                }
            }
        }
    }
}

static inline struct image fixture_painted(struct image_shape shape) {
    struct image image = fixture_image(shape);
    fixture_paint(&image);
    return image;
}

static inline struct buf fixture_encode(enum codec_id id, const struct image *image,
                                        const struct encode_options *options,
                                        const struct metadata *metadata) {
    struct buf output;
    struct error err = {0};
    buf_init(&output, 64 << 20);
    if (codec_encode(id, image, options, metadata, &output, &err) != ST_OK) {
        fail_msg("encode: %s", err.text);
    }
    return output;
}

static inline struct picture fixture_probe(struct bytes input) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    if (codec_probe(input, &limits, &picture, &err) != ST_OK) {
        fail_msg("probe: %s", err.text);
    }
    return picture;
}

static inline struct image fixture_decode(struct bytes input, bool native) {
    struct codec_limits limits = fixture_limits();
    struct picture picture = fixture_probe(input);
    struct image image = fixture_image(native ? picture.native : picture.pixels);
    struct error err = {0};
    if (codec_decode(input, &picture, &limits, &image, &err) != ST_OK) {
        fail_msg("decode: %s", err.text);
    }
    codec_picture_finish(&picture);
    return image;
}

/* Probes and decodes, and returns the status; the sentence is in *err. */
static inline enum status fixture_try(struct bytes input, const struct codec_limits *limits,
                                      struct error *err) {
    struct picture picture;
    *err = (struct error){0};
    enum status status = codec_probe(input, limits, &picture, err);
    if (status == ST_OK) {
        struct image image = fixture_image(picture.native);
        status = codec_decode(input, &picture, limits, &image, err);
        fixture_image_free(&image);
        codec_picture_finish(&picture);
    }
    return status;
}

/* Largest difference of two images of the same shape, in units of the sample. */
static inline unsigned fixture_difference(const struct image *a, const struct image *b) {
    unsigned worst = 0;
    assert_int_equal(a->model, b->model);
    assert_int_equal(a->depth, b->depth);
    for (unsigned p = 0; p < a->plane_count; p++) {
        assert_int_equal(a->plane[p].width, b->plane[p].width);
        assert_int_equal(a->plane[p].height, b->plane[p].height);
        for (uint32_t y = 0; y < a->plane[p].height; y++) {
            const uint8_t *l = plane_row(&a->plane[p], y), *r = plane_row(&b->plane[p], y);
            for (size_t i = 0; i < (size_t)a->plane[p].width * a->plane[p].channels; i++) {
                uint16_t u = l[i], v = r[i];
                if (a->depth == 16) {
                    memcpy(&u, l + 2 * i, 2);
                    memcpy(&v, r + 2 * i, 2);
                }
                unsigned difference = u > v ? (unsigned)(u - v) : (unsigned)(v - u);
                worst = difference > worst ? difference : worst;
            }
        }
    }
    return worst;
}

static inline void fixture_insert(struct buf *file, size_t at, const void *data, size_t size) {
    assert_int_equal(buf_reserve(file, size, NULL), ST_OK);
    memmove(file->data + at + size, file->data + at, file->size - at);
    memcpy(file->data + at, data, size);
    file->size += size;
}

/* Puts a segment right behind a JPEG's SOI marker. */
static inline void fixture_segment(struct buf *file, uint8_t marker, const void *data, size_t size) {
    uint8_t head[4] = {0xFF, marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    fixture_insert(file, 2, data, size);
    fixture_insert(file, 2, head, sizeof(head));
}

static inline bool fixture_contains(struct bytes file, const char *text) {
    return file.size > 0 && memmem(file.data, file.size, text, strlen(text)) != NULL;
}

/* Each beginning of the file from `least` bytes on is refused as damaged, from memory of its size. */
static inline void fixture_try_cut(struct bytes file, size_t least) {
    struct codec_limits limits = fixture_limits();
    for (size_t size = least; size < file.size; size++) {
        struct error err;
        uint8_t *cut = malloc(size);
        memcpy(cut, file.data, size);
        assert_int_equal(fixture_try((struct bytes){cut, size}, &limits, &err), ST_CORRUPT);
        assert_true(err.text[0]);
        free(cut);
    }
}

/* With a wrong bit in each byte from `first` on, the file is decoded or refused for what is in it. */
static inline void fixture_try_damaged(struct buf *file, size_t first) {
    struct codec_limits limits = fixture_limits();
    limits.max_pixels = 1 << 20;
    for (size_t at = first; at < file->size; at++) {
        uint8_t old = file->data[at];
        struct error err;
        file->data[at] ^= (uint8_t)(1 << at % 8);
        enum status status = fixture_try(buf_bytes(file), &limits, &err);
        assert_true(status == ST_OK || status == ST_CORRUPT || status == ST_UNSUPPORTED ||
                    status == ST_LIMIT);
        assert_true(status == ST_OK || err.text[0]);
        file->data[at] = old;
    }
}

#endif
