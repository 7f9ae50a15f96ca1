/* SPDX-License-Identifier: MIT
 * Draws a picture to try the daemon with: an evening landscape with soft gradients (where
 * banding would show), hard edges and fine texture (where blurring shows), as JPEG.
 *
 *     sample FILE [SHRINK]     1280x800, or that divided by SHRINK, 1 to 8 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codecs/codec.h"

enum { WIDTH = 1280, HEIGHT = 800, HORIZON = 520, SUN_X = 860, SUN_Y = 400, SUN_RADIUS = 90 };

struct color {
    double r, g, b;
};

static struct color mix(struct color a, struct color b, double t) {
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return (struct color){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

/* The same number for the same place on every machine, -1 to 1. */
static double noise(uint32_t x, uint32_t y) {
    uint32_t h = x * 374761393u + y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (double)((h ^ (h >> 16)) & 0xffff) / 32767.5 - 1;
}

static struct color sky(double x, double y) {
    const struct color top = {24, 38, 92};
    const struct color low = {250, 170, 96};
    const struct color sun = {255, 244, 214};
    double away = hypot(x - SUN_X, y - SUN_Y) - SUN_RADIUS;
    if (away < 0) {
        return sun;
    }
    return mix(mix(top, low, y / HORIZON), sun, exp(-away / 70) * 0.8);
}

/* The height of a ridge's outline: sines whose lengths have no common multiple. */
static double ridge(double x, double base, double height, double phase) {
    return base - height * (0.6 * sin(x / 173 + phase) + 0.3 * sin(x / 61 + 2 * phase) + 0.1 * sin(x / 19));
}

static struct color water(double x, double y) {
    double depth = (y - HORIZON) / (HEIGHT - HORIZON);
    struct color reflected = sky(x + 6 * sin(y * y / 900), 2 * HORIZON - y);
    double glint = sin(x / (4 + 10 * depth) + 3 * sin(y / 3)) * sin(y / (1 + 3 * depth));
    return mix(mix(reflected, (struct color){12, 28, 60}, 0.35 + 0.4 * depth), (struct color){255, 230, 190},
               glint > 0.75 ? 0.35 : 0);
}

/* A row of posts in front: hard vertical edges, each with a white cap. */
static void post(double x, double y, struct color *color) {
    double within = fmod(x, 128) - 20;
    if (within >= 0 && within <= 22 && y >= 610) {
        *color = y < 626 ? (struct color){240, 240, 236} : (struct color){60 + within * 2, 36 + within, 28};
    }
}

static struct color scene(double x, double y) {
    struct color color = y < HORIZON ? sky(x, y) : water(x, y);
    if (y < HORIZON && y > ridge(x, 470, 46, 0.4)) {
        color = (struct color){96, 78, 112};
    }
    if (y < HORIZON && y > ridge(x, 505, 30, 2.1)) {
        color = (struct color){48, 44, 66};
    }
    post(x, y, &color);
    return color;
}

static uint8_t sample(double value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* The mean of the points that pixel (x, y) stands for. */
static struct color pixel(uint32_t x, uint32_t y, uint32_t shrink) {
    struct color sum = {0, 0, 0};
    double points = shrink * shrink;
    for (uint32_t i = 0; i < shrink * shrink; i++) {
        struct color color = scene(x * shrink + i % shrink, y * shrink + i / shrink);
        sum = (struct color){sum.r + color.r, sum.g + color.g, sum.b + color.b};
    }
    return (struct color){sum.r / points, sum.g / points, sum.b / points};
}

static void draw(const struct image *image, uint32_t shrink) {
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *row = plane_row(&image->plane[0], y);
        for (uint32_t x = 0; x < image->width; x++) {
            struct color color = pixel(x, y, shrink);
            double grain = 3 * noise(x, y);
            *row++ = sample(color.r + grain);
            *row++ = sample(color.g + grain);
            *row++ = sample(color.b + grain);
        }
    }
}

static enum status encode(uint32_t shrink, struct buf *output, struct error *err) {
    const struct image_shape shape = {
        .model = PIXEL_RGB, .depth = 8, .width = WIDTH / shrink, .height = HEIGHT / shrink};
    const struct encode_options options = {.quality = 90, .subsampling = SUBSAMPLING_420};
    struct image image;
    size_t size = image_layout(&image, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!memory) {
        return fail(err, ST_BUSY, "no memory");
    }
    image_place(&image, memory);
    draw(&image, shrink);
    enum status status = codec_encode(CODEC_JPEG, &image, &options, NULL, output, err);
    free(memory);
    return status;
}

int main(int argc, char **argv) {
    unsigned long shrink = argc == 3 ? strtoul(argv[2], NULL, 10) : 1;
    if (argc < 2 || argc > 3 || shrink < 1 || shrink > 8) {
        fprintf(stderr, "usage: sample FILE [SHRINK], SHRINK from 1 to 8\n");
        return 64;
    }
    struct error err = {0};
    struct buf output;
    buf_init(&output, 16 << 20);
    if (encode((uint32_t)shrink, &output, &err)) {
        fprintf(stderr, "sample: %s\n", err.text);
        buf_finish(&output);
        return 1;
    }
    FILE *file = fopen(argv[1], "wb");
    bool written = file && fwrite(output.data, 1, output.size, file) == output.size;
    written = file && fclose(file) == 0 && written;
    buf_finish(&output);
    if (!written) {
        perror(argv[1]);
    }
    return written ? 0 : 1;
}
