/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc.h"

#include <string.h>

#include <zlib.h>

#include "codecs/metadata/icc/icc_element.h"
#include "codecs/metadata/icc/icc_sanitize.h"
#include "codecs/metadata/icc/icc_write.h"

enum { HEADER_SIZE = ICC_HEADER_SIZE, PNG_NAME_MAX = 79, SPACE = 16, CONNECTION = 20 };

/* The length in the header; 0 when this is no profile for RGB or grey. */
static size_t profile_size(const uint8_t *header) {
    size_t size = bytes_be32(header);
    const uint8_t *space = header + SPACE;
    bool valid = size >= HEADER_SIZE && size <= METADATA_ICC_MAX && memcmp(header + 36, "acsp", 4) == 0 &&
                 (memcmp(space, "GRAY", 4) == 0 || memcmp(space, "RGB ", 4) == 0);
    return valid ? size : 0;
}

static enum status join_parts(const struct metadata *metadata, struct buf *profile, struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < metadata->chunk_count && status == ST_OK; i++) {
        if (metadata->chunk[i].kind == CHUNK_ICC) {
            status = buf_append(profile, metadata->chunk[i].data.data, metadata->chunk[i].data.size, err);
        }
    }
    return status;
}

/* Inflates `size` bytes; false when the stream has fewer. A bad checksum at its end does not matter, as
 * the profile states its own length. */
static bool inflate_to(z_stream *stream, struct buf *profile, size_t size) {
    stream->next_out = profile->data + profile->size;
    stream->avail_out = (uInt)(size - profile->size);
    inflate(stream, Z_SYNC_FLUSH);
    profile->size = size - stream->avail_out;
    return stream->avail_out == 0;
}

static enum status inflate_profile(z_stream *stream, struct buf *profile, struct error *err) {
    enum status status = buf_reserve(profile, HEADER_SIZE, err);
    if (status != ST_OK) {
        return status;
    }
    if (!inflate_to(stream, profile, HEADER_SIZE)) {
        profile->size = 0;
        return ST_OK;
    }
    size_t size = profile_size(profile->data);
    status = buf_reserve(profile, size > HEADER_SIZE ? size - HEADER_SIZE : 0, err);
    if (status != ST_OK) {
        return status;
    }
    if (size == 0 || !inflate_to(stream, profile, size)) {
        profile->size = 0;
    }
    return ST_OK;
}

/* iCCP is a name, zero, method 0 and a zlib stream, which is never inflated beyond the profile. */
static enum status read_iccp(struct bytes chunk, struct buf *profile, struct error *err) {
    const uint8_t *zero = chunk.size ? memchr(chunk.data, 0, chunk.size) : NULL;
    size_t name = zero ? (size_t)(zero - chunk.data) : PNG_NAME_MAX + 1;
    if (name > PNG_NAME_MAX || name + 2 > chunk.size || zero[1] != 0 || chunk.size > METADATA_ICC_MAX) {
        return ST_OK;
    }
    z_stream stream = {.avail_in = (uInt)(chunk.size - name - 2)};
    /* zlib only reads there, but some builds lack the const. */
    stream.next_in = (z_const Bytef *)(uintptr_t)(zero + 2);
    if (inflateInit(&stream) != Z_OK) {
        return fail(err, ST_BUSY, "out of memory for the colour profile");
    }
    enum status status = inflate_profile(&stream, profile, err);
    inflateEnd(&stream);
    return status;
}

/* The profile as it is stored, without bytes beyond its own length. */
static enum status read_stored(const struct metadata *metadata, struct buf *profile, struct error *err) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        if (metadata->chunk[i].kind == CHUNK_ICC_DEFLATED) {
            return read_iccp(metadata->chunk[i].data, profile, err);
        }
    }
    enum status status = join_parts(metadata, profile, err);
    size_t size = profile->size >= HEADER_SIZE ? profile_size(profile->data) : 0;
    profile->size = size <= profile->size ? size : 0;
    return status;
}

/* The element of the tag in a profile that icc_sanitize wrote; empty without one. */
static struct bytes find_element(const struct buf *profile, uint32_t tag) {
    const uint8_t *entry = profile->data + HEADER_SIZE + 4;
    for (uint32_t left = bytes_be32(profile->data + HEADER_SIZE); left > 0; left--, entry += 12) {
        if (bytes_be32(entry) == tag) {
            return (struct bytes){profile->data + bytes_be32(entry + 4), bytes_be32(entry + 8)};
        }
    }
    return (struct bytes){0};
}

/* Makes of a profile that icc_sanitize wrote one for grey, or for RGB, with its curve. Grey has the curve of
 * green, which makes the most of the light. A curve that leads to Lab is left out. */
static enum status change_model(struct buf *profile, bool grey, struct error *err) {
    uint32_t tag = grey ? ICC_SIGNATURE('g', 'T', 'R', 'C') : ICC_SIGNATURE('k', 'T', 'R', 'C');
    bool light = memcmp(profile->data + CONNECTION, "XYZ ", 4) == 0;
    struct bytes curve = light ? find_element(profile, tag) : (struct bytes){0};
    struct buf changed;
    buf_init(&changed, METADATA_ICC_MAX);
    enum status status = curve.size > 0 ? icc_write_from_curve(curve, grey, &changed, err) : ST_OK;
    buf_finish(profile);
    *profile = changed;
    return status;
}

enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err) {
    bool grey = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    struct buf stored;
    buf_init(&stored, METADATA_ICC_MAX);
    buf_init(profile, METADATA_ICC_MAX);
    enum status status = read_stored(metadata, &stored, err);
    status = status == ST_OK ? icc_sanitize(buf_bytes(&stored), profile, err) : status;
    buf_finish(&stored);
    bool other = profile->size > 0 && (memcmp(profile->data + SPACE, "GRAY", 4) == 0) != grey;
    return status == ST_OK && other ? change_model(profile, grey, err) : status;
}
