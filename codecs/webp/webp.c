/* SPDX-License-Identifier: MIT */
#include "codecs/webp/webp.h"

#include "codecs/metadata/losses.h"

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
    .grey_as_rgb = true,
    .holds = LOSS_EXIF | LOSS_XMP | LOSS_COLOUR,
    .rank = 1,
    .effort = 3, /* half as long again as 1, and a fifth fewer bytes (bench/results/formats.md) */
    .effort_pixels = UINT32_MAX,
    .side_max = 16383,
    .open = webp_open,
    .decode_ns = {{4, 20}}, /* 5 ms for 1024x631 with 125 KB */
    .encode_cost = webp_encode_cost,
    .peek = webp_peek,
    .frames = &webp_frames,
    .probe = webp_probe,
    .decode = webp_decode,
    .encode = webp_encode,
    .decode_bytes = webp_decode_bytes,
    .encode_bytes = webp_encode_bytes,
#endif
};
