/* SPDX-License-Identifier: MIT
 * A JPEG XL file: look, probe, decode, encode. */
#include "tests/fuzz/common/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_JXL);
    return 0;
}
