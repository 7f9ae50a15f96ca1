/* SPDX-License-Identifier: MIT */
#include "codecs/webp/webp.h"

#include <string.h>

static bool sniff(struct bytes input) {
    return input.size >= 12 && memcmp(input.data, "RIFF", 4) == 0 && memcmp(input.data + 8, "WEBP", 4) == 0;
}

const struct codec codec_webp = {
    .name = "webp",
    .title = "WebP",
    .mime = "image/webp",
    .isolated = true,
    .sniff = sniff,
#ifdef LIBWEBP
    .planes = true,
    .side_max = 16383,
    .open = webp_open,
    .probe = webp_probe,
    .decode = webp_decode,
    .encode = webp_encode,
    .decode_bytes = webp_decode_bytes,
    .encode_bytes = webp_encode_bytes,
#endif
};
