/* SPDX-License-Identifier: MIT
 * Checks where the data of strips and tiles lie. */
#include <inttypes.h>

#include "codecs/tiff/tiff_layout.h"

enum {
    REPEATED = 2,             /* times that a file's bytes may be data: tiles of one colour may share them */
    REPEATED_ROOM = 16 << 20, /* and as many bytes more: 5 ms of copying */
    DECODED = 4,             /* times the bytes of the picture that are decoded, of tiles beyond its border */
    DECODED_ROOM = 64 << 20, /* and as many bytes more: a tenth of a second */
};

struct places {
    struct tiff_directory_entry offsets, sizes;
};

/* Some programs write tiles under the tags of strips. */
static bool find(const struct tiff_layout *layout, uint16_t tile_tag, uint16_t strip_tag,
                 struct tiff_directory_entry *entry) {
    return (layout->tiled && tiff_directory_find(&layout->directory, tile_tag, entry)) ||
           tiff_directory_find(&layout->directory, strip_tag, entry);
}

static uint64_t pieces_of(const struct tiff_layout *layout) {
    return (uint64_t)layout->columns * layout->rows * (layout->separate ? layout->samples : 1);
}

/* Bytes of the picture, as its memory has them, with samples that are left out. */
static uint64_t picture_bytes(const struct tiff_layout *layout) {
    uint64_t pixels = (uint64_t)layout->width * layout->height;
    return pixels * layout->samples * (layout->bits > 8 ? 2 : 1);
}

static enum status check_pieces(const struct tiff_layout *layout, struct error *err) {
    const char *kind = layout->tiled ? "tiles" : "strips";
    uint64_t pieces = pieces_of(layout), picture = picture_bytes(layout);
    if (pieces > TIFF_PIECES_MAX) {
        return fail(err, ST_LIMIT, "TIFF has %" PRIu64 " %s; the limit is %d", pieces, kind, TIFF_PIECES_MAX);
    }
    bool small = layout->piece_bytes <= picture + TIFF_PIECE_ROOM;
    return small && pieces * layout->piece_bytes <= DECODED * picture + DECODED_ROOM
               ? ST_OK
               : fail(err, ST_LIMIT,
                      "TIFF has %" PRIu64 " %s of %" PRIu32 " x %" PRIu32 " pixels, too many for its picture",
                      pieces, kind, layout->piece_width, layout->piece_height);
}

static enum status find_places(const struct tiff_layout *layout, struct places *places, struct error *err) {
    const char *kind = layout->tiled ? "tiles" : "strips";
    uint64_t pieces = pieces_of(layout);
    bool found = find(layout, TIFF_TAG_TILE_OFFSETS, TIFF_TAG_STRIP_OFFSETS, &places->offsets) &&
                 find(layout, TIFF_TAG_TILE_BYTES, TIFF_TAG_STRIP_BYTES, &places->sizes);
    uint64_t offsets = found ? tiff_directory_numbers(&places->offsets) : 0;
    uint64_t sizes = found ? tiff_directory_numbers(&places->sizes) : 0;
    return offsets >= pieces && sizes >= pieces ? ST_OK
                                                : fail(err, ST_CORRUPT,
                                                       "TIFF is damaged or cut short: it has %" PRIu64
                                                       " %s, and the places of %" PRIu64 " lie in the file",
                                                       pieces, kind, offsets < sizes ? offsets : sizes);
}

/* Rows of the last strips may be fewer than the others'. */
static uint64_t decoded_bytes(const struct tiff_layout *layout, uint64_t piece) {
    uint32_t row = (uint32_t)(piece / layout->columns % layout->rows);
    uint32_t left = layout->height - row * layout->piece_height;
    if (layout->tiled || left >= layout->piece_height) {
        return layout->piece_bytes;
    }
    uint32_t whole = layout->halving_y > 1
                         ? (layout->piece_height + layout->halving_y - 1) / layout->halving_y
                         : layout->piece_height;
    uint32_t lines = layout->halving_y > 1 ? (left + layout->halving_y - 1) / layout->halving_y : left;
    return layout->piece_bytes / whole * lines;
}

static enum status check_place(const struct tiff_layout *layout, const struct places *places, uint64_t piece,
                               uint64_t *sum, struct error *err) {
    const char *kind = layout->tiled ? "tile" : "strip";
    const unsigned expansion = layout->coding.expansion;
    uint64_t offset = tiff_directory_number(&layout->directory, &places->offsets, piece);
    uint64_t size = tiff_directory_number(&layout->directory, &places->sizes, piece);
    uint64_t file = layout->directory.file.size;
    if (offset > file || size > file - offset) {
        return fail(err, ST_CORRUPT,
                    "TIFF is damaged or cut short: %s %" PRIu64 " has %" PRIu64 " bytes from byte %" PRIu64
                    " on, and the file has %" PRIu64,
                    kind, piece, size, offset, file);
    }
    uint64_t decoded = decoded_bytes(layout, piece);
    if (size == 0 || (expansion > 0 && size < decoded / expansion)) {
        return fail(err, ST_CORRUPT,
                    "TIFF is damaged or cut short: the %" PRIu64 " bytes of %s %" PRIu64
                    " cannot hold its pixels by %s",
                    size, kind, piece, layout->coding.name);
    }
    *sum += size;
    return ST_OK;
}

enum status tiff_layout_check_data(const struct tiff_layout *layout, struct error *err) {
    struct places places;
    uint64_t sum = 0, pieces = pieces_of(layout), file = layout->directory.file.size;
    enum status status = check_pieces(layout, err);
    status = status == ST_OK ? find_places(layout, &places, err) : status;
    for (uint64_t i = 0; i < pieces && status == ST_OK; i++) {
        status = check_place(layout, &places, i, &sum, err);
    }
    return status != ST_OK || sum <= REPEATED * file + REPEATED_ROOM
               ? status
               : fail(err, ST_LIMIT,
                      "TIFF has %" PRIu64 " bytes, and is made of data with %" PRIu64
                      " in all: it has some more than once",
                      file, sum);
}
