/* SPDX-License-Identifier: MIT */
#include "codecs/avif/avif_crop.h"

enum { NEIGHBOURS = 2 }; /* pixels at each side, an even number */

/* Products of a side of 32 bits and two denominators of 32 bits. */
__extension__ typedef __int128 wide;

/* The pixels from `first` up to `end` of one direction. */
struct clap_span {
    uint32_t first, end;
};

static wide divide_down(wide number, wide by) {
    return number / by - (number % by < 0);
}

/* A crop is that long, and its centre that far from the centre of `side` pixels. It begins at
 * (side - length) / 2 + offset, and ends at (side + length) / 2 + offset. */
static bool find_span(uint32_t side, uint32_t length, uint32_t length_by, int32_t offset, uint32_t offset_by,
                      struct clap_span *span) {
    if (length_by == 0 || offset_by == 0) {
        return false;
    }
    wide by = (wide)2 * length_by * offset_by, middle = (wide)side * length_by * offset_by;
    wide shift = (wide)2 * offset * length_by, reach = (wide)length * offset_by;
    wide first = -divide_down(-(middle + shift - reach), by), end = divide_down(middle + shift + reach, by);
    if (first < 0 || end > side || middle + shift - reach < 0 || middle + shift + reach > side * by ||
        first >= end) {
        return false;
    }
    *span = (struct clap_span){(uint32_t)first, (uint32_t)end};
    return true;
}

enum status avif_crop_read(const avifImage *image, avifCropRect *crop, struct error *err) {
    const avifCleanApertureBox *clap = &image->clap;
    struct clap_span x, y;
    *crop = (avifCropRect){0, 0, image->width, image->height};
    if (!(image->transformFlags & AVIF_TRANSFORM_CLAP)) {
        return ST_OK;
    }
    if (!find_span(image->width, clap->widthN, clap->widthD, (int32_t)clap->horizOffN, clap->horizOffD, &x) ||
        !find_span(image->height, clap->heightN, clap->heightD, (int32_t)clap->vertOffN, clap->vertOffD,
                   &y)) {
        return fail(err, ST_CORRUPT, "AVIF is damaged: its crop (clap) is not a part of its %u x %u pixels",
                    image->width, image->height);
    }
    *crop = (avifCropRect){x.first, y.first, x.end - x.first, y.end - y.first};
    return ST_OK;
}

bool avif_crop_cuts_chroma(const avifCropRect *crop, avifPixelFormat format) {
    bool halves_x = format == AVIF_PIXEL_FORMAT_YUV420 || format == AVIF_PIXEL_FORMAT_YUV422;
    bool halves_y = format == AVIF_PIXEL_FORMAT_YUV420;
    return (halves_x && crop->x % 2 == 1) || (halves_y && crop->y % 2 == 1);
}

static struct clap_span widened(uint32_t first, uint32_t length, uint32_t side) {
    uint32_t even = first - first % 2, end = first + length;
    return (struct clap_span){even > NEIGHBOURS ? even - NEIGHBOURS : 0,
                              side - end > NEIGHBOURS ? end + NEIGHBOURS : side};
}

avifCropRect avif_crop_widened(const avifCropRect *crop, uint32_t width, uint32_t height) {
    struct clap_span x = widened(crop->x, crop->width, width), y = widened(crop->y, crop->height, height);
    return (avifCropRect){x.first, y.first, x.end - x.first, y.end - y.first};
}
