/* SPDX-License-Identifier: MIT
 * What stands beside the pixels: boxes of the container (ISO/IEC 18181-2), and the colours of the codestream.
 * The codestream says how the picture is turned, and goes before EXIF. */
#include <string.h>

#include "codecs/bmff/bmff.h"
#include "codecs/jxl/jxl_brob.h"
#include "codecs/jxl/jxl_colours.h"
#include "codecs/jxl/jxl_reader.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/xmp.h"

enum {
    CICP = 0x63494350,
    OFFSET_SIZE = 4,                    /* of an Exif box: where the TIFF structure begins behind it */
    EXIF_BOX_MAX = EXIF_SIZE_MAX + 256, /* with the offset, and what stands before the structure */
    TYPE_SIZE = 4,                      /* of a compressed box, before its data */
    BOXES_MAX = 1000,
};

struct jxl_boxes {
    struct bmff_box exif, xmp; /* type 0: none; "brob" if compressed */
};

/* What a repacked JPEG holds beside what the boxes have. Its data begin with a bit for grey and its markers
 * up to EOI, of six bits each, the lowest first (libjxl's JPEGData::VisitFields, ISO/IEC 18181-2). */
static unsigned jpeg_losses(struct bytes data) {
    enum { BITS = 6, FIRST = 0xC0, EOI = 0xD9, APP13 = 0xED, COM = 0xFE };
    unsigned losses = 0, marker = 0;
    for (size_t at = 1, i = 0; i < METADATA_MARKERS_MAX && marker != EOI && at + BITS <= 8 * data.size; i++) {
        marker = FIRST;
        for (unsigned bit = 0; bit < BITS; bit++, at++) {
            marker += ((unsigned)data.data[at / 8] >> at % 8 & 1) << bit;
        }
        losses |= marker == APP13 ? LOSS_IPTC : marker == COM ? LOSS_TEXT : 0;
    }
    return losses;
}

static void note(const struct bmff_box *box, uint32_t type, struct jxl_boxes *parts, unsigned *losses) {
    if (type == bmff_type("Exif")) {
        parts->exif = parts->exif.type ? parts->exif : *box;
    } else if (type == bmff_type("xml ")) {
        parts->xmp = parts->xmp.type ? parts->xmp : *box;
    } else if (type == bmff_type("jumb")) {
        *losses |= LOSS_C2PA;
    } else if (type == bmff_type("jhgm")) {
        *losses |= LOSS_PICTURES;
    } else if (type == bmff_type("jbrd")) {
        *losses |= jpeg_losses(box->body);
    }
}

static void find_parts(struct bytes input, struct jxl_boxes *parts, unsigned *losses) {
    struct bmff_box box;
    bool container = input.size > 0 && input.data[0] == 0;
    for (unsigned i = 0; container && i < BOXES_MAX && bmff_next(&input, &box); i++) {
        bool packed = box.type == bmff_type("brob") && box.body.size >= TYPE_SIZE;
        note(&box, packed ? bytes_be32(box.body.data) : box.type, parts, losses);
    }
}

/* The data of a box, inflated if they are compressed, in the store, which has room for `most` bytes more.
 * What is longer is lost. */
static struct bytes keep_box(const struct jxl_reader *reader, const struct bmff_box *box, size_t most,
                             struct buf *store) {
    uint8_t *to = store->data + store->size;
    size_t size = 0;
    if (box->type == bmff_type("brob")) {
        size = jxl_brob_inflate(reader->library, box->body, to, most);
    } else if (box->type && box->body.size <= most) {
        size = box->body.size;
        memcpy(to, box->body.data, size);
    }
    store->size += size;
    return (struct bytes){to, size};
}

/* The TIFF structure within the data of an Exif box. */
static struct bytes tiff_in(struct bytes box) {
    static const char name[] = "Exif\0";
    uint64_t offset;
    bool fits = bmff_number(&box, OFFSET_SIZE, &offset) && offset < box.size;
    if (!fits) {
        return (struct bytes){0};
    }
    box.data += offset, box.size -= (size_t)offset;
    if (box.size > sizeof name && memcmp(box.data, name, sizeof name) == 0) {
        box.data += sizeof name, box.size -= sizeof name;
    }
    return box;
}

static void read_colours(const struct jxl_reader *reader, enum jxl_colours colours,
                         const uint8_t code[static JXL_CODE_SIZE], size_t icc, struct metadata *metadata) {
    struct metadata_chunk *chunk = &metadata->chunk[metadata->chunk_count];
    uint8_t *to = metadata->store.data + metadata->store.size;
    if (colours == JXL_COLOURS_CODE) {
        memcpy(to, code, JXL_CODE_SIZE);
        *chunk = (struct metadata_chunk){CHUNK_COLOUR, CICP, {to, JXL_CODE_SIZE}};
    } else if (colours == JXL_COLOURS_ICC && reader->library->JxlDecoderGetColorAsICCProfile(
                                                 reader->decoder, JXL_NO_FORMAT JXL_COLOR_PROFILE_TARGET_DATA,
                                                 to, icc) == JXL_DEC_SUCCESS) {
        *chunk = (struct metadata_chunk){CHUNK_ICC, 0, {to, icc}};
    } else {
        metadata->losses |= colours == JXL_COLOURS_ICC ? LOSS_COLOUR : 0;
        return;
    }
    metadata->store.size += chunk->data.size;
    metadata->chunk_count++;
}

static void read_boxes(const struct jxl_reader *reader, const struct jxl_boxes *parts,
                       struct metadata *metadata) {
    struct bytes exif = keep_box(reader, &parts->exif, EXIF_BOX_MAX, &metadata->store);
    metadata->losses |= parts->exif.type && exif.size == 0 ? LOSS_EXIF : 0;
    metadata->exif = tiff_in(exif);
    exif_set_orientation((uint8_t *)(uintptr_t)metadata->exif.data, metadata->exif.size,
                         metadata->orientation);
    metadata->xmp = keep_box(reader, &parts->xmp, XMP_INPUT_MAX, &metadata->store);
    metadata->losses |= parts->xmp.type && metadata->xmp.size == 0 ? LOSS_XMP : 0;
}

enum status jxl_metadata_read(const struct jxl_reader *reader, struct bytes input, struct metadata *metadata,
                              struct error *err) {
    uint8_t code[JXL_CODE_SIZE];
    size_t icc;
    struct jxl_boxes parts = {0};
    const struct jxl_source source = {reader->library, reader->decoder, &reader->info};
    enum jxl_colours colours = jxl_colours_read(&source, code, &icc);
    bool large = icc > METADATA_ICC_MAX;
    metadata->losses |= large ? LOSS_COLOUR : 0;
    find_parts(input, &parts, &metadata->losses);
    size_t room = JXL_CODE_SIZE + (large ? 0 : icc) + (parts.exif.type ? EXIF_BOX_MAX : 0) +
                  (parts.xmp.type ? XMP_INPUT_MAX : 0);
    buf_init(&metadata->store, room);
    enum status status = buf_reserve(&metadata->store, room, err);
    if (status != ST_OK) {
        return status;
    }
    metadata->orientation = (uint8_t)reader->info.orientation;
    metadata->upright = metadata->orientation == 1;
    if (!large) {
        read_colours(reader, colours, code, icc, metadata);
    }
    read_boxes(reader, &parts, metadata);
    return ST_OK;
}
