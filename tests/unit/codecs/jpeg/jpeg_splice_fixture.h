/* SPDX-License-Identifier: MIT
 * JPEGs as another encoder hands them over, and splicing into them. */
#ifndef BLURD_TESTS_JPEG_SPLICE_FIXTURE_H
#define BLURD_TESTS_JPEG_SPLICE_FIXTURE_H

#include "codecs/jpeg/jpeg_splice.h"
#include "tests/unit/codecs/picture_fixture.h"

static inline struct image_shape planar_shape(unsigned shift_x, unsigned shift_y) {
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 40, 30);
    shape.chroma_shift_x = (uint8_t)shift_x;
    shape.chroma_shift_y = (uint8_t)shift_y;
    return shape;
}

static inline struct buf encode(struct image_shape shape, const struct encode_options *options,
                                const struct metadata *metadata) {
    struct image image = fixture_painted(shape);
    struct buf file = fixture_encode(CODEC_JPEG, &image, options, metadata);
    fixture_image_free(&image);
    return file;
}

/* A JPEG as the other encoder hands it over. */
static inline struct buf bare_file(struct image_shape shape) {
    struct encode_options options = fixture_options();
    return encode(shape, &options, NULL);
}

/* Splices a copy of exactly that size, so that a sanitizer sees reads outside, and appends the scans. */
static inline enum status splice(struct bytes encoded, struct image_shape shape,
                                 const struct encode_options *options, const struct metadata *metadata,
                                 struct buf *output, struct error *err) {
    uint8_t *copy = malloc(encoded.size);
    assert_true(copy || encoded.size == 0);
    memcpy(copy, encoded.data, encoded.size);
    *err = (struct error){0};
    struct bytes scans;
    enum status status = jpeg_splice((struct bytes){copy, encoded.size}, &shape, JPEG_SPLICE_MINOR, options,
                                     metadata, output, &scans, err);
    status = status == ST_OK ? buf_append(output, scans.data, scans.size, err) : status;
    free(copy);
    return status;
}

static inline void assert_same(struct bytes a, struct bytes b) {
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

static inline size_t marker_at(struct bytes file, uint8_t marker) {
    const uint8_t pattern[2] = {0xFF, marker};
    const uint8_t *found = memmem(file.data, file.size, pattern, sizeof pattern);
    assert_non_null(found);
    return (size_t)(found - file.data);
}

static inline void cut_out(struct buf *file, size_t at, size_t size) {
    memmove(file->data + at, file->data + at + size, file->size - at - size);
    file->size -= size;
}

/* Splices without metadata and compares. */
static inline void assert_becomes(struct bytes encoded, struct image_shape shape, struct bytes wanted) {
    struct encode_options options = fixture_options();
    struct buf output;
    struct error err;
    buf_init(&output, 1 << 20);
    assert_int_equal(splice(encoded, shape, &options, NULL, &output, &err), ST_OK);
    assert_same(buf_bytes(&output), wanted);
    buf_finish(&output);
}

#endif
