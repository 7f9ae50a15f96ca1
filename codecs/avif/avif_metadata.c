/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/avif/avif_reader.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/xmp.h"

enum { CODE_SIZE = 4, CICP = 0x63494350 };

#if AVIF_VERSION >= 1000000
#define MIRROR(image) (image)->imir.axis
#else
#define MIRROR(image) (image)->imir.mode
#endif

/* The rotation, anticlockwise, comes before the mirror: 0 exchanges top and bottom, 1 left and right. */
static uint8_t orientation_of(const avifImage *image) {
    static const uint8_t numbers[4][3] = {{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}};
    unsigned quarters = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
    unsigned mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? 1 + (MIRROR(image) & 1) : 0;
    return numbers[quarters][mirror];
}

/* The structure begins with its byte order; names such as "Exif\0\0" may be before it. */
static struct bytes tiff_of(const avifRWData *exif) {
    for (size_t at = 0; at + 4 <= exif->size; at++) {
        const uint8_t *p = exif->data + at;
        if (memcmp(p, "II*\0", 4) == 0 || memcmp(p, "MM\0*", 4) == 0) {
            return (struct bytes){p, exif->size - at};
        }
    }
    return (struct bytes){exif->data, exif->size};
}

/* Whether the code tells more than that the colours are sRGB, or unknown. */
static bool is_telling(const avifImage *image) {
    bool usual = image->colorPrimaries == AVIF_COLOR_PRIMARIES_BT709 ||
                 image->colorPrimaries == AVIF_COLOR_PRIMARIES_UNSPECIFIED;
    return !usual || (image->transferCharacteristics != AVIF_TRANSFER_CHARACTERISTICS_SRGB &&
                      image->transferCharacteristics != AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED);
}

/* Copies `data` to the store, which has room for it. */
static struct bytes keep(struct buf *store, const void *data, size_t size) {
    struct bytes kept = {store->data + store->size, size};
    if (size > 0) {
        memcpy(store->data + store->size, data, size);
        store->size += size;
    }
    return kept;
}

/* Leaves out what is over its limit: it would not be carried. */
static struct bytes within(struct bytes data, size_t most, enum loss loss, unsigned *losses) {
    *losses |= data.size > most ? loss : 0;
    return data.size > most ? (struct bytes){0} : data;
}

/* A picture that keeps its planes needs the matrix and the range of the code. RGB has the full range. */
static void add_code(const struct avif_reader *reader, struct metadata *metadata) {
    const avifImage *image = reader->decoder->image;
    bool planes = reader->native.model == PIXEL_YCBCR;
    const uint8_t code[CODE_SIZE] = {(uint8_t)image->colorPrimaries, (uint8_t)image->transferCharacteristics,
                                     (uint8_t)image->matrixCoefficients,
                                     !planes || image->yuvRange == AVIF_RANGE_FULL};
    if (planes || is_telling(image)) {
        metadata->chunk[metadata->chunk_count++] = (struct metadata_chunk){
            .kind = CHUNK_COLOUR, .tag = CICP, .data = keep(&metadata->store, code, sizeof(code))};
    }
}

enum status avif_reader_metadata(const struct avif_reader *reader, struct metadata *metadata,
                                 struct error *err) {
    const avifImage *image = reader->decoder->image;
    struct bytes icc = {image->icc.data, image->icc.size}, xmp = {image->xmp.data, image->xmp.size};
    unsigned *losses = &metadata->losses;
    struct bytes tiff = within(tiff_of(&image->exif), EXIF_SIZE_MAX, LOSS_EXIF, losses);
    icc = within(icc, METADATA_ICC_MAX, LOSS_COLOUR, losses);
    xmp = within(xmp, XMP_INPUT_MAX, LOSS_XMP, losses);
    size_t size = icc.size + tiff.size + xmp.size + CODE_SIZE + BMFF_LIGHT_SIZE;
    buf_init(&metadata->store, size);
    enum status status = buf_reserve(&metadata->store, size, err);
    if (status != ST_OK) {
        return status;
    }
    metadata->orientation = orientation_of(image);
    metadata->upright = metadata->orientation == 1;
    metadata->exif = keep(&metadata->store, tiff.data, tiff.size);
    /* The rotation of the container counts, not the one in EXIF: both then tell the same. */
    exif_set_orientation(metadata->store.data, tiff.size, metadata->orientation);
    metadata->xmp = keep(&metadata->store, xmp.data, xmp.size);
    if (icc.size > 0) {
        metadata->chunk[metadata->chunk_count++] =
            (struct metadata_chunk){.kind = CHUNK_ICC, .data = keep(&metadata->store, icc.data, icc.size)};
    }
    add_code(reader, metadata);
    bmff_light_append(&reader->light, metadata);
    return ST_OK;
}
