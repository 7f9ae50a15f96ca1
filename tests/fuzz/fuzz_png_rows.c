/* SPDX-License-Identifier: MIT
 * Any bytes as the filtered rows of a picture of any kind: good checksums, bad filters, too few rows or
 * too many, data in pieces, palettes that lack colours, transparent colours. */
#include "tests/fuzz/png.h"

enum { SETTINGS = 8, FILE_MAX = 1 << 24, PALETTE = 3 };

/* Settings, then rows; the palette and the transparency are the first bytes of these. */
struct settings {
    uint8_t kind;
    uint8_t piece; /* bytes of an IDAT */
    uint8_t width;
    uint8_t more;  /* rows that are missing */
    uint8_t parts; /* bits: part of a row at the end, tRNS */
    uint8_t level;
    uint8_t colours;
    uint8_t alphas;
};

static void put_colours(struct buf *file, const struct settings *settings, uint8_t type, struct bytes rows) {
    static const uint8_t sizes[7] = {2, 0, 6, 0, 0, 0, 0};
    const size_t palette = 3 * ((size_t)settings->colours + 1);
    const size_t clear = type == PALETTE ? settings->alphas : sizes[type];
    if (type == PALETTE && palette <= rows.size) {
        fuzz_chunk(file, "PLTE", rows.data, palette);
    }
    if (settings->parts & 2 && clear <= rows.size) {
        fuzz_chunk(file, "tRNS", rows.data, clear);
    }
}

static void put_rows(struct buf *file, const struct settings *settings, struct bytes rows) {
    const size_t piece = settings->piece * 16u + 1;
    uLongf size = compressBound(rows.size);
    uint8_t *packed = malloc(size);
    fuzz_expect(packed && compress2(packed, &size, rows.data, rows.size, settings->level % 10) == Z_OK);
    for (size_t at = 0; at < size; at += piece) {
        fuzz_chunk(file, "IDAT", packed + at, size - at < piece ? size - at : piece);
    }
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t kinds[][2] = {{0, 8}, {4, 8}, {2, 8}, {6, 8}, {0, 16}, {4, 16}, {2, 16}, {6, 16},
                                       {0, 1}, {0, 2}, {0, 4}, {3, 1}, {3, 2},  {3, 4},  {3, 8}};
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    struct settings settings;
    if (size < SETTINGS) {
        return 0;
    }
    memcpy(&settings, data, SETTINGS);
    const uint8_t *kind = kinds[settings.kind % (sizeof(kinds) / sizeof(*kinds))];
    const uint32_t width = settings.width % 64 + 1;
    const size_t line = 1 + (width * channels[kind[0]] * kind[1] + 7) / 8;
    struct bytes rows = {data + SETTINGS, size - SETTINGS};
    uint8_t header[13] = {[8] = kind[1], [9] = kind[0]};
    bytes_put_be32(header, width);
    bytes_put_be32(header + 4, (uint32_t)(rows.size / line) + settings.more % 2);
    if (!(settings.parts & 1)) {
        rows.size = rows.size / line * line; /* whole rows, the usual case */
    }
    struct buf file;
    buf_init(&file, FILE_MAX);
    fuzz_expect(buf_append(&file, "\x89PNG\r\n\x1A\n", 8, NULL) == ST_OK);
    fuzz_chunk(&file, "IHDR", header, sizeof(header));
    put_colours(&file, &settings, kind[0], rows);
    put_rows(&file, &settings, rows);
    fuzz_compare(buf_bytes(&file));
    buf_finish(&file);
    return 0;
}
