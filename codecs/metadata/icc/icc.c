/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc.h"

#include <string.h>

#include <zlib.h>

#include "codecs/metadata/icc/icc_sanitize.h"

enum { HEADER_SIZE = ICC_HEADER_SIZE, PNG_NAME_MAX = 79, CICP = 0x63494350 };

/* The length in the header; 0 when this is no profile for the model. */
static size_t profile_size(const uint8_t *header, enum pixel_model model) {
    bool gray = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    size_t size = bytes_be32(header);
    bool valid = size >= HEADER_SIZE && size <= METADATA_ICC_MAX && memcmp(header + 36, "acsp", 4) == 0 &&
                 memcmp(header + 16, gray ? "GRAY" : "RGB ", 4) == 0;
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

static enum status inflate_profile(z_stream *stream, enum pixel_model model, struct buf *profile,
                                   struct error *err) {
    enum status status = buf_reserve(profile, HEADER_SIZE, err);
    if (status != ST_OK) {
        return status;
    }
    if (!inflate_to(stream, profile, HEADER_SIZE)) {
        profile->size = 0;
        return ST_OK;
    }
    size_t size = profile_size(profile->data, model);
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
static enum status read_iccp(struct bytes chunk, enum pixel_model model, struct buf *profile,
                             struct error *err) {
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
    enum status status = inflate_profile(&stream, model, profile, err);
    inflateEnd(&stream);
    return status;
}

/* The profile as it is stored, without bytes beyond its own length. */
static enum status read_stored(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                               struct error *err) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        if (metadata->chunk[i].kind == CHUNK_ICC_DEFLATED) {
            return read_iccp(metadata->chunk[i].data, model, profile, err);
        }
    }
    enum status status = join_parts(metadata, profile, err);
    size_t size = profile->size >= HEADER_SIZE ? profile_size(profile->data, model) : 0;
    profile->size = size <= profile->size ? size : 0;
    return status;
}

enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err) {
    struct buf stored;
    buf_init(&stored, METADATA_ICC_MAX);
    buf_init(profile, METADATA_ICC_MAX);
    enum status status = read_stored(metadata, model, &stored, err);
    status = status == ST_OK ? icc_sanitize(buf_bytes(&stored), profile, err) : status;
    buf_finish(&stored);
    return status;
}

/* The chunk has primaries, transfer, matrix and range. A matrix tells of a file of YCbCr, whose pixels other
 * formats store as RGB: of sRGB and unspecified colour nothing is lost then. */
static bool is_code_lost(const struct metadata_chunk *chunk, enum codec_id target) {
    enum { BT709 = 1, UNSPECIFIED = 2, SRGB = 13 };
    const uint8_t *code = chunk->data.data;
    bool usual = chunk->data.size == 4 && code[2] != 0 && (code[0] == BT709 || code[0] == UNSPECIFIED) &&
                 (code[1] == BT709 || code[1] == UNSPECIFIED || code[1] == SRGB);
    return chunk->kind == CHUNK_COLOUR && chunk->tag == CICP && target != CODEC_PNG && target != CODEC_AVIF &&
           !usual;
}

bool icc_is_lost(const struct metadata *metadata, enum codec_id target, const struct buf *profile) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        bool part = chunk->kind == CHUNK_ICC || chunk->kind == CHUNK_ICC_DEFLATED;
        if (is_code_lost(chunk, target) || (part && profile->size == 0)) {
            return true;
        }
    }
    return false;
}
