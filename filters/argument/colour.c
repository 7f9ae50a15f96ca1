/* SPDX-License-Identifier: MIT */
#include "filters/argument/colour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool colour_parse(const char *text, uint8_t rgba[4]) {
    const char *digits = text + (*text == '#');
    size_t length = strlen(digits);
    unsigned value[4] = {0, 0, 0, 255};
    if ((length != 6 && length != 8) || strspn(digits, "0123456789abcdefABCDEF") != length ||
        sscanf(digits, "%2x%2x%2x%2x", &value[0], &value[1], &value[2], &value[3]) < 3) {
        return false;
    }
    for (unsigned i = 0; i < 4; i++) {
        rgba[i] = (uint8_t)value[i];
    }
    return true;
}

void colour_samples(const uint8_t rgba[4], const struct image_shape *shape, uint16_t sample[4]) {
    double step = image_sample_step(shape);
    double red = rgba[0] * step, green = rgba[1] * step, blue = rgba[2] * step, alpha = rgba[3] * step;
    double luma = 0.299 * red + 0.587 * green + 0.114 * blue;
    double colour[4] = {red, green, blue, alpha};
    double gray[4] = {luma, alpha};
    double ycbcr[4] = {luma, 128 - 0.168735892 * red - 0.331264108 * green + 0.5 * blue,
                       128 + 0.5 * red - 0.418687589 * green - 0.081312411 * blue};
    const double *value = shape->model == PIXEL_YCBCR               ? ycbcr
                          : image_pixel_channels(shape->model) <= 2 ? gray
                                                                    : colour;
    for (unsigned i = 0; i < image_pixel_channels(shape->model); i++) {
        sample[i] = (uint16_t)fmin(value[i] + 0.5, shape->depth == 16 ? 65535 : 255);
    }
}
