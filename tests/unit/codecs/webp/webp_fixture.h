/* SPDX-License-Identifier: MIT
 * WebP files put together chunk by chunk, right or wrong, around pictures that the codec encoded. */
#ifndef BLURD_TESTS_WEBP_FIXTURE_H
#define BLURD_TESTS_WEBP_FIXTURE_H

#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

static inline void webp_number(uint8_t *at, uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static inline void webp_chunk(struct buf *file, const char *name, const void *data, size_t size) {
    uint8_t length[4];
    webp_number(length, (uint32_t)size, 4);
    assert_int_equal(buf_append(file, name, 4, NULL), ST_OK);
    assert_int_equal(buf_append(file, length, 4, NULL), ST_OK);
    assert_int_equal(buf_append(file, data, size, NULL), ST_OK);
    assert_int_equal(buf_append(file, "", size & 1, NULL), ST_OK);
}

/* States the length of the file in its header. */
static inline void webp_finish(struct buf *file) {
    webp_number(file->data + 4, (uint32_t)file->size - 8, 4);
}

static inline struct buf webp_start(void) {
    struct buf file;
    buf_init(&file, 64 << 20);
    assert_int_equal(buf_append(&file, "RIFF\0\0\0\0WEBP", 12, NULL), ST_OK);
    return file;
}

enum { WEBP_SIDE = 24, WEBP_PROFILE = 400 };
enum { ANIMATION = 2, XMP = 4, EXIF = 8, ALPHA = 16, ICC = 32 };

static inline void webp_extended(struct buf *file, unsigned flags, uint32_t width, uint32_t height) {
    uint8_t header[10] = {(uint8_t)flags};
    webp_number(header + 4, width - 1, 3);
    webp_number(header + 7, height - 1, 3);
    webp_chunk(file, "VP8X", header, sizeof header);
}

/* A plain file of the codec. */
static inline struct buf webp_picture(struct image_shape shape, bool lossless) {
    struct encode_options options = {.quality = 80, .effort = 1, .lossless = lossless};
    struct image image = fixture_painted(shape);
    struct buf file = fixture_encode(CODEC_WEBP, &image, &options, NULL);
    fixture_image_free(&image);
    return file;
}

/* Appends the chunks of the picture of such a file. */
static inline void webp_picture_chunks(struct buf *file, const struct buf *picture) {
    size_t skip = memcmp(picture->data + 12, "VP8X", 4) == 0 ? 30 : 12;
    assert_int_equal(buf_append(file, picture->data + skip, picture->size - skip, NULL), ST_OK);
}

/* Appends a frame of an animation. */
static inline void webp_frame(struct buf *file, const struct buf *picture, uint32_t left, uint32_t top,
                              uint32_t width, uint32_t height) {
    struct buf frame;
    uint8_t header[16] = {0};
    webp_number(header, left / 2, 3);
    webp_number(header + 3, top / 2, 3);
    webp_number(header + 6, width - 1, 3);
    webp_number(header + 9, height - 1, 3);
    buf_init(&frame, 64 << 20);
    assert_int_equal(buf_append(&frame, header, sizeof header, NULL), ST_OK);
    webp_picture_chunks(&frame, picture);
    webp_chunk(file, "ANMF", frame.data, frame.size);
    buf_finish(&frame);
}

static const char webp_packet[] =
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    "<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' "
    "dc:source='XMPTEXT'/></rdf:RDF></x:xmpmeta>";

static inline void webp_profile(uint8_t profile[WEBP_PROFILE], const char *space) {
    icc_make(profile, WEBP_PROFILE, space);
}

/* A file with all kinds of metadata, announced by `flags`. */
static inline struct buf webp_tagged(enum pixel_model model, bool lossless, unsigned flags, bool prefix) {
    struct buf picture = webp_picture(fixture_shape(model, 8, WEBP_SIDE, WEBP_SIDE), lossless),
               file = webp_start();
    struct exif_fixture exif = exif_make(true, 6);
    uint8_t profile[WEBP_PROFILE], prefixed[6 + EXIF_FIXTURE_SIZE] = "Exif\0";
    webp_profile(profile, "RGB ");
    memcpy(prefixed + 6, exif.data, EXIF_FIXTURE_SIZE);
    webp_extended(&file, flags, WEBP_SIDE, WEBP_SIDE);
    webp_chunk(&file, "ICCP", profile, WEBP_PROFILE);
    webp_picture_chunks(&file, &picture);
    webp_chunk(&file, "EXIF", prefix ? prefixed : prefixed + 6, EXIF_FIXTURE_SIZE + (prefix ? 6u : 0u));
    webp_chunk(&file, "XMP ", webp_packet, sizeof webp_packet - 1);
    webp_finish(&file);
    buf_finish(&picture);
    return file;
}

#endif
