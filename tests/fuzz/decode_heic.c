/* SPDX-License-Identifier: MIT
 * A HEIC file: probe, decode in both shapes, encode. */
#include "tests/fuzz/common/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_HEIC);
    return 0;
}
