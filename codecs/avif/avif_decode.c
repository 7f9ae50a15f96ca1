/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_crop.h"
#include "codecs/avif/avif_reader.h"
#include "core/deadline.h"

enum { STORED_VALUES = 1 << 12 }; /* of a sample: libavif knows up to 12 bits */

static uint32_t stored_at(const uint8_t *row, uint32_t x, unsigned depth) {
    if (depth == 8) {
        return row[x];
    }
    uint16_t value;
    memcpy(&value, row + 2 * (size_t)x, 2);
    return value < STORED_VALUES ? value : STORED_VALUES - 1;
}

static void put_sample(uint8_t *row, size_t i, unsigned depth, uint16_t value) {
    if (depth == 8) {
        row[i] = (uint8_t)value;
    } else {
        memcpy(row + 2 * i, &value, 2);
    }
}

/* The sample of an image for each stored one, which counts from `zero` to zero + range. */
static void make_table(uint16_t table[STORED_VALUES], uint32_t zero, uint32_t range, unsigned depth) {
    uint32_t most = depth == 8 ? UINT8_MAX : UINT16_MAX;
    for (uint32_t v = 0; v < STORED_VALUES; v++) {
        uint32_t above = v < zero ? 0 : v - zero < range ? v - zero : range;
        table[v] = (uint16_t)((above * most + range / 2) / range);
    }
}

static void make_luma_table(uint16_t table[STORED_VALUES], const avifImage *stored, unsigned depth) {
    unsigned extra = stored->depth - 8;
    bool full = stored->yuvRange == AVIF_RANGE_FULL;
    make_table(table, full ? 0 : 16u << extra, full ? (1u << stored->depth) - 1 : 219u << extra, depth);
}

static uint16_t straight(uint16_t gray, uint16_t alpha, uint32_t most) {
    uint64_t value = alpha ? ((uint64_t)gray * most + alpha / 2) / alpha : 0;
    return (uint16_t)(value < most ? value : most);
}

/* libavif converts grey to RGB only, and its views of grey begin at even pixels only. */
static void copy_gray(const avifImage *stored, const avifCropRect *crop, const struct image *image) {
    const struct plane *plane = &image->plane[0];
    bool has_alpha = image->model == PIXEL_GRAY_ALPHA;
    uint16_t luma[STORED_VALUES], alphas[STORED_VALUES];
    make_luma_table(luma, stored, image->depth);
    make_table(alphas, 0, (1u << stored->depth) - 1, image->depth);
    for (uint32_t y = 0; y < image->height; y++) {
        size_t row = (size_t)crop->y + y;
        const uint8_t *from = stored->yuvPlanes[AVIF_CHAN_Y] + row * stored->yuvRowBytes[AVIF_CHAN_Y];
        const uint8_t *from_alpha = has_alpha ? stored->alphaPlane + row * stored->alphaRowBytes : NULL;
        uint8_t *to = plane_row(plane, y);
        for (uint32_t x = 0; x < image->width; x++) {
            uint16_t gray = luma[stored_at(from, crop->x + x, stored->depth)];
            if (has_alpha) {
                uint16_t alpha = alphas[stored_at(from_alpha, crop->x + x, stored->depth)];
                gray = stored->alphaPremultiplied
                           ? straight(gray, alpha, image->depth == 8 ? UINT8_MAX : UINT16_MAX)
                           : gray;
                put_sample(to, 2 * (size_t)x + 1, image->depth, alpha);
            }
            put_sample(to, has_alpha ? 2 * (size_t)x : x, image->depth, gray);
        }
    }
}

static void copy_planes(const avifImage *stored, const struct image *image) {
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            memcpy(plane_row(plane, y), stored->yuvPlanes[p] + (size_t)y * stored->yuvRowBytes[p],
                   plane->width);
        }
    }
}

/* Alpha becomes straight, and all samples full range. */
static enum status convert(const struct avif_reader *reader, const avifImage *stored,
                           const struct image *image, uint8_t *pixels, size_t stride, struct error *err) {
    const struct avif_library *library = reader->library;
    avifRGBImage rgb;
    library->avifRGBImageSetDefaults(&rgb, stored);
    rgb.format = image->model == PIXEL_RGBA ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = image->depth;
    rgb.pixels = pixels;
    rgb.rowBytes = (uint32_t)stride;
    avifResult result = library->avifImageYUVToRGB(stored, &rgb);
    return result == AVIF_RESULT_OK
               ? ST_OK
               : avif_library_fail(library, result, "its colours cannot be converted to RGB", ST_CORRUPT,
                                   err);
}

