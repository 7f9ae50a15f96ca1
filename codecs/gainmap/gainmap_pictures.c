/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_pictures.h"

#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_xmp.h"
#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/tiff.h"
#include "codecs/metadata/xmp.h"

enum {
    SOI = 0xD8,
    EOI = 0xD9,
    SOS = 0xDA,
    TAG_ENTRIES = 0xB002,
    ENTRY_SIZE = 16,
    ENTRY_FORMAT = 0x07000000, /* of the attributes; 0: JPEG */
};

static bool is_jpeg(struct bytes input) {
    return input.size >= 4 && input.data[0] == 0xFF && input.data[1] == SOI && input.data[2] == 0xFF;
}

/* In coded data an 0xFF is followed by 0 or the number of a restart, which the walk over segments passes. */
size_t gainmap_picture_size(struct bytes input) {
    struct jpeg_segment segment;
    struct bytes header;
    size_t position = 0;
    if (!is_jpeg(input)) {
        return 0;
    }
    while (jpeg_next_segment(input, &position, &segment) ||
           (segment.marker == SOS && jpeg_segment_body(input, &position, &header))) {
    }
    return segment.marker == EOI ? position : 0;
}

bool gainmap_index_is(struct bytes data) {
    return data.size >= sizeof GAINMAP_INDEX_NAME &&
           memcmp(data.data, GAINMAP_INDEX_NAME, sizeof GAINMAP_INDEX_NAME) == 0;
}

/* Appends the JPEG that begins `input`, if it is whole. */
static unsigned add(struct bytes input, struct bytes *picture, unsigned count) {
    size_t size = gainmap_picture_size(input);
    picture[count] = (struct bytes){input.data, size};
    return count + (size > 0);
}

/* `index` is behind the name, from the mark of the byte order on, where offsets count from. */
static unsigned add_listed(struct bytes file, struct bytes index, struct bytes *picture) {
    struct tiff tiff;
    unsigned found = 0;
    if (!tiff_open(&tiff, index)) {
        return 0;
    }
    size_t start = (size_t)(index.data - file.data), left = file.size;
    uint32_t first = tiff_first(&tiff), count = tiff_count(&tiff, first);
    struct bytes entries = {0};
    for (uint32_t i = 0; i < count && entries.size == 0; i++) {
        const struct tiff_entry entry = tiff_entry_at(&tiff, first, i);
        entries =
            entry.tag == TAG_ENTRIES && entry.type == TIFF_UNDEFINED ? tiff_value(&tiff, &entry) : entries;
    }
    for (size_t i = 1; i < entries.size / ENTRY_SIZE && i <= GAINMAP_PICTURES_MAX; i++) {
        const uint8_t *entry = entries.data + i * ENTRY_SIZE;
        uint32_t attributes = tiff_get32(&tiff, entry), size = tiff_get32(&tiff, entry + 4);
        uint64_t at = start + (uint64_t)tiff_get32(&tiff, entry + 8);
        if (!(attributes & ENTRY_FORMAT) && at > start && at <= file.size && size <= file.size - at &&
            size <= left) {
            left -= size;
            found = add((struct bytes){file.data + at, size}, picture, found);
        }
    }
    return found;
}

static bool announces(const struct jpeg_segment *segment) {
    struct bytes data = segment->data;
    size_t name = sizeof XMP_JPEG_NAME;
    bool packet =
        segment->marker == SEGMENT_APP1 && data.size > name && plain_text_starts(data, XMP_JPEG_NAME);
    return packet ? gainmap_xmp_announces((struct bytes){data.data + name, data.size - name})
                  : segment->marker == SEGMENT_APP2 && (gainmap_index_is(data) || gainmap_iso_is(data));
}

bool gainmap_is_announced(struct bytes file) {
    struct jpeg_segment segment;
    size_t position = 0;
    bool found = false;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && !found && jpeg_next_segment(file, &position, &segment);
         i++) {
        found = announces(&segment);
    }
    return found;
}

static struct bytes find_index(struct bytes file) {
    struct jpeg_segment segment;
    size_t position = 0;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && jpeg_next_segment(file, &position, &segment); i++) {
        if (segment.marker == SEGMENT_APP2 && gainmap_index_is(segment.data)) {
            return (struct bytes){segment.data.data + sizeof GAINMAP_INDEX_NAME,
                                  segment.data.size - sizeof GAINMAP_INDEX_NAME};
        }
    }
    return (struct bytes){0};
}

unsigned gainmap_pictures(struct bytes file, struct bytes picture[static GAINMAP_PICTURES_MAX + 1]) {
    unsigned found = add_listed(file, find_index(file), picture);
    size_t end = gainmap_picture_size(file);
    return end > 0 ? add((struct bytes){file.data + end, file.size - end}, picture, found) : found;
}
