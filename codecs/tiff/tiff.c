/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_codec.h"

/* TIFF and BigTIFF, in both orders of bytes. */
static bool sniff(struct bytes input) {
    static const char signatures[][5] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    bool found = false;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++) {
        found = found || (input.size >= 4 && memcmp(input.data, signatures[i], 4) == 0);
    }
    return found;
}

const struct codec codec_tiff = {
    .name = "tiff",
    .title = "TIFF",
    .mime = "image/tiff",
    .signature = {"II*\0", 4},
    .library = "libtiff",
    .sniff = sniff,
    .isolated = true,
    .pages = true,
#ifdef LIBTIFF
    .reach = REACH_BEFORE, /* of JPEG and WebP in it; picture->exact tells of all others that they have no
                              losses */
    .open = tiff_codec_open,
    .decode_ns = {{5, 2}}, /* 12 ms for 1920x1080 without compression, 30 by LZW with 7.8 MB */
    .peek = tiff_codec_peek,
    .probe = tiff_codec_probe,
    .decode = tiff_codec_decode,
    .decode_bytes = tiff_codec_decode_bytes,
#endif
};
