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

/* Finds the next marker byte; false at the end of the data. */
static bool next_marker(struct bytes input, size_t *position, uint8_t *marker) {
    size_t at = *position;
    for (;;) {
        const uint8_t *found = at < input.size ? memchr(input.data + at, 0xFF, input.size - at) : NULL;
        if (!found) {
            *position = input.size;
            return false;
        }
        at = bytes_skip_ones(input, (size_t)(found - input.data));
        if (at < input.size && input.data[at] != 0) {
            *marker = input.data[at];
            *position = at + 1;
            return true;
        }
    }
}

bool jpeg_next_segment(struct bytes input, size_t *position, struct jpeg_segment *segment) {
    uint8_t marker;
    while (next_marker(input, position, &marker)) {
        if (marker == SOI || marker == TEM || (marker >= RST0 && marker <= RST7)) {
            continue; /* these stand alone */
        }
        if (marker == SOS || marker == EOI || input.size - *position < 2) {
            return false;
        }
        uint32_t length = bytes_be16(input.data + *position);
        if (length < 2 || length > input.size - *position) {
            return false;
        }
        *segment = (struct jpeg_segment){marker, {input.data + *position + 2, length - 2}};
        *position += length;
        return true;
    }
    return false;
}

static bool is_frame(uint8_t marker) {
    enum { DHT = 0xC4, JPG = 0xC8, DAC = 0xCC };
    return marker >= 0xC0 && marker <= 0xCF && marker != DHT && marker != JPG && marker != DAC;
}

enum status jpeg_read_frame(struct bytes input, struct jpeg_frame *frame, struct error *err) {
    *frame = (struct jpeg_frame){0};
    struct jpeg_segment segment;
    unsigned count = 0;
    while (jpeg_next_segment(input, &frame->scan, &segment)) {
        if (++count > JPEG_SEGMENTS_MAX) {
            return fail(err, ST_LIMIT, "JPEG has more than %d segments before its first scan",
                        JPEG_SEGMENTS_MAX);
        }
        if (segment.marker == SOF_JPEG_LS) {
            return fail(err, ST_UNSUPPORTED, "picture is JPEG-LS, which is not supported");
        }
        if (!is_frame(segment.marker) || frame->marker) {
            continue;
        }
        if (segment.data.size < 6) {
            return fail(err, ST_CORRUPT, "JPEG frame header has %zu bytes; it needs 6 or more",
                        segment.data.size);
        }
        const uint8_t *p = segment.data.data;
        frame->marker = segment.marker;
        frame->precision = p[0];
        frame->height = bytes_be16(p + 1);
        frame->width = bytes_be16(p + 3);
        frame->components = p[5];
    }
    if (!frame->marker) {
        return fail(err, ST_CORRUPT, "JPEG has no frame header (SOF): it is cut short or damaged");
    }
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

/* Adds the parts of the profile if they are complete and not too large: each number from 1 to the common
 * count occurs once, in any order. */
static void add_profile(struct bytes input, struct metadata *metadata) {
    struct metadata_chunk chunk[METADATA_CHUNKS_MAX] = {{.kind = CHUNK_ICC}};
    unsigned parts = 0, count = 0;
    size_t total = 0, position = 0;
    struct jpeg_segment segment;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && jpeg_next_segment(input, &position, &segment); i++) {
        if (!is_profile(&segment)) {
            continue;
        }
        uint8_t sequence = segment.data.data[12];
        struct bytes part = {segment.data.data + ICC_HEADER, segment.data.size - ICC_HEADER};
        count = parts == 0 ? segment.data.data[13] : count;
        bool valid = sequence >= 1 && sequence <= count && count <= METADATA_CHUNKS_MAX &&
                     segment.data.data[13] == count && !chunk[sequence - 1].data.data;
        total += part.size;
        if (!valid || total > METADATA_ICC_MAX) {
            metadata->losses |= LOSS_COLOUR;
            return;
        }
        chunk[sequence - 1] = (struct metadata_chunk){.kind = CHUNK_ICC, .data = part};
        parts++;
    }
    if (parts != count) {
        metadata->losses |= LOSS_COLOUR;
        return;
    }
    memcpy(metadata->chunk, chunk, parts * sizeof(*chunk));
    metadata->chunk_count = (uint16_t)parts;
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
        return is_profile(segment) ? 0 : has_prefix(segment->data, "MPF", 4) ? LOSS_PICTURES : LOSS_OTHER;
    case SEGMENT_APP11:
        return has_prefix(segment->data, "JP", 2) ? LOSS_C2PA : LOSS_OTHER;
    case SEGMENT_APP14:
        return has_prefix(segment->data, "Adobe", 5) ? 0 : LOSS_OTHER;
    default:
        return segment->marker > SEGMENT_APP2 && segment->marker <= SEGMENT_APP15 ? LOSS_OTHER : 0;
    }
}

static void read_segment(const struct jpeg_segment *segment, struct metadata *metadata) {
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

void jpeg_read_metadata(struct bytes input, struct metadata *metadata) {
    metadata->jfif_minor = 1;
    add_profile(input, metadata);
    size_t position = 0;
    struct jpeg_segment segment;
    unsigned count = 0;
    while (count < METADATA_MARKERS_MAX && jpeg_next_segment(input, &position, &segment)) {
        read_segment(&segment, metadata);
        count++;
    }
    metadata->losses |= count == METADATA_MARKERS_MAX ? LOSS_OTHER : 0;
    metadata->orientation = exif_orientation(metadata->exif);
}

/* Sampling factors of the first component divided by another's; 0 when there is a remainder. */
static uint8_t ratio_of(uint8_t luma, uint8_t chroma) {
    unsigned h = chroma >> 4, v = chroma & 15;
    bool whole = h > 0 && v > 0 && (luma >> 4) % h == 0 && (luma & 15) % v == 0;
    return (uint8_t)(whole ? (luma >> 4) / h << 4 | (luma & 15) / v : 0);
}

/* `at` is the payload of a start-of-frame segment of `size` bytes. */
static bool peek_frame(uint8_t marker, const uint8_t *at, size_t size, struct peek *peek) {
    if (size < 9 || at[5] < 1 || at[5] > 4) {
        return false;
    }
    *peek = (struct peek){
        .width = bytes_be16(at + 3),
        .height = bytes_be16(at + 1),
        .depth = 8,
        .channels = at[5],
        .sampling = at[5] == 3 && size >= 15 && at[10] == at[13] ? ratio_of(at[7], at[10]) : 0,
        .progressive = (marker & 3) == 2,
        .baseline = marker == 0xC0 && at[0] == 8 && (at[5] == 1 || at[5] == 3),
    };
    return true;
}

bool jpeg_peek(struct bytes input, struct peek *peek) {
    size_t at = 2;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && input.size - at >= 4 && input.data[at] == 0xFF; i++) {
        uint8_t marker = input.data[at + 1];
        if (marker == 0xFF) {
            at++;
            continue;
        }
        size_t size = bytes_be16(input.data + at + 2);
        if (size < 2 || size > input.size - at - 2) {
            return false;
        }
        if (is_frame(marker)) {
            return peek_frame(marker, input.data + at + 4, size - 2, peek);
        }
        at += 2 + size;
    }
    return false;
}
