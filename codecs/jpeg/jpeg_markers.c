/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_markers.h"

#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/xmp.h"
#include "codecs/peek.h"

enum {
    SOI = 0xD8,
    EOI = 0xD9,
    SOS = 0xDA,
    TEM = 0x01,
    RST0 = 0xD0,
    RST7 = 0xD7,
    SOF_JPEG_LS = 0xF7,
    ICC_HEADER = 14
};

static bool has_prefix(struct bytes data, const char *prefix, size_t size) {
    return data.size >= size && memcmp(data.data, prefix, size) == 0;
}

uint8_t jpeg_marker_at(struct bytes input, size_t *position) {
    size_t at = bytes_skip_ones(input, *position);
    bool any = at > *position && at < input.size;
    *position = any ? at + 1 : at;
    return any ? input.data[at] : 0;
}

bool jpeg_segment_body(struct bytes input, size_t *position, struct bytes *body) {
    size_t left = input.size - *position;
    const uint8_t *data = input.data + *position;
    uint32_t length = left < 2 ? 0 : bytes_be16(data);
    if (length < 2 || length > left) {
        return false;
    }
    *body = (struct bytes){data + 2, length - 2};
    *position += length;
    return true;
}

/* Finds the next marker; 0 at the end of the data. */
static uint8_t next_marker(struct bytes input, size_t *position) {
    uint8_t marker = 0;
    while (marker == 0 && *position < input.size) {
        const uint8_t *found = memchr(input.data + *position, 0xFF, input.size - *position);
        *position = found ? (size_t)(found - input.data) : input.size;
        marker = jpeg_marker_at(input, position);
    }
    return marker;
}

bool jpeg_next_segment(struct bytes input, size_t *position, struct jpeg_segment *segment) {
    do {
        segment->marker = next_marker(input, position);
    } while (segment->marker == SOI || segment->marker == TEM ||
             (segment->marker >= RST0 && segment->marker <= RST7)); /* these stand alone */
    return segment->marker != 0 && segment->marker != SOS && segment->marker != EOI &&
           jpeg_segment_body(input, position, &segment->data);
}

static bool is_frame(uint8_t marker) {
    enum { DHT = 0xC4, JPG = 0xC8, DAC = 0xCC };
    return marker >= 0xC0 && marker <= 0xCF && marker != DHT && marker != JPG && marker != DAC;
}

static enum status read_frame(const struct jpeg_segment *segment, struct jpeg_frame *frame,
                              struct error *err) {
    if (segment->marker == SOF_JPEG_LS) {
        return fail(err, ST_UNSUPPORTED, "picture is JPEG-LS, which is not supported");
    }
    if (!is_frame(segment->marker) || frame->marker) {
        return ST_OK;
    }
    if (segment->data.size < 6) {
        return fail(err, ST_CORRUPT, "JPEG frame header has %zu bytes; it needs 6 or more",
                    segment->data.size);
    }
    const uint8_t *p = segment->data.data;
    *frame = (struct jpeg_frame){.marker = segment->marker,
                                 .precision = p[0],
                                 .height = bytes_be16(p + 1),
                                 .width = bytes_be16(p + 3),
                                 .components = p[5]};
    return ST_OK;
}

static bool is_profile(const struct jpeg_segment *segment) {
    return segment->marker == SEGMENT_APP2 && segment->data.size >= ICC_HEADER &&
           has_prefix(segment->data, "ICC_PROFILE", 12);
}

static void add_comment(struct metadata *metadata, struct bytes data) {
    if (metadata->chunk_count < METADATA_CHUNKS_MAX) {
        metadata->chunk[metadata->chunk_count++] =
            (struct metadata_chunk){.kind = CHUNK_COMMENT, .data = data};
    } else {
        metadata->losses |= LOSS_TEXT;
    }
}

/* The parts of an ICC profile. Each number from 1 to the common count occurs once, in any order. */
struct profile {
    struct bytes part[METADATA_CHUNKS_MAX];
    unsigned parts, count;
    size_t total;
    bool damaged; /* or too large */
};

