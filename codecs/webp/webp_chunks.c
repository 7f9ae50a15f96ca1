/* SPDX-License-Identifier: MIT */
#include "codecs/webp/webp_chunks.h"

#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "codecs/peek.h"
#include "codecs/webp/webp.h"

enum {
    VP8_HEADER = 10,   /* bytes of a key frame's header */
    VP8L_HEADER = 5,   /* bytes of a lossless picture's header */
    SIDE_MASK = 0x3FFF /* 14 bits of a width or height */
};

bool webp_chunks_next(struct bytes chunks, size_t *position, struct webp_chunk *chunk) {
    size_t left = chunks.size - *position;
    if (left < WEBP_CHUNK_HEADER) {
        return false;
    }
    const uint8_t *p = chunks.data + *position;
    size_t size = webp_le32(p + 4);
    if (size > left - WEBP_CHUNK_HEADER) {
        return false;
    }
    *chunk = (struct webp_chunk){bytes_be32(p), {p + WEBP_CHUNK_HEADER, size}};
    size_t padded = WEBP_CHUNK_HEADER + size + (size & 1);
    *position += padded < left ? padded : left;
    return true;
}

enum status webp_chunks_open(struct bytes input, struct bytes *chunks, struct error *err) {
    size_t size = input.size >= WEBP_FILE_HEADER ? webp_le32(input.data + 4) : SIZE_MAX;
    if (input.size < WEBP_FILE_HEADER || size > input.size - 8) {
        return fail(err, ST_CORRUPT, "WebP is cut short: it ends with byte %zu", input.size);
    }
    if (size < 4) {
        return fail(err, ST_CORRUPT, "WebP states a length of %zu bytes, too few for any picture", size);
    }
    *chunks = (struct bytes){input.data + WEBP_FILE_HEADER, size - 4};
    return ST_OK;
}

static bool read_lossy(struct bytes data, struct webp_file *file) {
    const uint8_t *p = data.data;
    bool key_frame = data.size >= VP8_HEADER && (p[0] & 1) == 0 && memcmp(p + 3, "\x9D\x01\x2A", 3) == 0;
    if (key_frame) {
        file->frame_width = (p[6] | (uint32_t)p[7] << 8) & SIDE_MASK;
        file->frame_height = (p[8] | (uint32_t)p[9] << 8) & SIDE_MASK;
    }
    return key_frame;
}

static bool read_lossless(struct bytes data, struct webp_file *file) {
    uint32_t bits = data.size >= VP8L_HEADER ? webp_le32(data.data + 1) : 0;
    file->frame_width = (bits & SIDE_MASK) + 1;
    file->frame_height = (bits >> 14 & SIDE_MASK) + 1;
    file->alpha = bits >> 28 & 1;
    return data.size >= VP8L_HEADER && data.data[0] == 0x2F && bits >> 29 == 0;
}

/* Takes the first picture and the last alpha chunk before it. */
static enum status read_frame(struct bytes chunks, struct webp_file *file, struct error *err) {
    struct webp_chunk chunk;
    const uint8_t *alpha = NULL;
    size_t position = 0;
    for (unsigned i = 0; webp_chunks_next(chunks, &position, &chunk); i++) {
        if (i == WEBP_CHUNKS_MAX) {
            return fail(err, ST_LIMIT, "WebP has more than %d chunks before its picture", WEBP_CHUNKS_MAX);
        }
        alpha = chunk.tag == webp_tag("ALPH") ? chunk.data.data - WEBP_CHUNK_HEADER : alpha;
        file->lossless = chunk.tag == webp_tag("VP8L");
        if (!file->lossless && chunk.tag != webp_tag("VP8 ")) {
            continue;
        }
        file->alpha = alpha && !file->lossless;
        const uint8_t *start = file->alpha ? alpha : chunk.data.data - WEBP_CHUNK_HEADER;
        file->frame = (struct bytes){start, (size_t)(chunk.data.data + chunk.data.size - start)};
        bool valid = file->lossless ? read_lossless(chunk.data, file) : read_lossy(chunk.data, file);
        return valid ? ST_OK : fail(err, ST_CORRUPT, "WebP has a picture with a damaged header");
    }
    return fail(err, ST_CORRUPT, "WebP has no picture (VP8 or VP8L): it is cut short or damaged");
}

