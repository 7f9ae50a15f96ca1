/* SPDX-License-Identifier: MIT
 * An AVIF file: probe, decode in both shapes, encode. */
#include "tests/fuzz/common/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_AVIF);
    return 0;
}
