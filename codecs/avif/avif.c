/* SPDX-License-Identifier: MIT */
#include "codecs/avif/avif.h"

#include "codecs/bmff/bmff.h"
#include "codecs/metadata/losses.h"

static bool sniff(struct bytes input) {
    return bmff_has_brand(input, "avif") || bmff_has_brand(input, "avis");
}

const struct codec codec_avif = {
    .name = "avif",
    .title = "AVIF",
    .mime = "image/avif",
    .signature = BMFF_SIGNATURE,
    .library = "libavif",
    .sniff = sniff,
    .isolated = true,
    .turns = true,
#ifdef LIBAVIF
    .reach = REACH_BEFORE,
    .planes = true,
    .subsamples = true,
    .holds = LOSS_EXIF | LOSS_XMP | LOSS_COLOUR,
    .colours = COLOURS_CODES,
    .rank = 4,
    .quality = 60, /* the same number means less loss than in JPEG and WebP */
    .effort = 3,   /* three times as long as 1, and a fifth fewer bytes (bench/results/formats.md) */
    .effort_pixels = 4000000,
    .open = avif_open,
    .decode_ns = {{10, 28}}, /* 10 ms for 1024x631 with 119 KB */
    .encode_cost = avif_encode_cost,
    .peek = avif_peek,
    .frames = &avif_frames,
    .probe = avif_probe,
    .decode = avif_decode,
    .encode = avif_encode,
    .decode_bytes = avif_decode_bytes,
    .encode_bytes = avif_encode_bytes,
#endif
};