/* Finds the first frame of an animation. */
static bool find_frame(struct bytes chunks, struct webp_chunk *frame, bool *further) {
    struct webp_chunk chunk;
    size_t position = 0;
    unsigned frames = 0;
    for (unsigned i = 0; frames < 2 && i < WEBP_CHUNKS_MAX && webp_chunks_next(chunks, &position, &chunk);
         i++) {
        if (chunk.tag == webp_tag("ANMF") && frames++ == 0) {
            *frame = chunk;
        }
    }
    *further = frames > 1;
    return frames > 0;
}

enum status webp_chunks_read_frame(const struct webp_chunk *chunk, struct webp_file *file,
                                   struct error *err) {
    const uint8_t *p = chunk->data.data;
    if (chunk->data.size < WEBP_ANMF_HEADER) {
        return fail(err, ST_CORRUPT, "WebP has a frame of %zu bytes; its header alone has %d",
                    chunk->data.size, WEBP_ANMF_HEADER);
    }
    file->frame_left = webp_le24(p) * 2;
    file->frame_top = webp_le24(p + 3) * 2;
    uint32_t width = webp_le24(p + 6) + 1, height = webp_le24(p + 9) + 1;
    struct bytes inner = {p + WEBP_ANMF_HEADER, chunk->data.size - WEBP_ANMF_HEADER};
    enum status status = read_frame(inner, file, err);
    if (status == ST_OK && (width != file->frame_width || height != file->frame_height)) {
        return fail(err, ST_CORRUPT, "WebP has a frame of %u x %u pixels with a picture of %u x %u", width,
                    height, file->frame_width, file->frame_height);
    }
    return status;
}

static bool is_inside(const struct webp_file *file, bool animation) {
    if (!animation) {
        return file->width == file->frame_width && file->height == file->frame_height;
    }
    return file->frame_left + file->frame_width <= file->width &&
           file->frame_top + file->frame_height <= file->height;
}

/* A file with a VP8X chunk may be an animation. */
static enum status read_extended(struct bytes chunks, struct bytes header, struct webp_file *file,
                                 struct error *err) {
    struct webp_chunk frame;
    if (header.size < WEBP_VP8X_SIZE) {
        return fail(err, ST_CORRUPT, "WebP has a header (VP8X) of %zu bytes; it needs %d", header.size,
                    WEBP_VP8X_SIZE);
    }
    bool animation = header.data[0] & WEBP_ANIMATION && find_frame(chunks, &frame, &file->animated);
    enum status status =
        animation ? webp_chunks_read_frame(&frame, file, err) : read_frame(chunks, file, err);
    file->width = webp_le24(header.data + 4) + 1;
    file->height = webp_le24(header.data + 7) + 1;
    if (status == ST_OK && !is_inside(file, animation)) {
        return fail(err, ST_CORRUPT, "WebP is %u x %u pixels, but its picture has %u x %u at %u, %u",
                    file->width, file->height, file->frame_width, file->frame_height, file->frame_left,
                    file->frame_top);
    }
    return status;
}

enum status webp_chunks_read(struct bytes input, struct webp_file *file, struct error *err) {
    struct bytes chunks;
    struct webp_chunk first;
    size_t position = 0;
    *file = (struct webp_file){0};
    enum status status = webp_chunks_open(input, &chunks, err);
    if (status != ST_OK) {
        return status;
    }
    if (webp_chunks_next(chunks, &position, &first) && first.tag == webp_tag("VP8X")) {
        return read_extended(chunks, first.data, file, err);
    }
    status = read_frame(chunks, file, err);
    file->width = file->frame_width;
    file->height = file->frame_height;
    return status;
}

bool webp_file_is_covered(const struct webp_file *file) {
    return file->frame_width == file->width && file->frame_height == file->height;
}

/* ---- metadata ---- */

/* Takes a chunk that the header announces, if none was found before. */
static void take(const struct webp_chunk *chunk, bool announced, struct bytes *found,
                 struct metadata *metadata, enum loss loss) {
    if (announced && found->size == 0) {
        *found = chunk->data;
    } else {
        metadata->losses |= chunk->data.size > 0 ? loss : 0;
    }
}

