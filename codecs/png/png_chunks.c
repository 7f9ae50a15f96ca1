/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_chunks.h"

#include <string.h>

#include <libdeflate.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/texts.h"

enum { HEADER_SIZE = 13, CHUNK_OVERHEAD = 12, PALETTE = 3 };

bool png_next_chunk(struct bytes input, size_t *position, struct png_chunk *chunk) {
    size_t left = input.size - *position;
    if (left < CHUNK_OVERHEAD) {
        return false;
    }
    const uint8_t *p = input.data + *position;
    uint32_t size = bytes_be32(p);
    *chunk = (struct png_chunk){.tag = bytes_be32(p + 4), .data = {p + 8, size}};
    if (size > left - CHUNK_OVERHEAD) {
        return false;
    }
    chunk->checksum = bytes_be32(p + 8 + size);
    *position += (size_t)size + CHUNK_OVERHEAD;
    return true;
}

bool png_chunk_is_intact(const struct png_chunk *chunk) {
    /* The checksum includes the name, right before the data. */
    return libdeflate_crc32(0, chunk->data.data - 4, chunk->data.size + 4) == chunk->checksum;
}

static bool depth_is_legal(uint8_t color_type, uint8_t depth) {
    switch (color_type) {
    case 0:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case PALETTE:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case 2:
    case 4:
    case 6:
        return depth == 8 || depth == 16;
    default:
        return false;
    }
}

static enum status read_header(const struct png_chunk *chunk, struct png_facts *facts, struct error *err) {
    if (chunk->tag == png_tag("CgBI")) {
        return fail(err, ST_UNSUPPORTED, "PNG is in Apple's private CgBI variant, which is not supported");
    }
    if (chunk->tag != png_tag("IHDR") || chunk->data.size != HEADER_SIZE || !png_chunk_is_intact(chunk)) {
        return fail(err, ST_CORRUPT, "PNG does not begin with an intact header (IHDR)");
    }
    const uint8_t *p = chunk->data.data;
    facts->width = bytes_be32(p);
    facts->height = bytes_be32(p + 4);
    facts->depth = p[8];
    facts->color_type = p[9];
    facts->interlaced = p[12] == 1;
    if (!depth_is_legal(p[9], p[8])) {
        return fail(err, ST_CORRUPT, "PNG has colour type %u with %u bits, which does not exist", p[9], p[8]);
    }
    if (p[10] != 0 || p[11] != 0 || p[12] > 1) {
        return fail(err, ST_CORRUPT, "PNG has compression %u, filter %u, interlacing %u, which do not exist",
                    p[10], p[11], p[12]);
    }
    return ST_OK;
}

/* Whether libpng applies a chunk tRNS: it ignores one before the palette, for a type with alpha, of a wrong
 * size, or whose checksum is wrong. */
static bool applies(const struct png_chunk *chunk, const struct png_facts *facts, size_t colours) {
    size_t size = chunk->data.size;
    size_t most = (size_t)1 << (facts->depth < 8 ? facts->depth : 8);
    bool right = facts->color_type == 0         ? size == 2
                 : facts->color_type == 2       ? size == 6
                 : facts->color_type == PALETTE ? size > 0 && size <= (colours < most ? colours : most)
                                                : false;
    return right && png_chunk_is_intact(chunk);
}

enum status png_read_facts(struct bytes input, struct png_facts *facts, struct error *err) {
    *facts = (struct png_facts){0};
    size_t position = PNG_SIGNATURE_SIZE;
    struct png_chunk chunk;
    if (!png_next_chunk(input, &position, &chunk)) {
        return fail(err, ST_CORRUPT, "PNG is cut short in its header");
    }
    enum status status = read_header(&chunk, facts, err);
    if (status != ST_OK) {
        return status;
    }
    bool pixels = false;
    size_t colours = 0; /* of the palette */
    while (png_next_chunk(input, &position, &chunk) && chunk.tag != png_tag("IEND")) {
        if (chunk.tag == png_tag("IDAT")) {
            pixels = true;
            facts->data_bytes += chunk.data.size;
        } else if (chunk.tag == png_tag("PLTE")) {
            colours = chunk.data.size / 3;
        } else if (chunk.tag == png_tag("tRNS") && !pixels) {
            facts->transparent |= applies(&chunk, facts, colours);
        }
    }
    if (chunk.tag == png_tag("IDAT") && position < input.size) {
        /* The input ends inside this chunk, so its size is not trusted. */
        facts->data_bytes += input.size - position;
        pixels = true;
    }
    if (!pixels) {
        return fail(err, ST_CORRUPT, "PNG has no pixel data (IDAT): it is cut short or damaged");
    }
    return ST_OK;
}

