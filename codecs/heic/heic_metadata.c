/* SPDX-License-Identifier: MIT
 * Metadata of the primary picture. All that is carried is copied to metadata->store, since libheif's memory
 * ends with the reader. */
#include <string.h>

#include "codecs/heic/heic_reader.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/xmp.h"

enum {
    CICP = 0x63494350,
    CICP_SIZE = 4,
    UNSPECIFIED = 2, /* as a code point of ITU-T H.273 */
    EXIF_OFFSET_SIZE = 4,
    EXIF_PREFIX_SIZE = 6,
    EXIF_MAX = EXIF_SIZE_MAX + EXIF_OFFSET_SIZE + EXIF_PREFIX_SIZE,
};

/* A block of metadata that libheif copies out. */
struct block {
    heif_item_id id;
    size_t size; /* 0: none */
};

struct blocks {
    struct block exif, xmp;
    size_t profile;
};

static void choose(struct block *block, heif_item_id id, size_t size, size_t maximum, enum loss loss,
                   unsigned *losses) {
    if (size == 0) {
        return;
    }
    if (block->size > 0 || size > maximum) {
        *losses |= (unsigned)loss;
        return;
    }
    *block = (struct block){id, size};
}

static void find_blocks(const struct heic_reader *reader, struct blocks *blocks, unsigned *losses) {
    const struct heic_library *heif = reader->heif;
    const struct heif_image_handle *handle = reader->handle;
    heif_item_id ids[METADATA_CHUNKS_MAX];
    int count =
        heif->heif_image_handle_get_list_of_metadata_block_IDs(handle, NULL, ids, METADATA_CHUNKS_MAX);
    for (int i = 0; i < count; i++) {
        const char *type = heif->heif_image_handle_get_metadata_type(handle, ids[i]);
        bool exif = type && strcmp(type, "Exif") == 0, mime = type && strcmp(type, "mime") == 0;
        size_t size = heif->heif_image_handle_get_metadata_size(handle, ids[i]);
        /* The library may keep both names in the same place. */
        const char *content = heif->heif_image_handle_get_metadata_content_type(handle, ids[i]);
        if (exif) {
            choose(&blocks->exif, ids[i], size, EXIF_MAX, LOSS_EXIF, losses);
        } else if (mime && content && strcmp(content, "application/rdf+xml") == 0) {
            choose(&blocks->xmp, ids[i], size, XMP_INPUT_MAX, LOSS_XMP, losses);
        } else {
            *losses |= LOSS_OTHER;
        }
    }
    int all = heif->heif_image_handle_get_number_of_metadata_blocks(handle, NULL);
    *losses |= all > METADATA_CHUNKS_MAX ? LOSS_OTHER : 0;
    size_t profile = heif->heif_image_handle_get_raw_color_profile_size(handle);
    *losses |= profile > METADATA_ICC_MAX ? LOSS_COLOUR : 0;
    blocks->profile = profile <= METADATA_ICC_MAX ? profile : 0;
}

/* Room in the store, which has been reserved. */
static struct bytes take(struct metadata *metadata, size_t size) {
    struct bytes taken = {metadata->store.data + metadata->store.size, size};
    metadata->store.size += size;
    return taken;
}

static struct bytes copy(const struct heic_reader *reader, const struct block *block, enum loss loss,
                         struct metadata *metadata) {
    if (block->size == 0) {
        return (struct bytes){0};
    }
    struct bytes copy = take(metadata, block->size);
    struct heif_error failure = reader->heif->heif_image_handle_get_metadata(
        reader->handle, block->id, metadata->store.data + metadata->store.size - block->size);
    if (failure.code != heif_error_Ok) {
        metadata->losses |= (unsigned)loss;
        return (struct bytes){0};
    }
    return copy;
}

