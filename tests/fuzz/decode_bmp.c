/* SPDX-License-Identifier: MIT
 * A BMP file: probe, decode, encode in another format. */
#include "tests/fuzz/common/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_BMP);
    return 0;
}
