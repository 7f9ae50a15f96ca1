/* SPDX-License-Identifier: MIT
 * A PNG file: probe, decode in both shapes, encode. */
#include "tests/fuzz/common/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_PNG);
    return 0;
}
