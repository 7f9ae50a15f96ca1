/* SPDX-License-Identifier: MIT
 * Functions that the PNG fuzz targets share. */
#ifndef BLURD_TESTS_FUZZ_PNG_H
#define BLURD_TESTS_FUZZ_PNG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codecs/codec.h"
#include "codecs/png/png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small enough for a thousand pictures a second. */
static inline struct codec_limits fuzz_limits(void) {
    return (struct codec_limits){
        .max_pixels = 1 << 20, .max_side = 1 << 16, .max_scans = 10, .max_memory = 64 << 20};
}

/* Ends the process when the statement is false, which the fuzzer reports. */
static inline void fuzz_expect(bool statement) {
    if (!statement) {
        abort();
    }
}

static inline struct image fuzz_image(const struct image_shape *shape) {
    struct image image;
    size_t size = image_layout(&image, shape), room = codec_decode_room(CODEC_PNG, shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size + room);
    fuzz_expect(memory != NULL);
    memset(memory, 0xA5, size + room);
    image_place(&image, memory);
    image.room = room;
    return image;
}

static inline void fuzz_same_pixels(const struct image *a, const struct image *b) {
    for (uint32_t y = 0; y < a->height; y++) {
        fuzz_expect(memcmp(plane_row(&a->plane[0], y), plane_row(&b->plane[0], y),
                           plane_row_bytes(&a->plane[0], a->depth)) == 0);
    }
}

/* Faults of a stream that zlib finds and libdeflate does not, see codecs/png/png_whole.h. */
static inline bool fuzz_is_reserved_code(const char *text) {
    return strstr(text, "invalid literal/length code") || strstr(text, "invalid distance code") ||
           strstr(text, "lengths set") || strstr(text, "invalid distances set") ||
           strstr(text, "too many length or distance symbols");
}

/* Decodes as the daemon does and with libpng alone: the same status, the same pixels. */
static inline enum status fuzz_compare(struct bytes file) {
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    enum status status = codec_probe(file, &limits, &picture, &err);
    if (status != ST_OK) {
        return status;
    }
    if (picture.codec != CODEC_PNG) {
        codec_picture_finish(&picture);
        return status;
    }
    struct image ours = fuzz_image(&picture.pixels), theirs = fuzz_image(&picture.pixels);
    status = png_decode(file, NULL, &limits, &ours, &err);
    enum status theirs_status = png_decode_stream(file, &limits, &theirs, &err);
    fuzz_expect(theirs_status == status || (status == ST_OK && fuzz_is_reserved_code(err.text)));
    if (theirs_status == ST_OK) {
        fuzz_same_pixels(&ours, &theirs);
    }
    free(ours.plane[0].data);
    free(theirs.plane[0].data);
    codec_picture_finish(&picture);
    return status;
}

static inline void fuzz_chunk(struct buf *file, const char *name, const uint8_t *data, size_t size) {
    uint8_t head[8], tail[4];
    bytes_put_be32(head, (uint32_t)size);
    memcpy(head + 4, name, 4);
    bytes_put_be32(tail, (uint32_t)crc32_z(crc32_z(0, head + 4, 4), size ? data : head, size));
    fuzz_expect(buf_append(file, head, 8, NULL) == ST_OK && buf_append(file, data, size, NULL) == ST_OK &&
                buf_append(file, tail, 4, NULL) == ST_OK);
}

#endif