struct image_shape png_facts_shape(const struct png_facts *facts) {
    const bool grey = facts->color_type == 0 || facts->color_type == 4;
    const bool alpha = facts->transparent || facts->color_type == 4 || facts->color_type == 6;
    return (struct image_shape){
        .model = grey    ? alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY
                 : alpha ? PIXEL_RGBA
                         : PIXEL_RGB,
        .depth = facts->depth == 16 ? 16 : 8,
        .width = facts->width,
        .height = facts->height,
    };
}

static bool is_colour(uint32_t tag) {
    return tag == png_tag("gAMA") || tag == png_tag("cHRM") || tag == png_tag("sRGB") ||
           tag == png_tag("iCCP") || tag == png_tag("cICP") || tag == png_tag("mDCV") ||
           tag == png_tag("cLLI");
}

/* Chunks of a fixed size must have it, so that they hold no other data. */
static bool size_is_right(const struct png_chunk *chunk) {
    static const struct {
        char name[5];
        uint8_t size;
    } sizes[] = {{"gAMA", 4},  {"cHRM", 32}, {"sRGB", 1}, {"cICP", 4},
                 {"mDCV", 24}, {"cLLI", 8},  {"pHYs", 9}, {"tIME", 7}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (chunk->tag == png_tag(sizes[i].name)) {
            return chunk->data.size == sizes[i].size;
        }
    }
    return true;
}

static bool has_keyword(const struct png_chunk *chunk, const char *keyword) {
    size_t size = strlen(keyword);
    return chunk->data.size >= size && memcmp(chunk->data.data, keyword, size) == 0;
}

static bool is_listed(const struct metadata *metadata, uint32_t tag) {
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        if (metadata->chunk[i].tag == tag) {
            return true;
        }
    }
    return false;
}

static void add_chunk(struct metadata *metadata, enum chunk_kind kind, const struct png_chunk *chunk,
                      enum loss loss) {
    if (metadata->chunk_count < METADATA_CHUNKS_MAX) {
        metadata->chunk[metadata->chunk_count++] = (struct metadata_chunk){kind, chunk->tag, chunk->data};
    } else {
        metadata->losses |= loss;
    }
}

static void read_xmp(const struct png_chunk *chunk, struct metadata *metadata) {
    struct text_parts text;
    if (metadata->xmp.size > 0 || !texts_split(CHUNK_TEXT_INTERNATIONAL, chunk->data, &text)) {
        metadata->losses |= LOSS_XMP;
        return;
    }
    metadata->xmp = text.text;
    metadata->xmp_deflated = text.deflated;
}

/* "Raw profile type" texts hold EXIF, IPTC or XMP in hexadecimal digits, from before PNG had chunks for
 * them. */
static void read_text(enum chunk_kind kind, const struct png_chunk *chunk, struct metadata *metadata) {
    if (has_keyword(chunk, "Raw profile type")) {
        metadata->losses |= LOSS_OTHER;
    } else if (kind == CHUNK_TEXT_INTERNATIONAL && has_keyword(chunk, "XML:com.adobe.xmp")) {
        read_xmp(chunk, metadata);
    } else {
        add_chunk(metadata, kind, chunk, LOSS_TEXT);
    }
}

static void read_exif(const struct png_chunk *chunk, struct metadata *metadata) {
    if (metadata->exif.size > 0) {
        metadata->losses |= LOSS_EXIF;
    } else {
        metadata->exif = chunk->data;
    }
}

/* Chunks about the pixel storage of the input, which no longer apply. */
static bool is_stale(uint32_t tag) {
    static const char names[][5] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "sBIT", "bKGD", "hIST", "iDOT"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (tag == png_tag(names[i])) {
            return true;
        }
    }
    return false;
}