static void add_part(struct profile *profile, struct bytes data) {
    uint8_t sequence = data.data[12], count = data.data[13];
    struct bytes part = {data.data + ICC_HEADER, data.size - ICC_HEADER};
    profile->count = profile->parts == 0 ? count : profile->count;
    profile->total += part.size;
    profile->damaged |= sequence < 1 || sequence > count || count > METADATA_CHUNKS_MAX ||
                        count != profile->count || profile->total > METADATA_ICC_MAX ||
                        profile->part[sequence - 1].data;
    if (!profile->damaged) {
        profile->part[sequence - 1] = part;
        profile->parts++;
    }
}

/* Puts a complete profile before the comments. */
static void add_profile(const struct profile *profile, struct metadata *metadata) {
    const unsigned parts = profile->parts, room = METADATA_CHUNKS_MAX - parts;
    if (profile->damaged || parts != profile->count) {
        metadata->losses |= LOSS_COLOUR;
        return;
    }
    if (metadata->chunk_count > room) {
        metadata->losses |= LOSS_TEXT;
        metadata->chunk_count = (uint16_t)room;
    }
    memmove(metadata->chunk + parts, metadata->chunk, metadata->chunk_count * sizeof *metadata->chunk);
    for (unsigned i = 0; i < parts; i++) {
        metadata->chunk[i] = (struct metadata_chunk){.kind = CHUNK_ICC, .data = profile->part[i]};
    }
    metadata->chunk_count = (uint16_t)(metadata->chunk_count + parts);
}

/* JFIF 1.02 allows a thumbnail behind its numbers, or in a JFXX segment. */
static void read_jfif(struct bytes data, struct metadata *metadata) {
    enum { NUMBERS = 14, MAJOR = 5, MINOR = 6, UNIT = 7, THUMBNAIL = 12 };
    bool jfif = data.size >= NUMBERS && has_prefix(data, "JFIF", 5);
    if (jfif) { /* libjpeg takes the last one */
        metadata->jfif_minor = data.data[MAJOR] == 1 ? data.data[MINOR] : 1;
    }
    if (jfif && metadata->density.unit == DENSITY_NONE) {
        metadata->density = density_from_jfif(data.data + UNIT);
    }
    if (!jfif || data.data[THUMBNAIL] * data.data[THUMBNAIL + 1] > 0) {
        metadata->losses |= has_prefix(data, "JF", 2) ? LOSS_THUMBNAIL : LOSS_OTHER;
    }
}

/* Takes the data behind a name, if the segment begins with the name and none was found before. */
static bool take_named(struct bytes data, const char *name, size_t size, struct bytes *found,
                       struct metadata *metadata, enum loss loss) {
    if (!has_prefix(data, name, size)) {
        return false;
    }
    if (found->size > 0) {
        metadata->losses |= loss;
    } else {
        *found = (struct bytes){data.data + size, data.size - size};
    }
    return true;
}

/* Extended XMP holds data too large for one segment, mostly pictures. */
static void read_app1(struct bytes data, struct metadata *metadata) {
    if (take_named(data, "Exif\0", 6, &metadata->exif, metadata, LOSS_EXIF) ||
        take_named(data, XMP_JPEG_NAME, sizeof(XMP_JPEG_NAME), &metadata->xmp, metadata, LOSS_XMP)) {
        return;
    }
    bool extended = has_prefix(data, "http://ns.adobe.com/xmp/extension/", 34);
    metadata->losses |= extended ? LOSS_XMP : LOSS_OTHER;
}

/* The loss for a segment that is never written. */
static unsigned loss_of(const struct jpeg_segment *segment) {
    switch (segment->marker) {
    case SEGMENT_APP2:
        return has_prefix(segment->data, "MPF", 4) ? LOSS_PICTURES : LOSS_OTHER;
    case SEGMENT_APP11:
        return has_prefix(segment->data, "JP", 2) ? LOSS_C2PA : LOSS_OTHER;
    case SEGMENT_APP14:
        return has_prefix(segment->data, "Adobe", 5) ? 0 : LOSS_OTHER;
    default:
        return segment->marker > SEGMENT_APP2 && segment->marker <= SEGMENT_APP15 ? LOSS_OTHER : 0;
    }
}

