/* SPDX-License-Identifier: MIT
 * A HEIC file: probe, decode in both shapes, encode. */
#include "tests/fuzz/common/decode.h"

/* libde265 leaves blocks as the memory was, so the codec has the C library fill all new memory. A sanitizer
 * has an allocator of its own, which fills a page of it unless it is told otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "max_malloc_fill_size=1073741824";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_decode((struct bytes){data, size}, CODEC_HEIC);
    return 0;
}
