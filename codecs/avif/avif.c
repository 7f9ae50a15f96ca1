/* SPDX-License-Identifier: MIT */
#include "codecs/avif/avif.h"

#include "codecs/bmff/bmff.h"

static bool sniff(struct bytes input) {
    return bmff_has_brand(input, "avif") || bmff_has_brand(input, "avis");
}

const struct codec codec_avif = {
    .name = "avif",
    .title = "AVIF",
    .mime = "image/avif",
    .isolated = true,
    .turns = true,
    .sniff = sniff,
#ifdef LIBAVIF
    .planes = true,
    .open = avif_open,
    .probe = avif_probe,
    .decode = avif_decode,
    .encode = avif_encode,
    .decode_bytes = avif_decode_bytes,
    .encode_bytes = avif_encode_bytes,
#endif
};