static void read_segment(const struct jpeg_segment *segment, struct metadata *metadata,
                         struct profile *profile) {
    if (is_profile(segment)) {
        add_part(profile, segment->data);
        return;
    }
    switch (segment->marker) {
    case SEGMENT_COM:
        add_comment(metadata, segment->data);
        return;
    case SEGMENT_APP0:
        read_jfif(segment->data, metadata);
        return;
    case SEGMENT_APP1:
        read_app1(segment->data, metadata);
        return;
    case SEGMENT_APP13:
        if (take_named(segment->data, IPTC_JPEG_NAME, sizeof(IPTC_JPEG_NAME), &metadata->photoshop, metadata,
                       LOSS_IPTC)) {
            return;
        }
        metadata->losses |= LOSS_OTHER;
        return;
    default:
        metadata->losses |= loss_of(segment);
    }
}

enum status jpeg_read_head(struct bytes input, struct jpeg_frame *frame, struct metadata *metadata,
                           struct error *err) {
    struct profile profile = {0};
    struct jpeg_segment segment;
    enum status status = ST_OK;
    unsigned count = 0;
    size_t position = 0;
    *frame = (struct jpeg_frame){0};
    metadata->jfif_minor = 1;
    while (status == ST_OK && jpeg_next_segment(input, &position, &segment)) {
        if (count == JPEG_SEGMENTS_MAX) {
            return fail(err, ST_LIMIT, "JPEG has more than %d segments before its first scan",
                        JPEG_SEGMENTS_MAX);
        }
        if (count++ < METADATA_MARKERS_MAX) {
            read_segment(&segment, metadata, &profile);
        }
        status = read_frame(&segment, frame, err);
    }
    frame->scan = position;
    metadata->losses |= count >= METADATA_MARKERS_MAX ? LOSS_OTHER : 0;
    metadata->orientation = exif_orientation(metadata->exif);
    add_profile(&profile, metadata);
    return status != ST_OK || frame->marker
               ? status
               : fail(err, ST_CORRUPT, "JPEG has no frame header (SOF): it is cut short or damaged");
}

/* Sampling factors of the first component divided by another's; 0 when there is a remainder. */
static uint8_t ratio_of(uint8_t luma, uint8_t chroma) {
    unsigned h = chroma >> 4, v = chroma & 15;
    bool whole = h > 0 && v > 0 && (luma >> 4) % h == 0 && (luma & 15) % v == 0;
    return (uint8_t)(whole ? (luma >> 4) / h << 4 | (luma & 15) / v : 0);
}

static bool peek_frame(uint8_t marker, struct bytes body, struct peek *peek) {
    const uint8_t *at = body.data;
    if (body.size < 9 || at[5] < 1 || at[5] > 4) {
        return false;
    }
    *peek = (struct peek){
        .width = bytes_be16(at + 3),
        .height = bytes_be16(at + 1),
        .depth = 8,
        .channels = at[5],
        .sampling = at[5] == 3 && body.size >= 15 && at[10] == at[13] ? ratio_of(at[7], at[10]) : 0,
        .progressive = (marker & 3) == 2,
        .baseline = marker == 0xC0 && at[0] == 8 && (at[5] == 1 || at[5] == 3),
    };
    return true;
}

/* Searches no further than the segments reach, as a body may be large. */
bool jpeg_peek(struct bytes input, struct peek *peek) {
    size_t at = 2;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX; i++) {
        struct bytes body;
        uint8_t marker = jpeg_marker_at(input, &at);
        if (marker == 0 || !jpeg_segment_body(input, &at, &body)) {
            return false;
        }
        if (is_frame(marker)) {
            return peek_frame(marker, body, peek);
        }
    }
    return false;
}
