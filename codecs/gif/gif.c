/* SPDX-License-Identifier: MIT */
#include "codecs/gif/gif.h"

/* A pixel of a photograph: 22 ms for its colours and 21 ms for its codes at 1920x1080. */
static struct encode_cost encode_cost(const struct encode_extent *extent,
                                      const struct encode_options *options) {
    (void)options;
    return (struct encode_cost){20 * extent->pixels, 0};
}

static bool sniff(struct bytes input) {
    return input.size >= 6 && (memcmp(input.data, "GIF87a", 6) == 0 || memcmp(input.data, "GIF89a", 6) == 0);
}

const struct codec codec_gif = {
    .name = "gif",
    .title = "GIF",
    .mime = "image/gif",
    .signature = {"GIF8?a", 6},
    .sniff = sniff,
    .reach = REACH_PIXEL,
    .familiar = true,
    .rank = 9,
    .side_max = UINT16_MAX,
    .decode_ns = {{4, 4}, {4, 4}},
    .encode_cost = encode_cost,
    .peek = gif_peek,
    .frames = &gif_frames,
    .probe = gif_probe,
    .decode = gif_decode,
    .encode = gif_encode,
    .decode_bytes = gif_decode_bytes,
    .encode_bytes = gif_encode_bytes,
};
