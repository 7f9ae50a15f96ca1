/* SPDX-License-Identifier: MIT
 * Reads and writes the chunks of a WebP file, a RIFF container, without libwebp. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_CHUNKS_H
#define BLURD_CODECS_WEBP_WEBP_CHUNKS_H

#include "codecs/definition.h"

enum {
    WEBP_FILE_HEADER = 12, /* bytes of "RIFF", the size of the rest, "WEBP" */
    WEBP_CHUNK_HEADER = 8, /* bytes of a chunk's name and size */
    WEBP_VP8X_SIZE = 10,   /* bytes of a VP8X chunk's data */
    WEBP_ANMF_HEADER = 16, /* bytes of a frame's place and duration, before its chunks */
    WEBP_CHUNKS_MAX = 10000,
};

/* Flags of a VP8X chunk. */
enum {
    WEBP_ANIMATION = 1 << 1,
    WEBP_XMP = 1 << 2,
    WEBP_EXIF = 1 << 3,
    WEBP_ALPHA = 1 << 4,
    WEBP_ICC = 1 << 5,
};

struct webp_chunk {
    uint32_t tag;
    struct bytes data; /* behind the header; borrowed from the input */
};

/* A chunk name as a number, "VP8X" being 0x56503858. */
static inline uint32_t webp_tag(const char name[static 4]) {
    return bytes_be32((const uint8_t *)name);
}

/* Facts about the first picture of a file. */
struct webp_file {
    uint32_t width; /* of the canvas, which the first frame of an animation may not cover */
    uint32_t height;
    uint32_t frame_left; /* where the frame lies on the canvas */
    uint32_t frame_top;
    uint32_t frame_width;
    uint32_t frame_height;
    bool lossless;
    bool alpha;         /* the frame has transparent pixels, or may have */
    bool animated;      /* further frames follow */
    struct bytes frame; /* its chunks, ALPH and VP8 or only VP8L, in the form that libwebp takes */
};

/* The part of the file that its header announces, without the header; bytes may follow it. ST_CORRUPT when
 * the file is shorter. */
enum status webp_chunks_open(struct bytes input, struct bytes *chunks, struct error *err);

/* Steps to the chunk at *position; false at the end, or when the chunk is incomplete. The padding of the last
 * chunk may be missing. */
bool webp_chunks_next(struct bytes chunks, size_t *position, struct webp_chunk *chunk);

/* Reads a frame of an animation from its chunk ANMF; the canvas is left alone. Fails like webp_chunks_read.
 */
enum status webp_chunks_read_frame(const struct webp_chunk *chunk, struct webp_file *file, struct error *err);

/* ST_CORRUPT when the file is shorter than it says, has no picture, or has sizes that contradict each other;
 * ST_LIMIT for more than WEBP_CHUNKS_MAX chunks before the picture. Does not limit the size of the picture.
 */
enum status webp_chunks_read(struct bytes input, struct webp_file *file, struct error *err);

/* Whether the frame covers the canvas. */
bool webp_file_is_covered(const struct webp_file *file);

/* Fills *metadata, which is all zero but for its source, from the first METADATA_MARKERS_MAX chunks of a file
 * that webp_chunks_read accepted. As for other readers, a chunk of metadata counts if VP8X announces it; the
 * first chunk of each kind counts. */
void webp_chunks_read_metadata(struct bytes input, struct metadata *metadata);

/* Appends a chunk and its padding. Failures as buf_append. */
enum status webp_chunks_put(struct buf *output, uint32_t tag, struct bytes data, struct error *err);

/* Little-endian numbers, as RIFF stores them. */
static inline uint32_t webp_le24(const uint8_t *p) {
    return (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}
static inline uint32_t webp_le32(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | webp_le24(p);
}
static inline void webp_put_le24(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)v, p[1] = (uint8_t)(v >> 8), p[2] = (uint8_t)(v >> 16);
}
static inline void webp_put_le32(uint8_t *p, uint32_t v) {
    webp_put_le24(p, v), p[3] = (uint8_t)(v >> 24);
}

#endif
