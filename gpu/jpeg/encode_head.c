/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/encode_head.h"

#include <string.h>

enum { LENGTHS = 16, VALUES_MAX = 162, QUANTISER_MAX = 255 };

/* ISO 10918-1, K.1 and K.2: row by row, for quality 50. */
static const uint8_t standard_quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS] = {
    {16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
     69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
     81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
     99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

/* ISO 10918-1, K.3 to K.6, in the order of their markers. */
static const struct huffman {
    uint8_t id;             /* as in DHT: 0x10 for AC, plus the table's number */
    uint8_t count[LENGTHS]; /* of codes of 1 to 16 bits */
    uint8_t size;           /* their sum */
    uint8_t value[VALUES_MAX];
} standard_huffman[2 * KERNEL_ENCODE_TABLES] = {
    {0x00,
     {0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
     12,
     {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}},
    {0x10,
     {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
     162,
     {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22,
      0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33,
      0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34,
      0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55,
      0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76,
      0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96,
      0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5,
      0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4,
      0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1,
      0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}},
    {0x01,
     {0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0},
     12,
     {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}},
    {0x11,
     {0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
     162,
     {0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13,
      0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62,
      0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29,
      0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54,
      0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75,
      0x76, 0x77, 0x78, 0x79, 0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94,
      0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3,
      0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2,
      0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea,
      0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}},
};

void gpu_encode_head_zigzag(uint8_t place[KERNEL_ENCODE_COEFFICIENTS]) {
    uint8_t next = 0;
    for (int sum = 0; sum <= 2 * (KERNEL_ENCODE_SIDE - 1); sum++) {
        for (int i = 0; i <= sum; i++) {
            int y = sum % 2 ? i : sum - i, x = sum - y;
            if (x < KERNEL_ENCODE_SIDE && y < KERNEL_ENCODE_SIDE) {
                place[y * KERNEL_ENCODE_SIDE + x] = next++;
            }
        }
    }
}

void gpu_encode_head_quantisers(uint8_t quality,
                                uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS]) {
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int table = 0; table < KERNEL_ENCODE_TABLES; table++) {
        for (int k = 0; k < KERNEL_ENCODE_COEFFICIENTS; k++) {
            int value = (standard_quantiser[table][k] * percent + 50) / 100;
            quantiser[table][k] = (uint16_t)(value < 1 ? 1 : value > QUANTISER_MAX ? QUANTISER_MAX : value);
        }
    }
}

/* Codes of one length count up; the next length appends a bit. */
static void make_codes(const struct huffman *huffman, uint32_t *codes) {
    uint32_t code = 0, next = 0;
    for (uint32_t length = 1; length <= LENGTHS; length++) {
        for (int i = 0; i < huffman->count[length - 1]; i++) {
            codes[huffman->value[next++]] = length << KERNEL_ENCODE_CODE_BITS | code++;
        }
        code <<= 1;
    }
}

void gpu_encode_head_codes(struct encode_tables *tables) {
    memset(tables, 0, sizeof *tables);
    for (int table = 0; table < KERNEL_ENCODE_TABLES; table++) {
        make_codes(&standard_huffman[2 * table], tables->dc[table]);
        make_codes(&standard_huffman[2 * table + 1], tables->ac[table]);
    }
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t size) {
    memcpy(to, bytes, size);
    return to + size;
}

static uint8_t *put_marker(uint8_t *to, uint8_t marker, size_t size) {
    return put(to, (uint8_t[]){0xff, marker, (uint8_t)(size >> 8), (uint8_t)size}, 4);
}

static uint8_t *put_quantiser(uint8_t *to, uint8_t id, const uint16_t *quantiser) {
    uint8_t place[KERNEL_ENCODE_COEFFICIENTS];
    gpu_encode_head_zigzag(place);
    to = put_marker(to, 0xdb, 3 + sizeof place);
    *to++ = id;
    for (int k = 0; k < KERNEL_ENCODE_COEFFICIENTS; k++) {
        to[place[k]] = (uint8_t)quantiser[k];
    }
    return to + KERNEL_ENCODE_COEFFICIENTS;
}

static uint8_t *put_frame(uint8_t *to, const struct image *image) {
    to = put_marker(to, 0xc0, 8 + 3 * (size_t)image->plane_count);
    to = put(to,
             (uint8_t[]){8, (uint8_t)(image->height >> 8), (uint8_t)image->height,
                         (uint8_t)(image->width >> 8), (uint8_t)image->width, image->plane_count},
             6);
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    for (uint8_t i = 0; i < image->plane_count; i++) {
        uint8_t factors = (uint8_t)(i > 0 ? 0x11 : 0x10 << reduced->shift_x | 1 << reduced->shift_y);
        to = put(to, (uint8_t[]){(uint8_t)(i + 1), factors, i > 0}, 3);
    }
    return to;
}

static uint8_t *put_huffman(uint8_t *to, const struct huffman *huffman) {
    to = put_marker(to, 0xc4, 3 + LENGTHS + (size_t)huffman->size);
    *to++ = huffman->id;
    to = put(to, huffman->count, LENGTHS);
    return put(to, huffman->value, huffman->size);
}

static uint8_t *put_scan(uint8_t *to, uint8_t components) {
    to = put_marker(to, 0xda, 6 + 2 * (size_t)components);
    *to++ = components;
    for (uint8_t i = 0; i < components; i++) {
        to = put(to, (uint8_t[]){(uint8_t)(i + 1), i > 0 ? 0x11 : 0}, 2);
    }
    return put(to, (uint8_t[]){0, KERNEL_ENCODE_COEFFICIENTS - 1, 0}, 3);
}

uint32_t gpu_encode_head(const struct image *image,
                         const uint16_t quantiser[KERNEL_ENCODE_TABLES][KERNEL_ENCODE_COEFFICIENTS],
                         uint8_t head[KERNEL_ENCODE_HEAD]) {
    static const uint8_t jfif[] = {0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F',
                                   0,    1,    1,    0,    0, 1,  0,   1,   0,   0};
    uint8_t tables = image->plane_count > 1 ? 2 : 1;
    uint8_t *to = put(head, jfif, sizeof jfif);
    for (uint8_t i = 0; i < tables; i++) {
        to = put_quantiser(to, i, quantiser[i]);
    }
    to = put_frame(to, image);
    for (uint8_t i = 0; i < 2 * tables; i++) {
        to = put_huffman(to, &standard_huffman[i]);
    }
    return (uint32_t)(put_scan(to, image->plane_count) - head);
}
