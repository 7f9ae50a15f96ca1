/* SPDX-License-Identifier: MIT
 * The encoder's header may lie in memory that another process still writes to, so a copy of it is checked and
 * used. */
#include "codecs/jpeg/jpeg_splice.h"

#include <string.h>

#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/jpeg/jpeg_segments.h"
#include "core/jpeg/segments.h"

enum {
    SOI = 0xD8,
    EOI = 0xD9,
    SOS = 0xDA,
    SOF0 = 0xC0,
    DHT = 0xC4,
    DQT = 0xDB,
    DRI = 0xDD,
    MARKER = 2, /* bytes */
    HEADER = 4, /* marker and length */
    COMPONENTS_MAX = 3,
    PIECES_MAX = 16,
    HEAD_MAX = 8 << 10, /* bytes before the first scan; usually below 700, all tables of a file have 2300 */
};

/* The parts of the copied header that are written. Adjacent ranges are merged, mostly into a single one. */
struct splice_found {
    struct bytes piece[PIECES_MAX];
    unsigned pieces;
    unsigned frames;
    size_t scans; /* where they begin */
};

static bool is_kept(uint8_t marker) {
    return marker == SOF0 || marker == DHT || marker == DQT || marker == DRI;
}

static bool is_dropped(uint8_t marker) {
    return (marker >= SEGMENT_APP0 && marker <= SEGMENT_APP15) || marker == SEGMENT_COM;
}

static struct bytes whole(const struct jpeg_segment *segment) {
    return (struct bytes){segment->data.data - HEADER, segment->data.size + HEADER};
}

static enum status check_frame(struct bytes frame, const struct image_shape *shape, struct error *err) {
    bool gray = shape->model == PIXEL_GRAY;
    unsigned components = gray ? 1 : COMPONENTS_MAX;
    const uint8_t *p = frame.data;
    if (frame.size != 6 + 3 * (size_t)components || p[0] != 8 || p[5] != components) {
        return fail(err, ST_DEVICE, "encoded JPEG does not have %u components of 8 bits", components);
    }
    uint32_t height = bytes_be16(p + 1), width = bytes_be16(p + 3);
    if (width != shape->width || height != shape->height) {
        return fail(err, ST_DEVICE, "encoded JPEG is %u x %u pixels instead of %u x %u", width, height,
                    shape->width, shape->height);
    }
    unsigned luma = 0x10u << shape->chroma_shift_x | 1u << shape->chroma_shift_y;
    if (!gray && (p[7] != luma || p[10] != 0x11 || p[13] != 0x11)) {
        return fail(err, ST_DEVICE, "encoded JPEG has the sampling factors %x, %x, %x instead of %x, 11, 11",
                    p[7], p[10], p[13], luma);
    }
    return ST_OK;
}

static enum status add_piece(struct splice_found *found, struct bytes bytes, struct error *err) {
    struct bytes *last = found->pieces > 0 ? &found->piece[found->pieces - 1] : NULL;
    if (last && last->data + last->size == bytes.data) {
        last->size += bytes.size;
        return ST_OK;
    }
    if (found->pieces == PIECES_MAX) {
        return fail(err, ST_DEVICE, "encoded JPEG has metadata in more than %d places", PIECES_MAX - 1);
    }
    found->piece[found->pieces++] = bytes;
    return ST_OK;
}

static enum status take_segment(const struct jpeg_segment *segment, const struct image_shape *shape,
                                struct splice_found *found, struct error *err) {
    if (is_dropped(segment->marker)) {
        return ST_OK;
    }
    if (!is_kept(segment->marker)) {
        return fail(err, ST_DEVICE, "encoded JPEG has a segment %02x, which a baseline picture has not",
                    segment->marker);
    }
    bool frame = segment->marker == SOF0;
    found->frames += frame;
    enum status status = frame ? check_frame(segment->data, shape, err) : ST_OK;
    return status == ST_OK ? add_piece(found, whole(segment), err) : status;
}

