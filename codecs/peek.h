/* SPDX-License-Identifier: MIT
 * Reads size and kind from a picture's header in about a microsecond, without the codec's library. For
 * estimates only: nothing is validated except that reads stay inside the input; codec_probe judges the
 * same bytes again. */
#ifndef BLURD_CODECS_PEEK_H
#define BLURD_CODECS_PEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/codec.h"

struct peek {
    enum codec_id codec;
    uint32_t width, height;
    uint8_t channels; /* 1 to 4; a palette counts as 3 */
    uint8_t depth;    /* bits a sample once decoded: 8 or 16 */
    uint8_t sampling; /* three planes: samples of the first for each of the others, horizontal << 4 |
                         vertical; 0: not a whole number, or another for each, or not planes */
    bool progressive; /* several scans or interlaced */
    bool baseline;    /* JPEG: the kind that GPUs decode (gpu/jpeg/jpeg_header.h), with 8 bits and 1 or 3
                         components */
};

/* False when the input does not begin like a picture that the build reads, with a size. Thread-safe. */
bool peek_header(struct bytes input, struct peek *peek);

/* Whether codec_probe may accept a file of `bytes` bytes with that header: its size is within the limits,
 * and the data can fill it. */
bool peek_is_possible(const struct peek *peek, uint64_t bytes, const struct codec_limits *limits);

#endif
