/* SPDX-License-Identifier: MIT
 * libwebp 1.2.4 with malloc counted: noise, few colours, slopes and photographs of 0.01 to 12 megapixels.
 * Noise is the worst but for the histograms of lossless files, which webp_memory.c adds. Methods 3 to 6 keep
 * all symbols of a lossy picture, 24 bytes a pixel of noise. Method 6 and preset 9 try so many ways to code
 * lossless data, alpha included, that a pixel takes up to 23 microseconds. Method 1 is left out: 2 takes a
 * third more time than it and saves 12 % of the bytes of photographs, so that effort 1 has a good ratio. */
#include "codecs/webp/webp_effort.h"

#include "codecs/webp/webp.h"
#include "core/deadline.h"

enum { SYMBOLS_PIXELS_MAX = 4 << 20, SYMBOLS_METHOD = 3 };

static const struct webp_effort efforts[] = {
    {0, 0, {12, 34, 30}, {200, 250, 150}},  {1, 2, {12, 40, 38}, {200, 300, 300}},
    {2, 2, {12, 40, 42}, {200, 300, 400}},  {3, 3, {36, 42, 42}, {400, 500, 600}},
    {4, 3, {36, 42, 42}, {400, 500, 600}},  {5, 4, {36, 46, 42}, {400, 500, 600}},
    {6, 4, {36, 46, 42}, {400, 500, 1200}}, {7, 5, {36, 76, 70}, {500, 600, 1200}},
    {8, 5, {36, 76, 80}, {500, 600, 1500}}, {9, 6, {36, 90, 90}, {800, 25000, 25000}},
};
enum { LAST = sizeof efforts / sizeof *efforts - 1 };

const struct webp_effort *webp_effort_wanted(const struct encode_options *options) {
    return &efforts[options->effort < LAST ? options->effort : LAST];
}

const struct webp_effort *webp_effort_affordable(const struct image_shape *shape,
                                                 const struct encode_options *options) {
    enum webp_kind kind = options->lossless                     ? WEBP_KIND_LOSSLESS
                          : image_pixel_has_alpha(shape->model) ? WEBP_KIND_TRANSLUCENT
                                                                : WEBP_KIND_LOSSY;
    const struct webp_effort *effort = webp_effort_wanted(options);
    uint64_t pixels = (uint64_t)shape->width * shape->height;
    uint64_t pictures = options->pictures ? options->pictures : 1;
    uint64_t left = (uint64_t)deadline_left(options->deadline_ns) / pictures;
    while (effort > efforts && pixels * effort->ns[kind] > left) {
        effort--;
    }
    return effort;
}

bool webp_effort_saves_memory(const struct webp_effort *effort, const struct image_shape *shape) {
    return effort->method >= SYMBOLS_METHOD && (uint64_t)shape->width * shape->height > SYMBOLS_PIXELS_MAX;
}

/* A pixel at the least effort, and the multiple that each effort takes. */
struct encode_cost webp_encode_cost(const struct encode_extent *extent,
                                    const struct encode_options *options) {
    static const float factor[2][10] = {
        {1, 1.3F, 1.5F, 2.8F, 2.8F, 2.8F, 2.8F, 3.1F, 3.2F, 6.5F},
        {1, 2.7F, 4.6F, 9.7F, 9.7F, 10, 12, 15, 15, 60}, /* the last gives way to the deadline */
    };
    float least = (options->lossless ? 38 : 22) * extent->pixels;
    return (struct encode_cost){least * factor[options->lossless][options->effort], options->lossless};
}
