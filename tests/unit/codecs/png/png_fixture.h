/* SPDX-License-Identifier: MIT
 * PNG files put together chunk by chunk, right or wrong, by none of the code under test. */
#ifndef BLURD_TESTS_PNG_FIXTURE_H
#define BLURD_TESTS_PNG_FIXTURE_H

#include <zlib.h>

#include "tests/unit/codecs/picture_fixture.h"

static inline unsigned channels_of(uint8_t color_type) {
    static const unsigned channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[color_type];
}

static inline void put_chunk(struct buf *file, const char *name, const void *data, size_t size) {
    uint8_t head[8], tail[4];
    bytes_put_be32(head, (uint32_t)size);
    memcpy(head + 4, name, 4);
    uLong checksum = crc32(0, head + 4, 4);
    checksum = size ? crc32(checksum, data, (uInt)size) : checksum;
    bytes_put_be32(tail, (uint32_t)checksum);
    assert_int_equal(buf_append(file, head, 8, NULL), ST_OK);
    assert_int_equal(buf_append(file, data, size, NULL), ST_OK);
    assert_int_equal(buf_append(file, tail, 4, NULL), ST_OK);
}

static inline struct buf put_start(uint32_t width, uint32_t height, uint8_t depth, uint8_t color_type,
                                   bool interlaced) {
    struct buf file;
    buf_init(&file, 64 << 20);
    uint8_t header[13] = {[8] = depth, [9] = color_type, [12] = interlaced};
    bytes_put_be32(header, width);
    bytes_put_be32(header + 4, height);
    assert_int_equal(buf_append(&file, "\x89PNG\r\n\x1A\n", 8, NULL), ST_OK);
    put_chunk(&file, "IHDR", header, sizeof(header));
    return file;
}

/* Writes the pixel data and the end. `raw` is scan lines, filter bytes included. */
static inline void put_pixels(struct buf *file, const uint8_t *raw, size_t size) {
    uLongf packed_size = compressBound((uLong)size);
    uint8_t *packed = malloc(packed_size);
    assert_int_equal(compress(packed, &packed_size, raw, (uLong)size), Z_OK);
    put_chunk(file, "IDAT", packed, packed_size);
    put_chunk(file, "IEND", NULL, 0);
    free(packed);
}

/* Puts a chunk behind the header of a finished file. */
static inline void insert_chunk(struct buf *file, const char *name, const void *data, size_t size) {
    struct buf chunk;
    buf_init(&chunk, 64 << 20);
    put_chunk(&chunk, name, data, size);
    fixture_insert(file, 8 + 25, chunk.data, chunk.size);
    buf_finish(&chunk);
}

/* Unpacks a deflate stream that has `size` bytes. */
static inline void inflate_all(const struct buf *packed, uint8_t *to, size_t size) {
    z_stream stream = {.next_in = packed->data, .avail_in = (uInt)packed->size, .next_out = to};
    stream.avail_out = (uInt)size;
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
}

#endif
