/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap.h"

#include <string.h>

#include "codecs/gainmap/gainmap_apple.h"
#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_pictures.h"
#include "codecs/gainmap/gainmap_xmp.h"
#include "codecs/jpeg/jpeg_markers.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/xmp.h"

/* What the segments of a picture say of it. */
struct claim {
    bool iso;            /* there is a segment of ISO 21496-1 with more than versions */
    bool usable;         /* with numbers that fit */
    struct bytes packet; /* of XMP */
    struct bytes exif;
    struct gainmap_numbers numbers;
};

static struct claim read_claim(struct bytes picture) {
    static const char exif[6] = "Exif\0";
    struct claim claim = {0};
    struct jpeg_segment segment;
    size_t position = 0;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && jpeg_next_segment(picture, &position, &segment); i++) {
        struct bytes data = segment.data;
        if (segment.marker == SEGMENT_APP2 && !claim.iso && gainmap_iso_is(data) &&
            data.size > sizeof GAINMAP_ISO_NAME + GAINMAP_ISO_VERSIONS) {
            data.data += sizeof GAINMAP_ISO_NAME, data.size -= sizeof GAINMAP_ISO_NAME;
            claim.iso = true;
            claim.usable = gainmap_iso_read(data, &claim.numbers);
        } else if (segment.marker == SEGMENT_APP1 && claim.packet.size == 0 &&
                   data.size > sizeof XMP_JPEG_NAME && plain_text_starts(data, XMP_JPEG_NAME)) {
            claim.packet = (struct bytes){data.data + sizeof XMP_JPEG_NAME, data.size - sizeof XMP_JPEG_NAME};
        } else if (segment.marker == SEGMENT_APP1 && claim.exif.size == 0 && data.size > sizeof exif &&
                   memcmp(data.data, exif, sizeof exif) == 0) {
            claim.exif = (struct bytes){data.data + sizeof exif, data.size - sizeof exif};
        }
    }
    return claim;
}

static struct gainmap read_map(struct bytes picture, struct bytes exif) {
    static const enum gainmap_kind kinds[] = {
        [GAINMAP_PACKET_NONE] = GAINMAP_NONE,
        [GAINMAP_PACKET_DAMAGED] = GAINMAP_DAMAGED,
        [GAINMAP_PACKET_NUMBERS] = GAINMAP_NUMBERS,
        [GAINMAP_PACKET_APPLE] = GAINMAP_APPLE,
    };
    const struct claim claim = read_claim(picture);
    struct gainmap map = {.file = picture, .numbers = claim.numbers};
    double stops = 0;
    map.kind = claim.usable ? GAINMAP_NUMBERS
               : claim.iso  ? GAINMAP_DAMAGED
                            : kinds[gainmap_xmp_read(claim.packet, &map.numbers, &stops)];
    if (map.kind == GAINMAP_APPLE && !gainmap_apple_read(stops, exif, &map.numbers)) {
        map.kind = GAINMAP_BARE;
    }
    return map;
}

void gainmap_find(struct bytes file, struct gainmap *map) {
    struct bytes picture[GAINMAP_PICTURES_MAX + 1];
    unsigned count = gainmap_is_announced(file) ? gainmap_pictures(file, picture) : 0;
    const struct claim base = count > 0 ? read_claim(file) : (struct claim){0};
    *map = (struct gainmap){0};
    for (unsigned i = 0; i < count; i++) {
        const struct gainmap one = read_map(picture[i], base.exif);
        *map = one.kind > map->kind ? one : *map;
    }
    map->alone = count > 0;
    for (unsigned i = 0; i < count; i++) {
        map->alone = map->alone && picture[i].data == map->file.data;
    }
}
