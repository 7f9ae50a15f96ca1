/* SPDX-License-Identifier: MIT
 * The matrices are those of ITU-T H.273, as libheif applies them. */
#include "codecs/heic/heic_colours.h"

#include <math.h>
#include <string.h>

enum { FRACTION = 20, WEIGHTS = 16, MATRIX_UNSPECIFIED = 2 };

static const struct matrix {
    int code;
    double red, blue; /* their parts of luma */
} matrices[] = {
    {1, .2126, .0722}, {MATRIX_UNSPECIFIED, .299, .114},
    {4, .30, .11},     {5, .299, .114},
    {6, .299, .114},   {7, .212, .087},
    {9, .2627, .0593},
};

struct statement {
    int matrix;
    bool full;
};

static struct statement stated(const struct heic_library *heif, const struct heif_image *planes) {
    struct statement statement = {MATRIX_UNSPECIFIED, true};
    struct heif_color_profile_nclx *nclx = NULL;
    if (heif->heif_image_get_nclx_color_profile(planes, &nclx).code == heif_error_Ok && nclx) {
        statement = (struct statement){(int)nclx->matrix_coefficients, nclx->full_range_flag != 0};
        heif->heif_nclx_color_profile_free(nclx);
    }
    return statement;
}

static const struct matrix *find_matrix(int code) {
    for (size_t i = 0; i < sizeof(matrices) / sizeof(*matrices); i++) {
        if (matrices[i].code == code) {
            return &matrices[i];
        }
    }
    return NULL;
}

bool heic_colours_known(const struct heic_library *heif, const struct heif_image *planes) {
    return heif->heif_image_get_colorspace(planes) == heif_colorspace_YCbCr &&
           heif->heif_image_get_chroma_format(planes) != heif_chroma_monochrome &&
           find_matrix(stated(heif, planes).matrix) != NULL;
}

static int64_t fixed(double factor) {
    return llround(factor * (1 << FRACTION));
}

void heic_colours_start(struct heic_colours *colours, const struct heic_library *heif,
                        const struct heif_image *planes, uint32_t most) {
    struct statement statement = stated(heif, planes);
    const struct matrix *matrix = find_matrix(statement.matrix);
    double unit = pow(2, colours->luma.bits - 8.0), full = 256 * unit - 1;
    double luma = most / (statement.full ? full : 219 * unit);
    double chroma = most / (statement.full ? full : 224 * unit) / WEIGHTS;
    double green = 1 - matrix->red - matrix->blue;
    colours->zero = statement.full ? 0 : (int64_t)(16 * unit);
    colours->middle = (int64_t)(128 * unit) * WEIGHTS;
    colours->by_luma = fixed(luma);
    colours->red_by_cr = fixed(chroma * 2 * (1 - matrix->red));
    colours->blue_by_cb = fixed(chroma * 2 * (1 - matrix->blue));
    colours->green_by_cb = -fixed(chroma * 2 * (1 - matrix->blue) * matrix->blue / green);
    colours->green_by_cr = -fixed(chroma * 2 * (1 - matrix->red) * matrix->red / green);
}

static int64_t stored(const struct heic_plane *plane, uint32_t x, uint32_t y) {
    const uint8_t *row = plane->data + y * plane->stride;
    if (plane->bits == 8) {
        return row[x];
    }
    uint16_t value;
    memcpy(&value, row + 2 * (size_t)x, sizeof(value));
    return value;
}

/* The samples on both sides of a pixel: three quarters of its value come from the near one. */
struct chroma_sides {
    uint32_t near, far;
};

static struct chroma_sides sides_of(uint32_t at, uint32_t pixels, uint32_t samples) {
    if (samples == pixels) {
        return (struct chroma_sides){at, at};
    }
    uint32_t near = at / 2, last = samples - 1;
    uint32_t far = at % 2 == 0 ? near - (near > 0) : near + (near < last);
    return (struct chroma_sides){near, far};
}

/* Times WEIGHTS. */
static int64_t interpolated(const struct heic_plane *plane, struct chroma_sides x, struct chroma_sides y) {
    int64_t near = 3 * stored(plane, x.near, y.near) + stored(plane, x.far, y.near);
    int64_t far = 3 * stored(plane, x.near, y.far) + stored(plane, x.far, y.far);
    return 3 * near + far;
}

static void put(uint8_t *row, size_t i, unsigned depth, int64_t value) {
    int64_t most = depth == 8 ? UINT8_MAX : UINT16_MAX, half = INT64_C(1) << (FRACTION - 1);
    int64_t whole = value < 0 ? 0 : (value + half) >> FRACTION;
    uint16_t sample = (uint16_t)(whole < most ? whole : most);
    if (depth == 8) {
        row[i] = (uint8_t)sample;
    } else {
        memcpy(row + 2 * i, &sample, sizeof(sample));
    }
}

void heic_colours_row(const struct heic_colours *colours, const struct image *image, uint32_t y) {
    const struct plane *plane = &image->plane[0];
    uint8_t *row = plane_row(plane, y);
    struct chroma_sides beside_y = sides_of(y, image->height, colours->cb.height);
    for (uint32_t x = 0; x < image->width; x++) {
        struct chroma_sides beside_x = sides_of(x, image->width, colours->cb.width);
        int64_t luma = (stored(&colours->luma, x, y) - colours->zero) * colours->by_luma;
        int64_t cb = interpolated(&colours->cb, beside_x, beside_y) - colours->middle;
        int64_t cr = interpolated(&colours->cr, beside_x, beside_y) - colours->middle;
        size_t i = (size_t)x * plane->channels;
        put(row, i, image->depth, luma + cr * colours->red_by_cr);
        put(row, i + 1, image->depth, luma + cb * colours->green_by_cb + cr * colours->green_by_cr);
        put(row, i + 2, image->depth, luma + cb * colours->blue_by_cb);
    }
}
