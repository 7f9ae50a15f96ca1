/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc.h"

#include <string.h>

#include <zlib.h>

#include "codecs/jpeg/jpeg_markers.h"

enum { HEADER_SIZE = 128, PNG_NAME_MAX = 79, ICCP = 0x69434350, CICP = 0x63494350 };

/* The length in the header; 0 when this is no profile for the model. */
static size_t profile_size(const uint8_t *header, enum pixel_model model) {
    bool gray = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    size_t size = bytes_be32(header);
    bool valid = size >= HEADER_SIZE && size <= METADATA_ICC_MAX && memcmp(header + 36, "acsp", 4) == 0 &&
                 memcmp(header + 16, gray ? "GRAY" : "RGB ", 4) == 0;
    return valid ? size : 0;
}

/* Joins the segments in the order of their numbers, which are valid. */
static enum status join_segments(const struct metadata *metadata, struct buf *profile, struct error *err) {
    for (unsigned wanted = 1; wanted <= metadata->chunk_count; wanted++) {
        for (unsigned i = 0; i < metadata->chunk_count; i++) {
            uint8_t sequence;
            struct bytes part;
            if (!jpeg_icc_segment(metadata->chunk[i].tag, metadata->chunk[i].data, &sequence, &part) ||
                sequence != wanted) {
                continue;
            }
            enum status status = buf_append(profile, part.data, part.size, err);
            if (status != ST_OK) {
                return status;
            }
        }
    }
    return ST_OK;
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

enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err) {
    buf_init(profile, METADATA_ICC_MAX);
    if (metadata->source == CODEC_PNG) {
        for (unsigned i = 0; i < metadata->chunk_count; i++) {
            if (metadata->chunk[i].tag == ICCP) {
                return read_iccp(metadata->chunk[i].data, model, profile, err);
            }
        }
        return ST_OK;
    }
    enum status status = join_segments(metadata, profile, err);
    size_t size = profile->size >= HEADER_SIZE ? profile_size(profile->data, model) : 0;
    profile->size = size <= profile->size ? size : 0;
    return status;
}

static bool is_profile(const struct metadata *metadata, const struct metadata_chunk *chunk) {
    return chunk->tag == (metadata->source == CODEC_PNG ? (uint32_t)ICCP : (uint32_t)SEGMENT_APP2);
}

bool icc_is_lost(const struct metadata *metadata, enum codec_id target, const struct buf *profile) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        bool code = metadata->chunk[i].tag == CICP && target != CODEC_PNG;
        if (code || (is_profile(metadata, &metadata->chunk[i]) && profile->size == 0)) {
            return true;
        }
    }
    return false;
}