static void read_chunk(const struct png_chunk *chunk, struct metadata *metadata) {
    if (chunk->tag == png_tag("tEXt")) {
        read_text(CHUNK_TEXT, chunk, metadata);
    } else if (chunk->tag == png_tag("zTXt")) {
        read_text(CHUNK_TEXT_DEFLATED, chunk, metadata);
    } else if (chunk->tag == png_tag("iTXt")) {
        read_text(CHUNK_TEXT_INTERNATIONAL, chunk, metadata);
    } else if (chunk->tag == png_tag("eXIf")) {
        read_exif(chunk, metadata);
    } else if (chunk->tag == png_tag("pHYs") && size_is_right(chunk)) {
        struct density density = density_from_phys(chunk->data.data);
        metadata->density = metadata->density.unit == DENSITY_NONE ? density : metadata->density;
    } else if (chunk->tag == png_tag("tIME") && size_is_right(chunk) && !is_listed(metadata, chunk->tag)) {
        add_chunk(metadata, CHUNK_TIME, chunk, LOSS_OTHER);
    } else if (!is_colour(chunk->tag) && !is_stale(chunk->tag)) {
        metadata->losses |= chunk->tag == png_tag("caBX") ? LOSS_C2PA : LOSS_OTHER;
    }
}

/* Only chunks before the pixels count. */
static void read_colour(struct bytes input, struct metadata *metadata) {
    size_t position = PNG_SIGNATURE_SIZE;
    struct png_chunk chunk;
    for (unsigned i = 0; i < METADATA_MARKERS_MAX && png_next_chunk(input, &position, &chunk); i++) {
        if (chunk.tag == png_tag("IDAT")) {
            return;
        }
        if (!is_colour(chunk.tag) || is_listed(metadata, chunk.tag)) {
            continue;
        }
        if (size_is_right(&chunk) && png_chunk_is_intact(&chunk)) {
            add_chunk(metadata, chunk.tag == png_tag("iCCP") ? CHUNK_ICC_DEFLATED : CHUNK_COLOUR, &chunk,
                      LOSS_COLOUR);
        } else {
            metadata->losses |= LOSS_COLOUR;
        }
    }
}

void png_read_metadata(struct bytes input, struct metadata *metadata) {
    size_t position = PNG_SIGNATURE_SIZE;
    struct png_chunk chunk;
    unsigned count = 0;
    read_colour(input, metadata);
    while (count < METADATA_MARKERS_MAX && png_next_chunk(input, &position, &chunk)) {
        if (is_stale(chunk.tag) || png_chunk_is_intact(&chunk)) {
            read_chunk(&chunk, metadata);
        } else {
            metadata->losses |= LOSS_OTHER;
        }
        count += chunk.tag != png_tag("IDAT");
    }
    metadata->losses |= count == METADATA_MARKERS_MAX ? LOSS_OTHER : 0;
    /* Some programs keep the prefix of EXIF in a JPEG. */
    if (metadata->exif.size > 6 && memcmp(metadata->exif.data, "Exif\0", 6) == 0) {
        metadata->exif.data += 6, metadata->exif.size -= 6;
    }
    metadata->orientation = exif_orientation(metadata->exif);
}

enum status png_open_chunk(struct buf *output, uint32_t tag, struct error *err) {
    uint8_t head[8] = {0};
    bytes_put_be32(head + 4, tag);
    return buf_append(output, head, sizeof(head), err);
}

enum status png_close_chunk(struct buf *output, size_t start, struct error *err) {
    size_t size = output->size - start - 8;
    if (size > INT32_MAX) {
        return fail(err, ST_LIMIT, "a PNG chunk would have %zu bytes; the format's limit is 2 GiB", size);
    }
    bytes_put_be32(output->data + start, (uint32_t)size);
    uint8_t tail[4];
    bytes_put_be32(tail, libdeflate_crc32(0, output->data + start + 4, size + 4));
    return buf_append(output, tail, sizeof(tail), err);
}

enum status png_put_chunk(struct buf *output, uint32_t tag, struct bytes data, struct error *err) {
    size_t start = output->size;
    enum status status = png_open_chunk(output, tag, err);
    status = status != ST_OK ? status : buf_append(output, data.data, data.size, err);
    return status != ST_OK ? status : png_close_chunk(output, start, err);
}
