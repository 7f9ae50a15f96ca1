/* SPDX-License-Identifier: MIT
 * Any bytes as a PNG file, with correct checksums of its chunks, because files with wrong ones are refused
 * early. */
#include "tests/fuzz/png.h"

static void repair(uint8_t *data, size_t size) {
    for (size_t at = 8; size >= 8 && size - at >= 12;) {
        size_t length = bytes_be32(data + at);
        if (length > size - at - 12) {
            return;
        }
        bytes_put_be32(data + at + 8 + length, (uint32_t)crc32_z(0, data + at + 4, length + 4));
        at += length + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    fuzz_expect(copy != NULL);
    memcpy(copy, data, size);
    fuzz_compare((struct bytes){copy, size});
    repair(copy, size);
    fuzz_compare((struct bytes){copy, size});
    free(copy);
    return 0;
}
