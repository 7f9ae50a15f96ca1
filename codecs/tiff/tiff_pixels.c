/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_pixels.h"

#include <string.h>

enum { CHUNK = 256 }; /* pixels that are unpacked at a time */

/* ---- samples ---- */

/* Samples of less than 8, and of 9 to 15 bits, begin at any bit; the first is the highest. */
static void unpack_bits(const uint8_t *row, unsigned bits, uint64_t first, unsigned stride, uint32_t count,
                        uint16_t *samples) {
    const uint32_t mask = (1u << bits) - 1, most = bits > 8 ? UINT16_MAX : UINT8_MAX;
    uint64_t at = first * bits;
    for (uint32_t i = 0; i < count; i++, at += (uint64_t)stride * bits) {
        const uint8_t *p = row + at / 8;
        const unsigned end = (unsigned)(at % 8) + bits; /* bits from p on */
        uint32_t word = (uint32_t)p[0] << 16 | (end > 8 ? (uint32_t)p[1] << 8 : 0) | (end > 16 ? p[2] : 0);
        uint32_t value = word >> (24 - end) & mask;
        samples[i] = (uint16_t)((value * most + mask / 2) / mask);
    }
}

static void unpack(const struct tiff_layout *layout, const uint8_t *row, uint64_t first, uint32_t count,
                   uint16_t *samples) {
    const unsigned stride = tiff_layout_stride(layout);
    if (layout->bits == 8) {
        for (uint32_t i = 0; i < count; i++) {
            samples[i] = row[first + (size_t)i * stride];
        }
    } else if (layout->bits == 16) { /* libtiff has put the bytes in the host's order */
        for (uint32_t i = 0; i < count; i++) {
            memcpy(&samples[i], row + 2 * (first + (size_t)i * stride), 2);
        }
    } else {
        unpack_bits(row, layout->bits, first, stride, count, samples);
    }
}

/* ---- channels of the picture ---- */

static uint32_t get(const struct image *image, const uint8_t *row, size_t at) {
    uint16_t deep;
    if (image->depth == 8) {
        return row[at];
    }
    memcpy(&deep, row + 2 * at, 2);
    return deep;
}

static void set(const struct image *image, uint8_t *row, size_t at, uint32_t value) {
    uint16_t deep = (uint16_t)value;
    if (image->depth == 8) {
        row[at] = (uint8_t)value;
    } else {
        memcpy(row + 2 * at, &deep, 2);
    }
}

static uint32_t most_of(const struct image *image) {
    return image->depth == 8 ? UINT8_MAX : UINT16_MAX;
}

static void store(const struct image *image, const uint16_t *samples, unsigned channel, bool inverted,
                  struct tiff_pixels_span span) {
    uint8_t *row = plane_row(&image->plane[0], span.y);
    const unsigned channels = image->plane[0].channels;
    const uint32_t flip = inverted ? most_of(image) : 0;
    for (uint32_t i = 0; i < span.count; i++) {
        set(image, row, (size_t)(span.x + i) * channels + channel, samples[i] ^ flip);
    }
}

static void store_palette(const struct tiff_pixels *pixels, const uint16_t *samples,
                          struct tiff_pixels_span span) {
    const unsigned channels = pixels->image->plane[0].channels, bits = pixels->layout->bits;
    uint8_t *row = plane_row(&pixels->image->plane[0], span.y) + (size_t)span.x * channels;
    const uint32_t mask = (1u << bits) - 1;
    for (uint32_t i = 0; i < span.count; i++, row += channels) {
        memcpy(row, pixels->palette[(samples[i] * mask + UINT8_MAX / 2) / UINT8_MAX], 3);
    }
}

/* The colours are paper without the other inks; black takes its part of each (as codecs/jpeg does). */
static void darken(const struct image *image, const uint16_t *samples, struct tiff_pixels_span span) {
    uint8_t *row = plane_row(&image->plane[0], span.y);
    const unsigned channels = image->plane[0].channels;
    const uint32_t most = most_of(image);
    for (uint32_t i = 0; i < span.count; i++) {
        for (unsigned c = 0; c < 3; c++) {
            size_t at = (size_t)(span.x + i) * channels + c;
            set(image, row, at, (get(image, row, at) * (most - samples[i]) + most / 2) / most);
        }
    }
}

