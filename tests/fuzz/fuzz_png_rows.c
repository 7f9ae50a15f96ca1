/* SPDX-License-Identifier: MIT
 * Any bytes as the filtered rows of a picture of any kind: good checksums, bad filters, too few rows or
 * too many, data in pieces. */
#include "tests/fuzz/png.h"

enum { SETTINGS = 8, FILE_MAX = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t types[] = {0, 4, 2, 6}, channels[] = {1, 2, 3, 4};
    if (size < SETTINGS) {
        return 0;
    }
    unsigned kind = data[0] % 4, depth = data[0] & 4 ? 16 : 8, piece = data[1] * 16u + 1;
    uint32_t width = data[2] % 64 + 1;
    size_t line = 1 + width * channels[kind] * depth / 8, rows_size = size - SETTINGS;
    uint32_t height = (uint32_t)(rows_size / line) + data[3] % 2;
    uint8_t header[13] = {[8] = (uint8_t)depth, [9] = types[kind]};
    bytes_put_be32(header, width);
    bytes_put_be32(header + 4, height);
    if (!(data[4] & 1)) {
        rows_size = rows_size / line * line; /* whole rows, the usual case */
    }
    uLongf packed_size = compressBound(rows_size);
    uint8_t *packed = malloc(packed_size);
    fuzz_expect(packed && compress2(packed, &packed_size, data + SETTINGS, rows_size, data[5] % 10) == Z_OK);
    struct buf file;
    buf_init(&file, FILE_MAX);
    fuzz_expect(buf_append(&file, "\x89PNG\r\n\x1A\n", 8, NULL) == ST_OK);
    fuzz_chunk(&file, "IHDR", header, sizeof(header));
    for (size_t at = 0; at < packed_size; at += piece) {
        fuzz_chunk(&file, "IDAT", packed + at, packed_size - at < piece ? packed_size - at : piece);
    }
    fuzz_compare(buf_bytes(&file));
    buf_finish(&file);
    free(packed);
    return 0;
}