static void take_profile(const struct webp_chunk *chunk, bool announced, struct metadata *metadata) {
    if (!announced || metadata->chunk_count > 0 || chunk->data.size > METADATA_ICC_MAX) {
        metadata->losses |= LOSS_COLOUR;
    } else {
        metadata->chunk[metadata->chunk_count++] =
            (struct metadata_chunk){.kind = CHUNK_ICC, .data = chunk->data};
    }
}

/* Chunks about the storage of the pixels, which no longer apply. */
static bool is_stale(uint32_t tag) {
    static const char names[][5] = {"VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF"};
    bool stale = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        stale |= tag == webp_tag(names[i]);
    }
    return stale;
}

static void read_chunk(const struct webp_chunk *chunk, unsigned flags, struct metadata *metadata) {
    if (chunk->tag == webp_tag("ICCP")) {
        take_profile(chunk, flags & WEBP_ICC, metadata);
    } else if (chunk->tag == webp_tag("EXIF")) {
        take(chunk, flags & WEBP_EXIF, &metadata->exif, metadata, LOSS_EXIF);
    } else if (chunk->tag == webp_tag("XMP ")) {
        take(chunk, flags & WEBP_XMP, &metadata->xmp, metadata, LOSS_XMP);
    } else if (!is_stale(chunk->tag)) {
        metadata->losses |= chunk->tag == webp_tag("C2PA") ? LOSS_C2PA : LOSS_OTHER;
    }
}

void webp_chunks_read_metadata(struct bytes input, struct metadata *metadata) {
    struct bytes chunks = {0};
    struct webp_chunk chunk;
    size_t position = 0;
    unsigned flags = 0, count = 0;
    if (webp_chunks_open(input, &chunks, NULL) != ST_OK) {
        return;
    }
    if (webp_chunks_next(chunks, &position, &chunk) && chunk.tag == webp_tag("VP8X") && chunk.data.size > 0) {
        flags = chunk.data.data[0];
    }
    position = 0;
    while (count < METADATA_MARKERS_MAX && webp_chunks_next(chunks, &position, &chunk)) {
        read_chunk(&chunk, flags, metadata);
        count += chunk.tag != webp_tag("ANMF");
    }
    metadata->losses |= position < chunks.size ? LOSS_OTHER : 0;
    /* Some programs keep the prefix of EXIF in a JPEG. */
    if (metadata->exif.size > 6 && memcmp(metadata->exif.data, "Exif\0", 6) == 0) {
        metadata->exif.data += 6, metadata->exif.size -= 6;
    }
    metadata->orientation = exif_orientation(metadata->exif);
}

enum status webp_chunks_put(struct buf *output, uint32_t tag, struct bytes data, struct error *err) {
    uint8_t header[WEBP_CHUNK_HEADER];
    bytes_put_be32(header, tag);
    webp_put_le32(header + 4, (uint32_t)data.size);
    enum status status = buf_append(output, header, sizeof header, err);
    status = status == ST_OK ? buf_append(output, data.data, data.size, err) : status;
    return status == ST_OK && data.size & 1 ? buf_append(output, "", 1, err) : status;
}

/* The first chunk is a lossy (VP8) or a lossless picture (VP8L), or describes the chunks that follow (VP8X).
 */
bool webp_peek(struct bytes input, struct peek *peek) {
    enum { HEAD = WEBP_FILE_HEADER + WEBP_CHUNK_HEADER };
    struct webp_file file = {0};
    if (input.size < HEAD) {
        return false;
    }
    const struct bytes data = {input.data + HEAD, input.size - HEAD};
    uint32_t tag = bytes_be32(input.data + WEBP_FILE_HEADER);
    bool lossy = tag == webp_tag("VP8 ") && read_lossy(data, &file);
    bool described = tag == webp_tag("VP8X") && data.size >= WEBP_VP8X_SIZE;
    bool known = lossy || described || (tag == webp_tag("VP8L") && read_lossless(data, &file));
    if (described) {
        file.frame_width = webp_le24(data.data + 4) + 1;
        file.frame_height = webp_le24(data.data + 7) + 1;
        file.alpha = data.data[0] & WEBP_ALPHA;
    }
    *peek = (struct peek){.width = file.frame_width,
                          .height = file.frame_height,
                          .depth = 8,
                          .channels = file.alpha ? 4 : 3,
                          .sampling = lossy ? 0x22 : 0};
    return known;
}
