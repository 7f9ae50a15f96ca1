/* SPDX-License-Identifier: MIT
 * JPEG to JPEG on the GPU, beside the CPU's way. The codecs are not the same to the bit: a sample may be one
 * or two off before the filter, and that again after it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "gpu/pump.h"
#include "tests/gpu/check.h"

enum { QUALITY_IN = 92, QUALITY = 85, ROOM = 16 << 20, FAILURES_SHOWN = 10 };

static const double psnr_least = 45; /* dB */

static const struct codec_limits limits = {
    .max_pixels = 1 << 28, .max_side = 1 << 15, .max_scans = 100, .max_memory = 1 << 30};

struct owned {
    struct image image;
    uint8_t *memory;
};

static struct owned own(const struct image_shape *shape) {
    struct owned owned;
    size_t size = image_layout(&owned.image, shape);
    owned.memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!owned.memory) {
        fprintf(stderr, "check_gpu: no memory\n");
        exit(2);
    }
    memset(owned.memory, 0, size);
    image_place(&owned.image, owned.memory);
    return owned;
}

/* Waves of several lengths, edges and a little noise: what the codecs are made for. */
static void paint(struct check *check, const struct image *image) {
    double phase = check_below(check, 100);
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            uint8_t *row = plane_row(plane, y);
            for (uint32_t x = 0; x < plane->width; x++) {
                double value = 128 + 50 * sin(x / 37.0 + phase + p) + 40 * cos(y / 23.0 + x / 91.0);
                value += (x / 64 + y / 48) % 3 == 0 ? 25 : -10;
                row[x] = (uint8_t)(fmin(fmax(value, 0), 250) + check_below(check, 4));
            }
        }
    }
}

static struct buf encode(const struct image *image, unsigned quality) {
    const struct encode_options options = {.quality = (uint8_t)quality};
    struct error err = {0};
    struct buf output;
    buf_init(&output, ROOM);
    must(codec_encode(CODEC_JPEG, image, &options, NULL, &output, &err), &err);
    return output;
}

static struct owned decode(struct bytes bytes, const struct image_shape *shape) {
    struct error err = {0};
    struct picture picture;
    must(codec_probe(bytes, &limits, &picture, &err), &err);
    if (memcmp(&picture.native, shape, sizeof *shape) != 0) {
        fprintf(stderr, "check_gpu: the JPEG is of another shape\n");
        exit(2);
    }
    struct owned owned = own(shape);
    must(codec_decode(bytes, &picture, &limits, &owned.image, &err), &err);
    return owned;
}

/* Over all planes, in dB. */
static double psnr(const struct image *a, const struct image *b) {
    double sum = 0, count = 0;
    for (unsigned p = 0; p < a->plane_count; p++) {
        const struct plane *plane = &a->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            const uint8_t *left = plane_row(plane, y), *right = plane_row(&b->plane[p], y);
            for (uint32_t x = 0; x < plane->width; x++) {
                sum += (left[x] - right[x]) * (left[x] - right[x]);
            }
        }
        count += (double)plane->width * plane->height;
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * count / sum);
}

static struct owned by_cpu(struct check *check, struct bytes file, const struct chain *chain,
                           const struct image_shape *shape) {
    struct owned source = decode(file, shape), target = own(shape);
    const struct run run = {.chain = chain, .source = &source.image, .target = &target.image};
    struct error err = {0};
    must(lane_run(check->reference_lane, &run, NULL, &err), &err);
    struct buf output = encode(&target.image, QUALITY);
    struct owned result = decode(buf_bytes(&output), shape);
    buf_finish(&output);
    free(source.memory);
    free(target.memory);
    return result;
}

static void check_one(struct check *check, struct gpu_pump *pump, const struct image_shape *shape,
                      const struct chain *chain, bool optimised, const char *text) {
    static uint8_t *output;
    output = output ? output : malloc(ROOM);
    struct owned painted = own(shape);
    paint(check, &painted.image);
    struct buf file = encode(&painted.image, QUALITY_IN);
    struct owned expected = by_cpu(check, buf_bytes(&file), chain, shape);
    struct gpu_transcode job = {.chain = chain,
                                .shape = *shape,
                                .input = buf_bytes(&file),
                                .output = output,
                                .room = ROOM,
                                .options = {.quality = QUALITY, .optimised = optimised}};
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    must(gpu_pump_run(pump, &check->lane, &job, &size, &timing, &err), &err);
    struct owned got = decode((struct bytes){output, size}, shape);
    double quality = psnr(&got.image, &expected.image);
    bool good = quality >= psnr_least;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: JPEG, model %d, chroma %u %u, %ux%u, %s: %.1f dB\n", shape->model,
               shape->chroma_shift_x, shape->chroma_shift_y, shape->width, shape->height, text, quality);
    }
    free(painted.memory);
    free(expected.memory);
    free(got.memory);
    buf_finish(&file);
}

static void damaged(struct check *check, struct gpu_pump *pump) {
    const struct image_shape shape = {.model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1,
                                      .width = 640,
                                      .height = 480};
    struct owned painted = own(&shape);
    paint(check, &painted.image);
    struct buf file = encode(&painted.image, QUALITY_IN);
    check_damage(check, pump, &file, &shape);
    buf_finish(&file);
    free(painted.memory);
}

void check_jpeg(struct check *check, bool quick) {
    static const struct image_shape models[] = {
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
        {.model = PIXEL_GRAY, .depth = 8},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
        {.model = PIXEL_YCBCR, .depth = 8},
    };
    static const uint32_t sizes[][2] = {{1279, 721},  {64, 48},    {127, 65},
                                        {1920, 1080}, {640, 2000}, {4001, 333}};
    static const double sigmas[] = {1.5, 5, 20, 100};
    if (!check->device.jpeg.decoder) {
        return;
    }
    struct gpu_pump *pump;
    struct error err = {0};
    must(gpu_pump_create(&pump, &check->device, 2, 1, &err), &err);
    for (size_t m = 0; m < COUNT(models); m++) {
        for (size_t s = 0; s < COUNT(sizes) / (quick ? 2 : 1); s++) {
            for (size_t i = 0; i < COUNT(sigmas); i++) {
                struct image_shape shape = models[m];
                struct chain chain = {0};
                char text[32];
                const struct blur_arguments arguments = {.sigma = sigmas[i]};
                shape.width = sizes[s][0];
                shape.height = sizes[s][1];
                snprintf(text, sizeof text, "sigma %g", sigmas[i]);
                check_append(&chain, FILTER_BLUR, &arguments, &shape);
                check_one(check, pump, &shape, &chain, i % 2, text);
            }
        }
    }
    damaged(check, pump);
    gpu_pump_destroy(pump);
    check_report(check, "JPEG");
}