/* The block begins with the distance from its fifth byte to the TIFF structure. */
static struct bytes tiff_in(struct bytes block) {
    if (block.size < EXIF_OFFSET_SIZE) {
        return (struct bytes){0};
    }
    size_t offset = bytes_be32(block.data);
    struct bytes rest = {block.data + EXIF_OFFSET_SIZE, block.size - EXIF_OFFSET_SIZE};
    if (offset > rest.size) {
        return (struct bytes){0};
    }
    rest.data += offset, rest.size -= offset;
    if (rest.size > EXIF_PREFIX_SIZE && memcmp(rest.data, "Exif\0", EXIF_PREFIX_SIZE) == 0) {
        rest.data += EXIF_PREFIX_SIZE, rest.size -= EXIF_PREFIX_SIZE;
    }
    return rest;
}

static void add_chunk(struct metadata *metadata, enum chunk_kind kind, uint32_t tag, struct bytes data) {
    metadata->chunk[metadata->chunk_count++] = (struct metadata_chunk){kind, tag, data};
}

static void read_profile(const struct heic_reader *reader, size_t size, struct metadata *metadata) {
    struct bytes profile = take(metadata, size);
    struct heif_error failure = reader->heif->heif_image_handle_get_raw_color_profile(
        reader->handle, metadata->store.data + metadata->store.size - size);
    if (failure.code == heif_error_Ok) {
        add_chunk(metadata, CHUNK_ICC, 0, profile);
    } else {
        metadata->losses |= LOSS_COLOUR;
    }
}

/* libheif always decodes to full-range RGB, so the stored matrix and range no longer apply. Unspecified code
 * points mean sRGB, which needs no chunk. */
static void read_code_points(const struct heic_reader *reader, struct metadata *metadata) {
    struct heif_color_profile_nclx *nclx = NULL;
    struct heif_error failure = reader->heif->heif_image_handle_get_nclx_color_profile(reader->handle, &nclx);
    if (failure.code != heif_error_Ok || !nclx) {
        reader->heif->heif_nclx_color_profile_free(nclx); /* of code points that the library does not know */
        return;
    }
    unsigned primaries = nclx->color_primaries, transfer = nclx->transfer_characteristics;
    reader->heif->heif_nclx_color_profile_free(nclx);
    primaries = primaries == UNSPECIFIED ? heif_color_primaries_ITU_R_BT_709_5 : primaries;
    transfer = transfer == UNSPECIFIED ? heif_transfer_characteristic_IEC_61966_2_1 : transfer;
    bool srgb = primaries == heif_color_primaries_ITU_R_BT_709_5 &&
                transfer == heif_transfer_characteristic_IEC_61966_2_1;
    if (srgb || primaries > UINT8_MAX || transfer > UINT8_MAX) {
        return;
    }
    const uint8_t code[CICP_SIZE] = {(uint8_t)primaries, (uint8_t)transfer, heif_matrix_coefficients_RGB_GBR,
                                     1};
    memcpy(metadata->store.data + metadata->store.size, code, sizeof(code));
    add_chunk(metadata, CHUNK_COLOUR, CICP, take(metadata, sizeof(code)));
}

enum status heic_metadata_read(const struct heic_reader *reader, struct metadata *metadata,
                               struct error *err) {
    struct blocks blocks = {0};
    find_blocks(reader, &blocks, &metadata->losses);
    size_t room = blocks.exif.size + blocks.xmp.size + blocks.profile + CICP_SIZE + BMFF_LIGHT_SIZE;
    buf_init(&metadata->store, room);
    enum status status = buf_reserve(&metadata->store, room, err);
    if (status != ST_OK) {
        return status;
    }
    metadata->upright = true;
    if (blocks.profile > 0) { /* it describes the colours better than code points */
        read_profile(reader, blocks.profile, metadata);
    } else {
        read_code_points(reader, metadata);
    }
    bmff_light_append(&reader->facts.light, metadata);
    metadata->exif = tiff_in(copy(reader, &blocks.exif, LOSS_EXIF, metadata));
    metadata->xmp = copy(reader, &blocks.xmp, LOSS_XMP, metadata);
    metadata->losses |= reader->facts.losses;
    metadata->gain_map = reader->facts.gain_map;
    return ST_OK;
}