static bool has_ends(struct bytes encoded, struct bytes head) {
    const uint8_t *p = head.data, *end = encoded.data + encoded.size;
    return encoded.size >= 2 * MARKER && p[0] == 0xFF && p[1] == SOI && end[-2] == 0xFF && end[-1] == EOI;
}

/* Whether a scan header at `at` and, behind the copied part, the end of the picture follow. */
static bool has_scan(struct bytes head, size_t at, size_t size) {
    const uint8_t *p = head.data + at;
    return head.size - at >= HEADER + MARKER && p[0] == 0xFF && p[1] == SOS && bytes_be16(p + MARKER) >= 2 &&
           bytes_be16(p + MARKER) <= size - at - 2 * MARKER;
}

/* Reads the header in `head`, a copy of the beginning. No bytes may lie between the segments. */
static enum status take(struct bytes encoded, struct bytes head, const struct image_shape *shape,
                        struct splice_found *found, struct error *err) {
    if (!has_ends(encoded, head)) {
        return fail(err, ST_DEVICE, "encoded JPEG of %zu bytes lacks its first or last marker", encoded.size);
    }
    struct jpeg_segment segment;
    size_t position = MARKER, at = MARKER;
    while (jpeg_next_segment(head, &position, &segment) && segment.data.data == head.data + at + HEADER) {
        enum status status = take_segment(&segment, shape, found, err);
        if (status != ST_OK) {
            return status;
        }
        at = position;
    }
    if (!has_scan(head, at, encoded.size)) {
        return fail(err, ST_DEVICE, "encoded JPEG is damaged at byte %zu, before its first scan", at);
    }
    if (found->frames != 1) {
        return fail(err, ST_DEVICE, "encoded JPEG has %u frame headers", found->frames);
    }
    found->scans = at;
    return ST_OK;
}

/* The room is reserved. */
static void put(struct buf *output, struct bytes bytes) {
    if (bytes.size > 0) {
        memcpy(output->data + output->size, bytes.data, bytes.size);
        output->size += bytes.size;
    }
}

static enum status copy(const struct splice_found *found, const struct jpeg_segments *metadata, uint8_t minor,
                        struct buf *output, struct error *err) {
    enum { MINOR_AT = 12 };
    const struct jfif *jfif = &metadata->jfif;
    uint8_t start[JPEG_WRITE_FILE];
    jpeg_write_file(start, jfif->unit, jfif->x, jfif->y);
    start[MINOR_AT] = minor;
    size_t size = sizeof(start) + metadata->bytes.size;
    for (unsigned i = 0; i < found->pieces; i++) {
        size += found->piece[i].size;
    }
    enum status status = buf_reserve(output, size, err);
    if (status != ST_OK) {
        return status;
    }
    put(output, (struct bytes){start, sizeof(start)});
    put(output, buf_bytes(&metadata->bytes));
    for (unsigned i = 0; i < found->pieces; i++) {
        put(output, found->piece[i]);
    }
    return ST_OK;
}

enum status jpeg_splice(struct bytes encoded, const struct image_shape *shape, uint8_t minor,
                        const struct encode_options *options, const struct metadata *metadata,
                        struct buf *output, struct bytes *scans, struct error *err) {
    uint8_t head[HEAD_MAX];
    size_t size = encoded.size < sizeof head ? encoded.size : sizeof head;
    struct splice_found found = {0};
    if (size > 0) {
        memcpy(head, encoded.data, size);
    }
    enum status status = take(encoded, (struct bytes){head, size}, shape, &found, err);
    if (status != ST_OK) {
        return status;
    }
    struct jpeg_segments segments = {0};
    status = jpeg_segments_make(metadata, shape, options, &segments, err);
    if (status == ST_OK) {
        status = copy(&found, &segments, minor, output, err);
    }
    jpeg_segments_finish(&segments);
    *scans = (struct bytes){encoded.data + found.scans, encoded.size - found.scans};
    return status;
}
