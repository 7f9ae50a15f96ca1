/* SPDX-License-Identifier: MIT */
#include "codecs/bmp/bmp_header.h"

#include <inttypes.h>
#include <string.h>

#include "codecs/limits.h"

enum { FILE_HEADER = 14, DATA_OFFSET = 10 };
enum { CORE = 12, OS2_SHORT = 16, INFO = 40, WITH_MASKS = 52, WITH_ALPHA = 56, OS2 = 64, LONGEST = 124 };
enum { CODING_JPEG = 4, CODING_PNG = 5, CODING_ALPHA_MASKS = 6, CODING_CMYK = 11, CODING_CMYK_LAST = 13 };
enum { AT_WIDTH = 4, AT_HEIGHT = 8, AT_BITS = 14, AT_CODING = 16, AT_COLOURS = 32, AT_MASKS = 40 };

static enum status fail_short(size_t size, struct error *err) {
    return fail(err, ST_CORRUPT, "BMP is cut short: its %zu bytes end within its header", size);
}

static enum status find_form(struct bytes input, struct bmp_header *header, struct error *err) {
    if (input.size < FILE_HEADER + 4) {
        return fail_short(input.size, err);
    }
    uint32_t size = bmp_header_32(input.data + FILE_HEADER);
    if (size > input.size - FILE_HEADER) {
        return size > LONGEST
                   ? fail(err, ST_UNSUPPORTED, "BMP has an unknown header, of %" PRIu32 " bytes", size)
                   : fail_short(input.size, err);
    }
    bool known = size == CORE || size == INFO || size == WITH_MASKS || size == WITH_ALPHA || size == 108 ||
                 size == LONGEST || (size >= OS2_SHORT && size <= OS2 && size % 4 == 0);
    header->form = (struct bytes){input.data + FILE_HEADER, size};
    return known ? ST_OK : fail(err, ST_UNSUPPORTED, "BMP has an unknown header, of %" PRIu32 " bytes", size);
}

/* OS/2 cuts off what it needs not. */
static uint32_t field(const struct bmp_header *header, unsigned at) {
    return at + 4 <= header->form.size ? bmp_header_32(header->form.data + at) : 0;
}

static enum status read_size(struct bmp_header *header, const struct codec_limits *limits,
                             struct error *err) {
    const uint8_t *p = header->form.data;
    if (header->form.size == CORE) {
        header->width = bmp_header_16(p + AT_WIDTH);
        header->height = bmp_header_16(p + 6);
        header->bits = p[10];
        return limits_check_size(header->width, header->height, limits, err);
    }
    header->width = bmp_header_32(p + AT_WIDTH);
    header->height = bmp_header_32(p + AT_HEIGHT);
    header->bits = bmp_header_16(p + AT_BITS) <= 32 ? p[AT_BITS] : UINT8_MAX;
    header->top_down = header->height > INT32_MAX;
    header->height = header->top_down ? 0u - header->height : header->height;
    if (header->width > INT32_MAX) {
        return fail(err, ST_CORRUPT, "BMP is damaged: its width is negative");
    }
    return limits_check_size(header->width, header->height, limits, err);
}

static enum status check_coding(struct bmp_header *header, uint32_t coding, struct error *err) {
    static const char *const names[] = {
        [CODING_JPEG] = "a JPEG in a BMP", [CODING_PNG] = "a PNG in a BMP", [CODING_CMYK] = "CMYK",
        [CODING_CMYK + 1] = "CMYK",        [CODING_CMYK_LAST] = "CMYK",
    };
    const size_t size = header->form.size;
    bool windows = size == INFO || size == WITH_MASKS || size == WITH_ALPHA || size > OS2;
    bool os2 = !windows && coding > BMP_RLE4;
    const char *name = os2 ? "a compression of OS/2" : coding <= CODING_CMYK_LAST ? names[coding] : NULL;
    bool masks = coding == BMP_MASKS || coding == CODING_ALPHA_MASKS;
    if (name || (coding > BMP_MASKS && !masks)) {
        return fail(err, ST_UNSUPPORTED, "BMP has %s (compression %" PRIu32 "), which is not supported",
                    name ? name : "an unknown compression", coding);
    }
    const unsigned bits = header->bits;
    bool fits =
        coding == BMP_RLE8   ? bits == 8
        : coding == BMP_RLE4 ? bits == 4
        : masks              ? bits == 16 || bits == 32
                : bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
    header->coding = masks ? BMP_MASKS : (enum bmp_header_coding)coding;
    return fits ? ST_OK
                : fail(err, ST_CORRUPT, "BMP is damaged: it has %u bits a pixel with compression %" PRIu32,
                       bits, coding);
}

static bool is_run(uint32_t mask) { /* of adjacent bits */
    uint32_t low = mask & (0u - mask);
    return (mask & (mask + low)) == 0;
}

