/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg_segments.h"

#include <string.h>

#include "codecs/exif.h"
#include "codecs/icc.h"
#include "codecs/jpeg_markers.h"

enum {
    HEADER = 4,                  /* marker and length */
    SEGMENT_MAX = 65533,         /* a segment's length field counts itself */
    ICC_PART = SEGMENT_MAX - 14, /* after "ICC_PROFILE\0", number and count */
    COUNT_MAX = 1 + (METADATA_ICC_MAX / ICC_PART + 1) + METADATA_CHUNKS_MAX,
    TOTAL_MAX = COUNT_MAX * (HEADER + SEGMENT_MAX),
};

static enum status put_header(struct buf *segments, uint32_t marker, size_t size, struct error *err) {
    size_t length = size + 2;
    uint8_t header[HEADER] = {0xFF, (uint8_t)marker, (uint8_t)(length >> 8), (uint8_t)length};
    enum status status = buf_reserve(segments, sizeof(header) + size, err);
    return status == ST_OK ? buf_append(segments, header, sizeof(header), err) : status;
}

/* The length is known when it is there. */
static enum status put_exif(struct buf *segments, struct bytes exif, bool upright, struct error *err) {
    static const uint8_t name[] = {'E', 'x', 'i', 'f', 0, 0};
    size_t start = segments->size;
    enum status status = put_header(segments, SEGMENT_APP1, sizeof(name), err);
    if (status == ST_OK) {
        status = buf_append(segments, name, sizeof(name), err);
    }
    size_t empty = segments->size;
    if (status == ST_OK) {
        status = exif_sanitize(exif, upright, segments, err);
    }
    if (status != ST_OK || segments->size == empty) {
        segments->size = start;
        return status;
    }
    size_t length = segments->size - start - 2;
    segments->data[start + 2] = (uint8_t)(length >> 8);
    segments->data[start + 3] = (uint8_t)length;
    return ST_OK;
}

static enum status put_profile(struct buf *segments, struct bytes profile, struct error *err) {
    size_t count = (profile.size + ICC_PART - 1) / ICC_PART;
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        uint8_t prefix[14] = "ICC_PROFILE";
        prefix[12] = (uint8_t)(i + 1);
        prefix[13] = (uint8_t)count;
        size_t start = i * ICC_PART;
        size_t size = profile.size - start < ICC_PART ? profile.size - start : ICC_PART;
        status = put_header(segments, SEGMENT_APP2, sizeof(prefix) + size, err);
        if (status == ST_OK) {
            status = buf_append(segments, prefix, sizeof(prefix), err);
        }
        if (status == ST_OK) {
            status = buf_append(segments, profile.data + start, size, err);
        }
    }
    return status;
}

static enum status take_profile(struct buf *segments, const struct metadata *metadata, enum pixel_model model,
                                struct error *err) {
    struct buf profile = {0};
    enum status status = icc_read(metadata, model, &profile, err);
    if (status == ST_OK) {
        status = put_profile(segments, buf_bytes(&profile), err);
    }
    buf_finish(&profile);
    return status;
}

/* Comments and XMP. XMP can hold the orientation too, which must not ask for another turn of pixels that are
 * upright. */
static enum status put_carried(struct buf *segments, const struct metadata_chunk *chunk, bool upright,
                               struct error *err) {
    struct bytes data = chunk->data;
    enum status status = put_header(segments, chunk->tag, data.size, err);
    if (status == ST_OK) {
        status = buf_append(segments, data.data, data.size, err);
    }
    size_t digit = upright && chunk->tag == SEGMENT_APP1 ? jpeg_xmp_orientation(data) : 0;
    if (status == ST_OK && digit > 0) {
        segments->data[segments->size - data.size + digit] = '1';
    }
    return status;
}

static enum status put_all_carried(struct buf *segments, const struct metadata *metadata, bool upright,
                                   struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < metadata->chunk_count && status == ST_OK; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->tag != SEGMENT_APP2 && chunk->data.size <= SEGMENT_MAX) {
            status = put_carried(segments, chunk, upright, err);
        }
    }
    return status;
}

enum status jpeg_segments_make(const struct metadata *metadata, enum pixel_model model,
                               const struct encode_options *options, struct buf *segments,
                               struct error *err) {
    buf_init(segments, TOTAL_MAX);
    if (!metadata) {
        return ST_OK;
    }
    enum status status = ST_OK;
    if (options->keep_metadata && metadata->exif.size > 0) {
        status = put_exif(segments, metadata->exif, options->upright, err);
    }
    if (status == ST_OK) {
        status = take_profile(segments, metadata, model, err);
    }
    if (status == ST_OK && options->keep_metadata && metadata->source == CODEC_JPEG) {
        status = put_all_carried(segments, metadata, options->upright, err);
    }
    return status;
}
