/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl.h"

#include <string.h>

#include "codecs/metadata/losses.h"

/* A file is a container of boxes, or the codestream alone. */
#define CONTAINER "\0\0\0\x0CJXL \r\n\x87\n"
#define CODESTREAM "\xFF\x0A"

enum { CONTAINER_SIZE = sizeof CONTAINER - 1, CODESTREAM_SIZE = sizeof CODESTREAM - 1 };

static bool sniff(struct bytes input) {
    return (input.size >= CONTAINER_SIZE && memcmp(input.data, CONTAINER, CONTAINER_SIZE) == 0) ||
           (input.size >= CODESTREAM_SIZE && memcmp(input.data, CODESTREAM, CODESTREAM_SIZE) == 0);
}

const struct codec codec_jxl = {
    .name = "jxl",
    .title = "JPEG XL",
    .mime = "image/jxl",
    .signature = {CONTAINER, CONTAINER_SIZE},
    .library = "libjxl",
    .sniff = sniff,
    .isolated = true,
    .turns = true,
#ifdef LIBJXL
    .reach = REACH_BEFORE,
    .lossless = true,
    .subsamples = true,
    .holds = LOSS_EXIF | LOSS_XMP | LOSS_COLOUR,
    .colours = COLOURS_CODES,
    .rank = 3,
    .open = jxl_open,
    .decode_ns = {{30, 60}}, /* 25 to 30 ms/MP with losses, 45 to 215 without */
    .peek = jxl_peek,
    .frames = &jxl_frames,
    .probe = jxl_probe,
    .decode = jxl_decode,
    .encode = jxl_encode,
    .repack = jxl_repack,
    .encode_cost = jxl_encode_cost,
    .encode_bytes = jxl_encode_bytes,
    .decode_bytes = jxl_decode_bytes,
#endif
};