/* Masks stand in the header, or behind one of 40 bytes. *end moves behind them. */
static enum status read_masks(struct bytes input, struct bmp_header *header, size_t *end, struct error *err) {
    static const uint32_t usual[2][BMP_HEADER_CHANNELS] = {{0x7C00, 0x3E0, 0x1F, 0},
                                                           {0xFF0000, 0xFF00, 0xFF, 0}};
    memcpy(header->mask, usual[header->bits != 16], sizeof(header->mask));
    if (header->coding != BMP_MASKS) {
        return ST_OK;
    }
    const size_t size = header->form.size;
    bool four = size == INFO ? field(header, AT_CODING) == CODING_ALPHA_MASKS : size >= WITH_ALPHA;
    const unsigned count = four ? 4 : 3;
    *end += size == INFO ? count * 4u : 0;
    if (*end > input.size) {
        return fail_short(input.size, err);
    }
    uint32_t all = 0;
    bool sound = true;
    for (unsigned i = 0; i < BMP_HEADER_CHANNELS; i++) {
        header->mask[i] = i < count ? bmp_header_32(input.data + FILE_HEADER + AT_MASKS + 4 * (size_t)i) : 0;
        sound = sound && is_run(header->mask[i]) && (all & header->mask[i]) == 0;
        all |= header->mask[i];
    }
    return sound && all != 0 && (header->bits == 32 || all <= UINT16_MAX)
               ? ST_OK
               : fail(err, ST_CORRUPT, "BMP is damaged: its masks are no bits of a pixel, or overlap");
}

/* Some files have fewer colours than they say, up to the data. */
static enum status read_palette(struct bytes input, struct bmp_header *header, size_t at, size_t data,
                                struct error *err) {
    const unsigned unit = header->form.size == CORE ? 3 : 4;
    uint32_t most = 1u << header->bits, stated = field(header, AT_COLOURS);
    uint32_t colours = stated > 0 && stated < most ? stated : most;
    size_t room = (data > at ? data : input.size) - at;
    colours = colours < room / unit ? colours : (uint32_t)(room / unit);
    for (uint32_t i = 0; i < colours; i++) {
        const uint8_t *p = input.data + at + (size_t)i * unit;
        header->palette[i][0] = p[2], header->palette[i][1] = p[1], header->palette[i][2] = p[0];
    }
    header->colours = (uint16_t)colours;
    return colours > 0 ? ST_OK : fail(err, ST_CORRUPT, "BMP is damaged or cut short: it lacks its palette");
}

size_t bmp_header_row(const struct bmp_header *header) {
    return ((size_t)header->width * header->bits + 31) / 32 * 4;
}

/* The last row need not be filled. */
static enum status find_data(struct bytes input, struct bmp_header *header, size_t at, struct error *err) {
    if (at < FILE_HEADER + header->form.size || at >= input.size) {
        return fail(err, ST_CORRUPT,
                    "BMP is damaged or cut short: its pixels begin with byte %zu, and it has %zu bytes", at,
                    input.size);
    }
    header->data = (struct bytes){input.data + at, input.size - at};
    bool runs = header->coding == BMP_RLE8 || header->coding == BMP_RLE4;
    uint64_t last = ((uint64_t)header->width * header->bits + 7) / 8;
    uint64_t needed = runs ? 1 : (uint64_t)bmp_header_row(header) * (header->height - 1) + last;
    return header->data.size >= needed
               ? ST_OK
               : fail(err, ST_CORRUPT,
                      "BMP is cut short: its pixels take %" PRIu64 " bytes, and %zu are there", needed,
                      header->data.size);
}

enum status bmp_header_read(struct bytes input, const struct codec_limits *limits, struct bmp_header *header,
                            struct error *err) {
    *header = (struct bmp_header){0};
    enum status status = find_form(input, header, err);
    status = status == ST_OK ? read_size(header, limits, err) : status;
    uint32_t coding = status == ST_OK ? field(header, AT_CODING) : 0;
    status = status == ST_OK ? check_coding(header, header->form.size == CORE ? 0 : coding, err) : status;
    size_t end = FILE_HEADER + header->form.size;
    status = status == ST_OK ? read_masks(input, header, &end, err) : status;
    size_t data = status == ST_OK ? bmp_header_32(input.data + DATA_OFFSET) : 0;
    data = status == ST_OK && data > input.size ? input.size : data;
    if (status == ST_OK && header->bits <= 8) {
        status = read_palette(input, header, end, data, err);
    }
    return status == ST_OK ? find_data(input, header, bmp_header_32(input.data + DATA_OFFSET), err) : status;
}

struct image_shape bmp_header_shape(const struct bmp_header *header) {
    return (struct image_shape){.model = header->mask[3] ? PIXEL_RGBA : PIXEL_RGB,
                                .depth = 8,
                                .width = header->width,
                                .height = header->height};
}
