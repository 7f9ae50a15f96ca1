/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_segments.h"

#include <string.h>

#include "codecs/jpeg/jpeg.h"
#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/metadata/carried.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/texts.h"
#include "codecs/metadata/xmp.h"

enum {
    HEADER = 4,                  /* marker and length */
    SEGMENT_MAX = 65533,         /* a segment's length field counts itself */
    ICC_PART = SEGMENT_MAX - 14, /* after "ICC_PROFILE\0", number and count */
    ICC_COUNT = METADATA_ICC_MAX / ICC_PART + 1,
    NAMED = 3, /* EXIF, XMP, IPTC */
    TOTAL_MAX = (NAMED + ICC_COUNT) * (HEADER + SEGMENT_MAX) + METADATA_CHUNKS_MAX * (HEADER + TEXT_MAX),
};
_Static_assert((int)TOTAL_MAX <= (int)METADATA_WRITTEN_MAX, "METADATA_WRITTEN_MAX is too small");

/* Appends a segment whose data is a name and `data`. */
static enum status put_segment(struct buf *segments, uint32_t marker, const void *name, size_t name_size,
                               struct bytes data, struct error *err) {
    size_t length = name_size + data.size + 2;
    uint8_t header[HEADER] = {0xFF, (uint8_t)marker, (uint8_t)(length >> 8), (uint8_t)length};
    enum status status = buf_reserve(segments, sizeof(header) + name_size + data.size, err);
    status = status == ST_OK ? buf_append(segments, header, sizeof(header), err) : status;
    status = status == ST_OK ? buf_append(segments, name, name_size, err) : status;
    return status == ST_OK ? buf_append(segments, data.data, data.size, err) : status;
}

/* Appends nothing when there is no data behind the name. */
static enum status put_named(struct buf *segments, uint32_t marker, const char *name, size_t name_size,
                             const struct buf *data, struct error *err) {
    return data->size > 0 ? put_segment(segments, marker, name, name_size, buf_bytes(data), err) : ST_OK;
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
        status = put_segment(segments, SEGMENT_APP2, prefix, sizeof(prefix),
                             (struct bytes){profile.data + start, size}, err);
    }
    return status;
}

struct comments {
    struct buf *segments;
    unsigned *losses;
};

static enum status put_comment(void *context, const struct text *text, struct error *err) {
    struct comments *comments = context;
    if (!plain_text_is(text->keyword, TEXT_COMMENT)) {
        *comments->losses |= LOSS_TEXT;
        return ST_OK;
    }
    return put_segment(comments->segments, SEGMENT_COM, "", 0, text->value, err);
}

static enum status put_comments(const struct metadata *metadata, struct buf *segments, unsigned *losses,
                                struct error *err) {
    struct comments comments = {segments, losses};
    return texts_each(metadata, losses, put_comment, &comments, err);
}

static enum status put_all(const struct metadata *metadata, const struct encode_options *options,
                           struct carried *carried, struct buf *bytes, struct error *err) {
    enum status status = put_named(bytes, SEGMENT_APP1, "Exif\0", 6, &carried->exif, err);
    if (status == ST_OK) {
        status = put_named(bytes, SEGMENT_APP1, XMP_JPEG_NAME, sizeof(XMP_JPEG_NAME), &carried->xmp, err);
    }
    if (status == ST_OK) {
        status = put_profile(bytes, buf_bytes(&carried->profile), err);
    }
    if (status == ST_OK) {
        status = put_named(bytes, SEGMENT_APP13, IPTC_JPEG_NAME, sizeof(IPTC_JPEG_NAME), &carried->iptc, err);
    }
    return status == ST_OK && metadata && options->keep_metadata
               ? put_comments(metadata, bytes, &carried->losses, err)
               : status;
}

static struct jfif jfif_of(struct density density) {
    uint8_t at[5];
    return density_to_jfif(density, at)
               ? (struct jfif){at[0], (uint16_t)bytes_be16(at + 1), (uint16_t)bytes_be16(at + 3)}
               : (struct jfif){0, 1, 1};
}

enum status jpeg_segments_make(const struct metadata *metadata, const struct image_shape *shape,
                               const struct encode_options *options, struct jpeg_segments *segments,
                               struct error *err) {
    struct carried carried = {0};
    buf_init(&segments->bytes, TOTAL_MAX);
    enum status status = carried_make(metadata, &codec_jpeg, shape, options, &carried, err);
    segments->jfif = jfif_of(carried.density);
    if (status == ST_OK) {
        status = put_all(metadata, options, &carried, &segments->bytes, err);
    }
    if (status == ST_OK) {
        carried_report(&carried, options);
    }
    carried_finish(&carried);
    return status;
}

void jpeg_segments_finish(struct jpeg_segments *segments) {
    buf_finish(&segments->bytes);
}