static void place(const struct tiff_pixels *pixels, unsigned sample, const uint16_t *samples,
                  struct tiff_pixels_span span) {
    const struct tiff_layout *layout = pixels->layout;
    const struct image *image = pixels->image;
    if (sample == layout->alpha) {
        store(image, samples, image->plane[0].channels - 1u, false, span);
    } else if (sample >= tiff_layout_inks(layout)) {
        return; /* its meaning is unknown */
    } else if (layout->colours == TIFF_PALETTE) {
        store_palette(pixels, samples, span);
    } else if (layout->colours == TIFF_INKS && sample == 3) {
        darken(image, samples, span);
    } else {
        bool inverted = layout->colours == TIFF_WHITE_IS_ZERO || layout->colours == TIFF_INKS;
        store(image, samples, sample, inverted, span);
    }
}

void tiff_pixels_put(const struct tiff_pixels *pixels, const uint8_t *row, unsigned plane,
                     struct tiff_pixels_span span) {
    const struct tiff_layout *layout = pixels->layout;
    const unsigned stride = tiff_layout_stride(layout);
    uint16_t samples[CHUNK];
    if (pixels->plain) {
        size_t pixel = (size_t)stride * pixels->image->depth / 8;
        memcpy(plane_row(&pixels->image->plane[0], span.y) + span.x * pixel, row, span.count * pixel);
        return;
    }
    for (uint32_t done = 0; done < span.count; done += CHUNK) {
        uint32_t left = span.count - done;
        struct tiff_pixels_span part = {span.x + done, span.y, left < CHUNK ? left : CHUNK};
        for (unsigned s = 0; s < stride; s++) {
            unpack(layout, row, (uint64_t)done * stride + s, part.count, samples);
            place(pixels, layout->separate ? plane : s, samples, part);
        }
    }
}

/* ---- YCbCr ---- */

void tiff_pixels_put_blocks(const struct tiff_pixels *pixels, const uint8_t *data, uint32_t from_x,
                            uint32_t from_y) {
    const struct tiff_layout *layout = pixels->layout;
    const struct plane *plane = &pixels->image->plane[0];
    const unsigned wide = layout->halving_x, high = layout->halving_y;
    for (uint32_t y = 0; y < layout->piece_height && from_y + y < layout->height; y += high) {
        for (uint32_t x = 0; x < layout->piece_width; x += wide, data += wide * high + 2) {
            for (unsigned i = 0; i < wide * high; i++) {
                uint32_t across = from_x + x + i % wide, down = from_y + y + i / wide;
                if (across < layout->width && down < layout->height && y + i / wide < layout->piece_height &&
                    x + i % wide < layout->piece_width) {
                    uint8_t *pixel = plane_row(plane, down) + (size_t)across * plane->channels;
                    pixel[0] = data[i];
                    memcpy(pixel + 1, data + wide * high, 2);
                }
            }
        }
    }
}

static uint8_t clamped(int32_t value) {
    value >>= 16;
    return value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : (uint8_t)value;
}

static void convert(const struct tiff_pixels *pixels, struct tiff_pixels_span span) {
    const struct plane *plane = &pixels->image->plane[0];
    uint8_t *p = plane_row(plane, span.y) + (size_t)span.x * plane->channels;
    for (uint32_t i = 0; i < span.count; i++, p += plane->channels) {
        int32_t luma = pixels->luma[p[0]];
        unsigned cb = p[1], cr = p[2];
        p[0] = clamped(luma + pixels->red[cr]);
        p[1] = clamped(luma + pixels->green_of_red[cr] + pixels->green_of_blue[cb]);
        p[2] = clamped(luma + pixels->blue[cb]);
    }
}

static double ratio_of(const struct tiff_layout *layout, uint16_t tag, unsigned index, double otherwise) {
    uint32_t ratio[2];
    if (!tiff_directory_ratio(&layout->directory, tag, index, ratio)) {
        return otherwise;
    }
    return ratio[1] > 0 ? (double)ratio[0] / ratio[1] : -1;
}

static int32_t fixed(double value) {
    const double most = 16000; /* so that three fit into 32 bits */
    return (int32_t)((value < -most ? -most : value > most ? most : value) * 65536);
}

