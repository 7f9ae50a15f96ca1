/* SPDX-License-Identifier: MIT */
#include "codecs/peek.h"

bool peek_header(struct bytes input, struct peek *peek) {
    enum codec_id id;
    const struct codec *codec = codec_find(input, &id) ? codec_get(id) : NULL;
    bool known = codec && codec->peek && codec->peek(input, peek) && peek->width > 0 && peek->height > 0;
    if (known) {
        peek->codec = id;
    }
    return known;
}

bool peek_is_possible(const struct peek *peek, uint64_t bytes, const struct codec_limits *limits) {
    uint32_t most = codec_get(peek->codec)->byte_pixels;
    uint64_t pixels = (uint64_t)peek->width * peek->height;
    return peek->width <= limits->max_side && peek->height <= limits->max_side &&
           pixels <= limits->max_pixels && (most == 0 || pixels <= bytes * most);
}
