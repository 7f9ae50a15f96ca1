/* SPDX-License-Identifier: MIT */
#include "codecs/bmp/bmp_codec.h"
#include "codecs/bmp/bmp_header.h"
#include "codecs/peek.h"

enum { FILE_HEADER = 14, CORE = 12, INFO = 16, LONGEST = 1 << 10 };

/* Texts begin with these two letters, too: the size of the next header must be possible. */
static bool sniff(struct bytes input) {
    if (input.size < 2 || memcmp(input.data, "BM", 2) != 0) {
        return false;
    }
    uint32_t size = input.size >= FILE_HEADER + 4 ? bmp_header_32(input.data + FILE_HEADER) : CORE;
    return size >= CORE && size <= LONGEST;
}

static bool peek_at(struct bytes input, struct peek *peek) {
    if (input.size < FILE_HEADER + INFO) {
        return false;
    }
    const uint8_t *p = input.data + FILE_HEADER;
    bool core = bmp_header_32(p) == CORE;
    uint32_t height = core ? bmp_header_16(p + 6) : bmp_header_32(p + 8);
    *peek = (struct peek){
        .width = core ? bmp_header_16(p + 4) : bmp_header_32(p + 4),
        .height = height > INT32_MAX ? 0u - height : height,
        .channels = 3,
        .depth = 8,
    };
    return true;
}

static size_t decode_bytes(const struct picture *picture, size_t input) {
    (void)picture, (void)input;
    return 0;
}

const struct codec codec_bmp = {
    .name = "bmp",
    .title = "BMP",
    .mime = "image/bmp",
    .signature = {"BM", 2},
    .sniff = sniff,
    .reach = REACH_PIXEL,
    .decode_ns = {{2, 0.3F}},
    .peek = peek_at,
    .probe = bmp_codec_probe,
    .decode = bmp_codec_decode,
    .decode_bytes = decode_bytes,
};
