/* SPDX-License-Identifier: MIT */
#include "codecs/webp/webp.h"

#include <string.h>

#include "codecs/peek.h"

#ifdef LIBWEBP
static uint32_t read_le24(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* The first chunk is a lossy (VP8) or a lossless picture (VP8L), or describes the chunks that follow (VP8X).
 */
static bool webp_peek(struct bytes input, struct peek *peek) {
    enum { RIFF = 12, CHUNK = RIFF + 8, SIDE = 0x3FFF, ALPHA = 0x10 };
    bool lossless = input.size >= CHUNK + 5 && memcmp(input.data + RIFF, "VP8L", 4) == 0;
    const uint8_t *at = input.data + CHUNK;
    if (!lossless && input.size < CHUNK + 10) {
        return false;
    }
    *peek = (struct peek){.depth = 8, .channels = 3};
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
#endif

const struct codec codec_webp = {
    .name = "webp",
    .title = "WebP",
    .mime = "image/webp",
    .isolated = true,
    .signature = {"RIFF????WEBP", 12},
    .library = "libwebp",
#ifdef LIBWEBP
    .reach = REACH_BEFORE,
    .exact = true,
    .planes = true,
    .lossless = true,
    .rank = 1,
    .effort = 3, /* half as long again as 1, and a fifth fewer bytes (bench/results/formats.md) */
    .effort_pixels = UINT32_MAX,
    .side_max = 16383,
    .open = webp_open,
    .decode_ns = {{4, 20}}, /* 5 ms for 1024x631 with 125 KB */
    .encode_cost = webp_encode_cost,
    .peek = webp_peek,
    .probe = webp_probe,
    .decode = webp_decode,
    .encode = webp_encode,
    .decode_bytes = webp_decode_bytes,
    .encode_bytes = webp_encode_bytes,
#endif
};
