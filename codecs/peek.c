/* SPDX-License-Identifier: MIT */
#include "codecs/peek.h"

#include <string.h>

#include "codecs/bmff/bmff.h"

enum { PNG_HEADER = 29, SEGMENTS_MAX = METADATA_MARKERS_MAX };

static bool peek_png(struct bytes input, struct peek *peek) {
    static const uint8_t channels[8] = {[0] = 1, [2] = 3, [3] = 3, [4] = 2, [6] = 4};
    if (input.size < PNG_HEADER || memcmp(input.data + 12, "IHDR", 4) != 0) {
        return false;
    }
    *peek = (struct peek){
        .codec = CODEC_PNG,
        .width = bytes_be32(input.data + 16),
        .height = bytes_be32(input.data + 20),
        .depth = input.data[24] == 16 ? 16 : 8,
        .channels = channels[input.data[25] & 7],
        .progressive = input.data[28] != 0,
    };
    return peek->channels > 0;
}

/* Sampling factors of the first component divided by another's; 0 when there is a remainder. */
static uint8_t ratio_of(uint8_t luma, uint8_t chroma) {
    unsigned h = chroma >> 4, v = chroma & 15;
    bool whole = h > 0 && v > 0 && (luma >> 4) % h == 0 && (luma & 15) % v == 0;
    return (uint8_t)(whole ? (luma >> 4) / h << 4 | (luma & 15) / v : 0);
}

/* `at` is the payload of a start-of-frame segment of `size` bytes. */
static bool read_frame(uint8_t marker, const uint8_t *at, size_t size, struct peek *peek) {
    if (size < 9 || at[5] < 1 || at[5] > 4) {
        return false;
    }
    *peek = (struct peek){
        .codec = CODEC_JPEG,
        .width = bytes_be16(at + 3),
        .height = bytes_be16(at + 1),
        .depth = 8,
        .channels = at[5],
        .sampling = at[5] == 3 && size >= 15 && at[10] == at[13] ? ratio_of(at[7], at[10]) : 0,
        .progressive = (marker & 3) == 2,
        .baseline = marker == 0xC0 && at[0] == 8 && (at[5] == 1 || at[5] == 3),
    };
    return true;
}

/* C4, C8 and CC lie in the range of frame markers but are none. */
static bool peek_jpeg(struct bytes input, struct peek *peek) {
    size_t at = 2;
    for (unsigned i = 0; i < SEGMENTS_MAX && input.size - at >= 4 && input.data[at] == 0xFF; i++) {
        uint8_t marker = input.data[at + 1];
        if (marker == 0xFF) {
            at++;
            continue;
        }
        size_t size = bytes_be16(input.data + at + 2);
        if (size < 2 || size > input.size - at - 2) {
            return false;
        }
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
            return read_frame(marker, input.data + at + 4, size - 2, peek);
        }
        at += 2 + size;
    }
    return false;
}

static uint32_t read_le24(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* The first chunk is a lossy (VP8) or a lossless picture (VP8L), or describes the chunks that follow (VP8X).
 */
static bool peek_webp(struct bytes input, struct peek *peek) {
    enum { RIFF = 12, CHUNK = RIFF + 8, SIDE = 0x3FFF, ALPHA = 0x10 };
    bool lossless = input.size >= CHUNK + 5 && memcmp(input.data + RIFF, "VP8L", 4) == 0;
    const uint8_t *at = input.data + CHUNK;
    if (!lossless && input.size < CHUNK + 10) {
        return false;
    }
    *peek = (struct peek){.codec = CODEC_WEBP, .depth = 8, .channels = 3};
    if (memcmp(input.data + RIFF, "VP8 ", 4) == 0) {
        peek->width = (at[6] | (uint32_t)at[7] << 8) & SIDE;
        peek->height = (at[8] | (uint32_t)at[9] << 8) & SIDE;
        peek->sampling = 0x22;
    } else if (lossless) {
        uint32_t bits = read_le24(at + 1) | (uint32_t)at[4] << 24;
        peek->width = (bits & SIDE) + 1;
        peek->height = (bits >> 14 & SIDE) + 1;
        peek->channels = bits >> 28 & 1 ? 4 : 3;
    } else if (memcmp(input.data + RIFF, "VP8X", 4) == 0) {
        peek->width = read_le24(at + 4) + 1;
        peek->height = read_le24(at + 7) + 1;
        peek->channels = at[0] & ALPHA ? 4 : 3;
    }
    return true;
}

/* An AVIF of 8 bits without alpha is taken for one of the usual 4:2:0. */
static bool peek_bmff(struct bytes input, enum codec_id codec, struct peek *peek) {
    struct bmff_facts facts;
    bool known = bmff_look(input, &facts);
    uint8_t channels = facts.alpha ? 4 : facts.channels == 1 ? 1 : 3;
    bool planes = codec == CODEC_AVIF && channels == 3 && !facts.deep;
    *peek = (struct peek){
        .codec = codec,
        .width = facts.width,
        .height = facts.height,
        .channels = channels,
        .depth = facts.deep ? 16 : 8,
        .sampling = planes ? 0x22 : 0,
    };
    return known;
}

static bool peek_avif(struct bytes input, struct peek *peek) {
    return peek_bmff(input, CODEC_AVIF, peek);
}

static bool peek_heic(struct bytes input, struct peek *peek) {
    return peek_bmff(input, CODEC_HEIC, peek);
}

bool peek_header(struct bytes input, struct peek *peek) {
    static bool (*const readers[CODEC_COUNT])(struct bytes, struct peek *) = {
        [CODEC_JPEG] = peek_jpeg, [CODEC_PNG] = peek_png,   [CODEC_WEBP] = peek_webp,
        [CODEC_AVIF] = peek_avif, [CODEC_HEIC] = peek_heic,
    };
    for (unsigned i = 0; i < CODEC_COUNT && input.size >= 4; i++) {
        if (readers[i] && codec_decodes((enum codec_id)i) && codec_get((enum codec_id)i)->sniff(input)) {
            return readers[i](input, peek) && peek->width > 0 && peek->height > 0;
        }
    }
    return false;
}

/* Deflate expands at most 1032 times, and a pixel has at least one bit. A JPEG block has at least one bit,
 * too. The other formats have no such limit. */
static uint64_t most_pixels(enum codec_id codec, uint64_t bytes) {
    return codec == CODEC_JPEG ? bytes * 8 * 64 : codec == CODEC_PNG ? bytes * 8 * 1032 : UINT64_MAX;
}

bool peek_is_possible(const struct peek *peek, uint64_t bytes, const struct codec_limits *limits) {
    uint64_t most = most_pixels(peek->codec, bytes);
    uint64_t pixels = (uint64_t)peek->width * peek->height;
    return peek->width <= limits->max_side && peek->height <= limits->max_side &&
           pixels <= limits->max_pixels && pixels <= most;
}