/* TIFF 6.0, section 21. */
static enum status prepare_ycbcr(struct tiff_pixels *pixels, struct error *err) {
    static const double weights[] = {0.299, 0.587, 0.114}, usual[] = {0, 255, 128, 255, 128, 255};
    double weight[3], range[6];
    for (unsigned i = 0; i < 3; i++) {
        weight[i] = ratio_of(pixels->layout, TIFF_TAG_LUMA, i, weights[i]);
    }
    for (unsigned i = 0; i < 6; i++) {
        range[i] = ratio_of(pixels->layout, TIFF_TAG_REFERENCE_BLACK_WHITE, i, usual[i]);
    }
    double sum = weight[0] + weight[1] + weight[2];
    bool valid = weight[0] > 0 && weight[1] > 0 && weight[2] > 0 && sum > 0.99 && sum < 1.01 &&
                 range[0] >= 0 && range[2] >= 0 && range[4] >= 0 && range[1] > range[0] &&
                 range[3] > range[2] && range[5] > range[4];
    if (!valid) {
        return fail(err, ST_CORRUPT, "TIFF is damaged: its numbers for YCbCr are impossible");
    }
    double red = 2 - 2 * weight[0], blue = 2 - 2 * weight[2];
    for (int i = 0; i < 256; i++) {
        double cb = (i - range[2]) * 127 / (range[3] - range[2]),
               cr = (i - range[4]) * 127 / (range[5] - range[4]);
        pixels->luma[i] = fixed((i - range[0]) * 255 / (range[1] - range[0]) + 0.5);
        pixels->red[i] = fixed(red * cr);
        pixels->blue[i] = fixed(blue * cb);
        pixels->green_of_red[i] = fixed(-red * weight[0] / weight[1] * cr);
        pixels->green_of_blue[i] = fixed(-blue * weight[2] / weight[1] * cb);
    }
    return ST_OK;
}

/* ---- alpha ---- */

static void divide(const struct image *image, struct tiff_pixels_span span) {
    uint8_t *row = plane_row(&image->plane[0], span.y);
    const unsigned channels = image->plane[0].channels;
    const uint32_t most = most_of(image);
    for (uint32_t i = 0; i < span.count; i++) {
        size_t at = (size_t)(span.x + i) * channels;
        uint32_t alpha = get(image, row, at + channels - 1);
        for (unsigned c = 0; c + 1 < channels; c++) {
            uint32_t value = get(image, row, at + c);
            value = value >= alpha ? (alpha > 0 ? most : 0) : (value * most + alpha / 2) / alpha;
            set(image, row, at + c, value);
        }
    }
}

void tiff_pixels_complete(const struct tiff_pixels *pixels, struct tiff_pixels_span span) {
    if (pixels->layout->colours == TIFF_YCBCR && !tiff_layout_is_converted(pixels->layout)) {
        convert(pixels, span);
    }
    if (pixels->layout->associated) {
        divide(pixels->image, span);
    }
}

/* ---- start ---- */

/* Old programs wrote palettes of 8 bits. */
static void prepare_palette(struct tiff_pixels *pixels) {
    const struct tiff_layout *layout = pixels->layout;
    const uint32_t colours = 1u << layout->bits;
    const struct tiff_directory_entry entry = {.type = 3, .value = layout->palette};
    uint64_t largest = 0;
    for (uint32_t i = 0; i < 3 * colours; i++) {
        uint64_t value = tiff_directory_number(&layout->directory, &entry, i);
        largest = value > largest ? value : largest;
    }
    for (uint32_t i = 0; i < 3 * colours; i++) {
        uint64_t value = tiff_directory_number(&layout->directory, &entry, i);
        pixels->palette[i % colours][i / colours] =
            (uint8_t)(largest > UINT8_MAX ? (value + 128) / 257 : value);
    }
}

enum status tiff_pixels_start(struct tiff_pixels *pixels, const struct tiff_layout *layout,
                              const struct image *image, struct error *err) {
    *pixels = (struct tiff_pixels){.layout = layout, .image = image};
    bool copied = layout->colours == TIFF_BLACK_IS_ZERO || layout->colours == TIFF_RGB ||
                  tiff_layout_is_converted(layout);
    pixels->plain = copied && layout->bits == image->depth && !layout->separate &&
                    layout->samples == image->plane[0].channels;
    if (layout->colours == TIFF_PALETTE) {
        prepare_palette(pixels);
    }
    return layout->colours == TIFF_YCBCR && !tiff_layout_is_converted(layout) ? prepare_ycbcr(pixels, err)
                                                                              : ST_OK;
}
