/* SPDX-License-Identifier: MIT
 * A WebP file: probe, decode in both shapes, encode. The last byte chooses how; with its lowest bit the
 * length in the file's header is corrected first, so that changes that lengthen or shorten the file come
 * further. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/decode.h"

enum { HEADER = 12 };

static void correct_length(uint8_t *file, size_t size) {
    size_t rest = size - 9; /* without the last byte */
    for (unsigned i = 0; i < 4; i++) {
        file[4 + i] = (uint8_t)(rest >> 8 * i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    fuzz_require(copy, "there is memory");
    memcpy(copy, data, size);
    if (size > HEADER && data[size - 1] & 1) {
        correct_length(copy, size);
    }
    fuzz_decode((struct bytes){copy, size}, CODEC_WEBP);
    free(copy);
    return 0;
}
