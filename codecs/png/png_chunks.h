/* SPDX-License-Identifier: MIT
 * Reads the chunks of a PNG without libpng, which would inflate the compressed ones: a 7 MB file of zTXt
 * chunks costs it 45 s and gigabytes. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_CHUNKS_H
#define BLURD_CODECS_PNG_PNG_CHUNKS_H

#include "codecs/definition.h"

enum {
    PNG_SIGNATURE_SIZE = 8,
    PNG_CHUNK_MAX = 1 << 20, /* bytes of a chunk other than pixel data */
};

struct png_chunk {
    uint32_t tag;
    struct bytes data;
    uint32_t checksum; /* as the file has it */
};

/* A chunk name as a number, "IDAT" being 0x49444154. */
static inline uint32_t png_tag(const char name[static 4]) {
    return bytes_be32((const uint8_t *)name);
}

/* Facts from the header and a pass over all chunks. */
struct png_facts {
    uint32_t width;
    uint32_t height;
    uint8_t depth;      /* 1, 2, 4, 8, 16 bits a sample or index */
    uint8_t color_type; /* 0, 2, 3, 4, 6 */
    bool interlaced;
    bool transparent;    /* a tRNS chunk stands before the pixels and libpng applies it */
    uint64_t data_bytes; /* bytes of all IDAT chunks */
};

/* Steps to the chunk at *position; false at the end, or when the chunk is incomplete. */
bool png_next_chunk(struct bytes input, size_t *position, struct png_chunk *chunk);

bool png_chunk_is_intact(const struct png_chunk *chunk);

/* ST_CORRUPT when the header is damaged or there is no IDAT; ST_UNSUPPORTED for Apple's private variant.
 * Does not limit sizes. */
enum status png_read_facts(struct bytes input, struct png_facts *facts, struct error *err);

/* The picture that these files are decoded to: palettes become colours, transparent ones get alpha. */
struct image_shape png_facts_shape(const struct png_facts *facts);

/* Fills *metadata, which is all zero but for its source, from the first METADATA_MARKERS_MAX chunks with a
 * correct checksum. The first chunk of EXIF, XMP and the resolution counts. Chunks are about colour first,
 * then texts and the time. */
void png_read_metadata(struct bytes input, struct metadata *metadata);

/* Appends a chunk. png_open_chunk and png_close_chunk enclose data that is appended in between; `start` is
 * output->size before png_open_chunk. Failures as buf_reserve. */
enum status png_put_chunk(struct buf *output, uint32_t tag, struct bytes data, struct error *err);
enum status png_open_chunk(struct buf *output, uint32_t tag, struct error *err);
enum status png_close_chunk(struct buf *output, size_t start, struct error *err);

#endif
