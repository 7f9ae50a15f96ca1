/* SPDX-License-Identifier: MIT
 * The headers of a BMP file: BITMAPCOREHEADER, those of OS/2 2.x, BITMAPINFOHEADER and its versions 2 to 5
 * ([MS-WMF] 2.2.2, and the pages of Windows GDI on BITMAPV5HEADER). The input is not trusted. Internal to
 * codecs/bmp. */
#ifndef BLURD_CODECS_BMP_BMP_HEADER_H
#define BLURD_CODECS_BMP_BMP_HEADER_H

#include "codecs/definition.h"

enum bmp_header_coding { BMP_PLAIN, BMP_RLE8, BMP_RLE4, BMP_MASKS };
enum { BMP_HEADER_CHANNELS = 4 }; /* red, green, blue, alpha */

struct bmp_header {
    uint32_t width, height;
    bool top_down; /* the first row of the file is the highest */
    uint8_t bits;  /* of a pixel: 1, 2, 4, 8 with a palette; 16, 24, 32 */
    enum bmp_header_coding coding;
    uint32_t mask[BMP_HEADER_CHANNELS]; /* bits of a pixel of 16 or 32 bits; alpha is 0 without one */
    uint8_t palette[256][3];            /* red, green, blue */
    uint16_t colours;                   /* in the palette */
    struct bytes data;                  /* from the first row to the end of the file */
    struct bytes form; /* the header behind that of the file, with its size, as it is stored */
};

/* Reads and checks them, and that plain rows lie in the file. ST_CORRUPT, ST_UNSUPPORTED or ST_LIMIT, each
 * with the reason. */
enum status bmp_header_read(struct bytes input, const struct codec_limits *limits, struct bmp_header *header,
                            struct error *err);

/* Bytes of a row that is not compressed, filled to a multiple of 4. */
size_t bmp_header_row(const struct bmp_header *header);

struct image_shape bmp_header_shape(const struct bmp_header *header);

/* Little-endian numbers. No bounds check. */
static inline uint32_t bmp_header_16(const uint8_t *p) {
    return (uint32_t)p[1] << 8 | p[0];
}
static inline uint32_t bmp_header_32(const uint8_t *p) {
    return bmp_header_16(p + 2) << 16 | bmp_header_16(p);
}

#endif