/* A view of a part of the decoded picture; the caller destroys it. */
static enum status view(const struct avif_reader *reader, const avifCropRect *part, avifImage **shown,
                        struct error *err) {
    *shown = reader->library->avifImageCreateEmpty();
    if (!*shown) {
        return fail(err, ST_BUSY, "out of memory for the AVIF library");
    }
    avifResult result = reader->library->avifImageSetViewRect(*shown, reader->decoder->image, part);
    return result == AVIF_RESULT_OK ? ST_OK : avif_reader_fail(reader, result, err);
}

/* Converts a part that begins between chroma samples, and takes the crop out of it. */
static enum status copy_cutting(const struct avif_reader *reader, const avifCropRect *part,
                                const avifImage *stored, const struct image *image, struct error *err) {
    const struct plane *plane = &image->plane[0];
    size_t pixel = (size_t)plane->channels * (image->depth / 8), stride = pixel * part->width;
    uint8_t *pixels = malloc(stride * part->height);
    if (!pixels) {
        return fail(err, ST_BUSY, "out of memory for the crop of an AVIF");
    }
    enum status status = convert(reader, stored, image, pixels, stride, err);
    const uint8_t *from = pixels + (reader->crop.y - part->y) * stride + (reader->crop.x - part->x) * pixel;
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        memcpy(plane_row(plane, y), from + y * stride, image->width * pixel);
    }
    free(pixels);
    return status;
}

/* Planes or RGB of the crop. */
static enum status copy_colours(const struct avif_reader *reader, const struct image *image,
                                struct error *err) {
    const avifImage *stored = reader->decoder->image;
    bool cuts = avif_crop_cuts_chroma(&reader->crop, stored->yuvFormat);
    avifCropRect part = cuts ? avif_crop_widened(&reader->crop, stored->width, stored->height) : reader->crop;
    avifImage *shown = NULL;
    enum status status = view(reader, &part, &shown, err);
    if (status == ST_OK && image->model == PIXEL_YCBCR) {
        copy_planes(shown, image);
    } else if (status == ST_OK) {
        status = cuts ? copy_cutting(reader, &part, shown, image, err)
                      : convert(reader, shown, image, image->plane[0].data, image->plane[0].stride, err);
    }
    if (shown) {
        reader->library->avifImageDestroy(shown);
    }
    return status;
}

static enum status copy_shown(const struct avif_reader *reader, const struct image *image,
                              struct error *err) {
    if (image->model == PIXEL_GRAY || image->model == PIXEL_GRAY_ALPHA) {
        copy_gray(reader->decoder->image, &reader->crop, image);
        return ST_OK;
    }
    return copy_colours(reader, image, err);
}

/* Whether the pixels have the shape that the container told the probe. */
static bool is_as_told(const struct avif_reader *reader, const avifCropRect *told, const avifImage *stored,
                       const struct image *image) {
    const struct image_shape *pixels = &reader->pixels;
    bool gray = pixels->model == PIXEL_GRAY || pixels->model == PIXEL_GRAY_ALPHA;
    bool colour = gray == (stored->yuvFormat == AVIF_PIXEL_FORMAT_YUV400);
    bool alpha = image_pixel_has_alpha(pixels->model) == (stored->alphaPlane != NULL);
    if (image->model == PIXEL_YCBCR) {
        colour = colour && image->plane[1].shift_x == (stored->yuvFormat != AVIF_PIXEL_FORMAT_YUV444) &&
                 image->plane[1].shift_y == (stored->yuvFormat == AVIF_PIXEL_FORMAT_YUV420);
    }
    return stored->width == told->width && stored->height == told->height && colour && alpha &&
           (stored->depth > 8) == (pixels->depth == 16);
}

enum status avif_decode_next(const struct avif_reader *reader, const struct image *image, struct error *err) {
    const avifImage *stored = reader->decoder->image;
    const avifCropRect told = {0, 0, stored->width, stored->height};
    avifResult result = reader->library->avifDecoderNextImage(reader->decoder);
    if (result != AVIF_RESULT_OK) {
        return avif_reader_fail(reader, result, err);
    }
    stored = reader->decoder->image;
    return is_as_told(reader, &told, stored, image)
               ? copy_shown(reader, image, err)
               : fail(err, ST_CORRUPT, "AVIF is damaged: its pixels are not what its header says");
}

enum status avif_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err) {
    (void)picture;
    struct avif_reader reader;
    enum status status = avif_reader_open(&reader, input, limits, err);
    bool same = image->width == reader.pixels.width && image->height == reader.pixels.height &&
                image->depth == reader.pixels.depth &&
                (image->model == reader.pixels.model || image->model == reader.native.model);
    if (status == ST_OK && !same) {
        status = fail(err, ST_INTERNAL, "the memory to decode into does not have the picture's shape");
    }
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    status = status == ST_OK ? avif_decode_next(&reader, image, err) : status;
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    avif_reader_close(&reader);
    return status;
}
