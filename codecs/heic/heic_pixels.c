/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic_pixels.h"

#include <string.h>

#include "codecs/heic/heic_colours.h"

/* Stops at a plane that is missing, or that is not as large as the image or, halved, a plane of chroma. */
static enum status find_plane(const struct heic_library *heif, const struct heif_image *planes,
                              enum heif_channel channel, const struct image *image, struct heic_plane *source,
                              struct error *err) {
    int stride = 0;
    const uint8_t *data = heif->heif_image_get_plane_readonly(planes, channel, &stride);
    int bits = data ? heif->heif_image_get_bits_per_pixel_range(planes, channel) : 0;
    if (!data || bits < 1 || bits > 16) {
        return fail(err, ST_CORRUPT, "HEIC data lack a channel that the header has");
    }
    bool chroma = channel == heif_channel_Cb || channel == heif_channel_Cr;
    enum heif_chroma format = chroma ? heif->heif_image_get_chroma_format(planes) : heif_chroma_444;
    uint32_t shift_x = format == heif_chroma_420 || format == heif_chroma_422,
             shift_y = format == heif_chroma_420;
    int width = heif->heif_image_get_width(planes, channel);
    int height = heif->heif_image_get_height(planes, channel);
    if (width < 0 || height < 0 || (uint32_t)width != (image->width + shift_x) >> shift_x ||
        (uint32_t)height != (image->height + shift_y) >> shift_y) {
        return fail(err, ST_CORRUPT,
                    "HEIC data are damaged: they hold %d x %d pixels, and the header says %u x %u", width,
                    height, image->width, image->height);
    }
    *source = (struct heic_plane){data, (size_t)stride, (uint32_t)width, (uint32_t)height, (unsigned)bits};
    return ST_OK;
}

static uint32_t sample(const struct heic_plane *source, uint32_t y, uint32_t x, uint32_t most) {
    const uint8_t *row = source->data + y * source->stride;
    uint16_t value = row[source->bits > 8 ? 0 : x];
    if (source->bits > 8) {
        memcpy(&value, row + 2 * (size_t)x, sizeof(value));
    }
    double scale = (double)most / ((1 << source->bits) - 1);
    uint32_t scaled = (uint32_t)(value * scale + 0.5);
    return scaled < most ? scaled : most;
}

/* Writes one channel of a row. */
static void copy_row(const struct heic_plane *source, uint32_t y, unsigned channel,
                     const struct image *image) {
    const struct plane *plane = &image->plane[0];
    uint8_t *row = plane_row(plane, y);
    size_t step = plane->channels;
    if (image->depth == 8 && source->bits == 8) {
        const uint8_t *from = source->data + y * source->stride;
        for (size_t x = 0; x < plane->width; x++) {
            row[x * step + channel] = from[x];
        }
    } else if (image->depth == 8) {
        for (uint32_t x = 0; x < plane->width; x++) {
            row[x * step + channel] = (uint8_t)sample(source, y, x, UINT8_MAX);
        }
    } else {
        for (uint32_t x = 0; x < plane->width; x++) {
            uint16_t value = (uint16_t)sample(source, y, x, UINT16_MAX);
            memcpy(row + 2 * (x * step + channel), &value, sizeof(value));
        }
    }
}

static uint32_t divide(uint32_t value, uint32_t alpha, uint32_t most) {
    uint64_t straight = alpha ? ((uint64_t)value * most + alpha / 2) / alpha : 0;
    return straight < most ? (uint32_t)straight : most;
}

/* Rows of pixels whose last channel is alpha. */
static void make_narrow_straight(uint8_t *row, uint32_t width, unsigned channels) {
    for (uint8_t *pixel = row; pixel < row + (size_t)width * channels; pixel += channels) {
        for (unsigned c = 0; c + 1 < channels; c++) {
            pixel[c] = (uint8_t)divide(pixel[c], pixel[channels - 1], UINT8_MAX);
        }
    }
}

static void make_wide_straight(uint16_t *row, uint32_t width, unsigned channels) {
    for (uint16_t *pixel = row; pixel < row + (size_t)width * channels; pixel += channels) {
        for (unsigned c = 0; c + 1 < channels; c++) {
            pixel[c] = (uint16_t)divide(pixel[c], pixel[channels - 1], UINT16_MAX);
        }
    }
}

static void make_straight(const struct image *image, uint32_t y) {
    uint8_t *row = plane_row(&image->plane[0], y);
    if (image->depth == 8) {
        make_narrow_straight(row, image->width, image->plane[0].channels);
    } else {
        make_wide_straight((void *)row, image->width, image->plane[0].channels); /* rows are aligned */
    }
}

static enum status start_colours(const struct heic_library *heif, const struct heif_image *planes,
                                 const struct heic_plane sources[], const struct image *image,
                                 struct heic_colours *colours, struct error *err) {
    *colours = (struct heic_colours){.luma = sources[0], .cb = sources[1], .cr = sources[2]};
    if (sources[0].bits < 8 || sources[1].bits != sources[0].bits || sources[2].bits != sources[0].bits) {
        return fail(err, ST_UNSUPPORTED, "HEIC has colours of %u, %u and %u bits, which is not supported",
                    sources[0].bits, sources[1].bits, sources[2].bits);
    }
    heic_colours_start(colours, heif, planes, image->depth == 16 ? UINT16_MAX : UINT8_MAX);
    return ST_OK;
}

enum status heic_pixels_copy(const struct heic_library *heif, const struct heif_image *planes,
                             bool premultiplied, const struct image *image, struct error *err) {
    static const enum heif_channel names[][3] = {
        {heif_channel_R, heif_channel_G, heif_channel_B},
        {heif_channel_Y, heif_channel_Cb, heif_channel_Cr},
    };
    bool alpha = image_pixel_has_alpha(image->model);
    bool convert = heif->heif_image_get_colorspace(planes) == heif_colorspace_YCbCr;
    struct heic_plane sources[4];
    struct heic_colours colours;
    enum status status = ST_OK;
    unsigned channels = image->plane[0].channels;
    for (unsigned c = 0; c < channels && status == ST_OK; c++) {
        enum heif_channel name = alpha && c + 1 == channels ? heif_channel_Alpha : names[convert][c];
        status = find_plane(heif, planes, name, image, &sources[c], err);
    }
    if (status == ST_OK && convert) {
        status = start_colours(heif, planes, sources, image, &colours, err);
    }
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        if (convert) {
            heic_colours_row(&colours, image, y);
        }
        for (unsigned c = convert ? 3 : 0; c < channels; c++) {
            copy_row(&sources[c], y, c, image);
        }
        if (premultiplied && alpha) {
            make_straight(image, y);
        }
    }
    return status;
}
