/* SPDX-License-Identifier: MIT */
#include "tests/gpu/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/orient.h"
#include "gpu/filter.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/gpu_chain.h"

enum { GUARD = 512, GUARD_BYTE = 0xa5, FAILURES_SHOWN = 10 };

const uint32_t check_sizes[CHECK_SIZES][2] = {{1, 1},   {1, 7},    {7, 1},   {2, 2},   {3, 5},    {17, 31},
                                              {64, 48}, {127, 65}, {200, 3}, {3, 200}, {300, 70}, {67, 131}};
const uint32_t check_large_sizes[CHECK_LARGE_SIZES][2] = {{1920, 1080}, {1279, 721}, {4001, 33}, {31, 3000}};

const struct image_shape check_models[CHECK_MODELS] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_RGB, .depth = 8},
    {.model = PIXEL_GRAY_ALPHA, .depth = 8},
    {.model = PIXEL_RGBA, .depth = 8},
    {.model = PIXEL_GRAY, .depth = 16},
    {.model = PIXEL_GRAY_ALPHA, .depth = 16},
    {.model = PIXEL_RGB, .depth = 16},
    {.model = PIXEL_RGBA, .depth = 16},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

void must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        fprintf(stderr, "check_gpu: %s: %s\n", status_name(status), err->text);
        exit(2);
    }
}

uint64_t check_random(struct check *check) {
    uint64_t z = check->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned check_below(struct check *check, unsigned end) {
    return (unsigned)(check_random(check) % end);
}

void check_append(struct chain *chain, enum filter_id filter, const void *arguments,
                  const struct image_shape *shape) {
    struct error err = {0};
    must(chain_append(chain, filter_get(filter), arguments, shape, &err), &err);
}

/* ---- pictures ---- */

/* Memory around it, too: guard, picture, guard. */
struct picture {
    struct image image;
    uint8_t *memory;
    size_t size;
};

static struct picture make_picture(const struct image_shape *shape) {
    struct picture picture;
    picture.size = image_layout(&picture.image, shape) + 2 * GUARD;
    picture.memory = aligned_alloc(IMAGE_ALIGNMENT, picture.size);
    if (!picture.memory) {
        fprintf(stderr, "check_gpu: no memory\n");
        exit(2);
    }
    memset(picture.memory, GUARD_BYTE, picture.size);
    image_place(&picture.image, picture.memory + GUARD);
    return picture;
}

/* Noise, the extremes alone, or runs of them: all bytes, padding too. */
static struct picture make_noise(struct check *check, const struct image_shape *shape) {
    struct picture picture = make_picture(shape);
    unsigned kind = check_below(check, 4);
    for (size_t i = GUARD; i < picture.size - GUARD; i++) {
        uint64_t dice = check_random(check);
        picture.memory[i] = (uint8_t)(kind == 0   ? (dice % 2 ? 255 : 0)
                                      : kind == 1 ? ((i / 97) % 2 ? 255 : dice % 4)
                                                  : dice);
    }
    return picture;
}

/* The objects of a case. */
struct pictures {
    struct picture source, mask, expected, got;
    struct chain chain;
    bool masked;
    uint8_t orientation; /* to be undone, instead of the chain; 0: none */
};

static struct chain_run run_into(const struct pictures *pictures, const struct image *target) {
    return (struct chain_run){.chain = &pictures->chain,
                              .source = &pictures->source.image,
                              .target = target,
                              .mask = pictures->masked ? &pictures->mask.image : NULL};
}

static struct pictures make_pictures(struct check *check, const struct image_shape *shape,
                                     const struct chain *chain, bool masked) {
    struct image_shape coverage = {
        .model = PIXEL_GRAY, .depth = 8, .width = shape->width, .height = shape->height};
    struct image_shape result = chain_result(chain, shape);
    struct pictures pictures = {
        .source = make_noise(check, shape),
        .mask = make_noise(check, &coverage),
        .expected = make_picture(&result),
        .got = make_picture(&result),
        .chain = *chain,
        .masked = masked,
    };
    struct error err = {0};
    struct chain_run run = run_into(&pictures, &pictures.expected.image);
    must(lane_run(check->reference_lane, &run, NULL, &err), &err);
    return pictures;
}

static struct pictures make_turned(struct check *check, const struct image_shape *shape,
                                   uint8_t orientation) {
    struct image_shape upright = orient_shape(shape, orientation);
    struct pictures pictures = {
        .source = make_noise(check, shape),
        .expected = make_picture(&upright),
        .got = make_picture(&upright),
        .orientation = orientation,
    };
    orient_image(&pictures.source.image, orientation, &pictures.expected.image, 0, NULL);
    return pictures;
}

static void free_pictures(struct pictures *pictures) {
    free(pictures->source.memory);
    free(pictures->mask.memory);
    free(pictures->expected.memory);
    free(pictures->got.memory);
}

/* ---- outcomes ---- */

static void show_difference(const struct image *image, size_t at, uint8_t wanted, uint8_t got) {
    unsigned p = 0;
    while (p + 1 < image->plane_count && at >= image->plane[p + 1].offset) {
        p++;
    }
    at -= image->plane[p].offset;
    printf("    plane %u row %zu byte %zu: %u, not %u\n", p, at / image->plane[p].stride,
           at % image->plane[p].stride, got, wanted);
}

/* Whether the picture is the same and everything around it untouched. Padding behind rows and below
 * planes must keep its guard bytes, too. */
static bool same_memory(const struct check *check, const struct pictures *pictures) {
    const struct picture *expected = &pictures->expected, *got = &pictures->got;
    for (size_t i = 0; i < got->size; i++) {
        if (expected->memory[i] != got->memory[i]) {
            if (check->failed < FAILURES_SHOWN) {
                show_difference(&got->image, i - GUARD, expected->memory[i], got->memory[i]);
            }
            return false;
        }
    }
    return true;
}

static bool same_pixels(const struct check *check, const struct pictures *pictures) {
    const struct image *expected = &pictures->expected.image, *got = &pictures->got.image;
    for (unsigned i = 0; i < got->plane_count; i++) {
        for (uint32_t y = 0; y < got->plane[i].height; y++) {
            const uint8_t *a = plane_row(&expected->plane[i], y), *b = plane_row(&got->plane[i], y);
            size_t size = plane_row_bytes(&got->plane[i], got->depth), at = 0;
            while (at < size && a[at] == b[at]) {
                at++;
            }
            if (at < size) {
                if (check->failed < FAILURES_SHOWN) {
                    show_difference(got, (size_t)(b + at - got->plane[0].data), a[at], b[at]);
                }
                return false;
            }
        }
    }
    return memcmp(pictures->got.memory, pictures->expected.memory, GUARD) == 0;
}

static void count(struct check *check, bool right, const struct pictures *pictures, const char *text,
                  const struct error *err) {
    check->passed += right;
    if (!right && check->failed++ < FAILURES_SHOWN) {
        struct image_shape shape = image_shape(&pictures->source.image);
        printf("FAILED model %d, %u bits, chroma %u %u, %ux%u, %u steps%s: %s %s\n", (int)shape.model,
               shape.depth, shape.chroma_shift_x, shape.chroma_shift_y, shape.width, shape.height,
               pictures->chain.count, pictures->masked ? " under a mask" : "", text, err->text);
    }
}

/* ---- one case ---- */

static enum status enqueue(struct check *check, const struct pictures *pictures, const struct image *source,
                           const struct image *target, struct error *err) {
    return pictures->orientation ? gpu_orient(&check->jpeg.stream, source, pictures->orientation, target, err)
                                 : gpu_filter_get(pictures->chain.step[0].filter)
                                       ->run(&check->jpeg.stream, step_plan(&pictures->chain.step[0]), source,
                                             NULL, target, err);
}

/* On device memory that held the guard byte everywhere. */
static enum status run_step(struct check *check, struct pictures *pictures, struct error *err) {
    const struct cuda *cuda = &check->cuda;
    CUstream stream = check->jpeg.stream.handle;
    CUdeviceptr from = 0, to = 0;
    struct picture *source = &pictures->source, *got = &pictures->got;
    must(CUDA_TRY(cuda, err, cuMemAlloc, &from, source->size), err);
    must(CUDA_TRY(cuda, err, cuMemAlloc, &to, got->size), err);
    must(CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, from, source->memory, source->size, stream), err);
    must(CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, to, got->memory, got->size, stream), err);
    struct image a = source->image, b = got->image;
    image_place(&a, (uint8_t *)(uintptr_t)from + GUARD);
    image_place(&b, (uint8_t *)(uintptr_t)to + GUARD);
    enum status status = enqueue(check, pictures, &a, &b, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, got->memory, to, got->size, stream);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuStreamSynchronize, stream);
    }
    cuda->cuMemFree(from);
    cuda->cuMemFree(to);
    return status;
}

static void check_memory(struct check *check, struct pictures *pictures, const char *text) {
    struct error err = {0};
    enum status status = run_step(check, pictures, &err);
    count(check, status == ST_OK && same_memory(check, pictures), pictures, text, &err);
    free_pictures(pictures);
}

void check_kernels(struct check *check, const struct image_shape *shape, const struct chain *chain,
                   const char *text) {
    struct pictures pictures = make_pictures(check, shape, chain, false);
    check_memory(check, &pictures, text);
}

void check_turn(struct check *check, const struct image_shape *shape, uint8_t orientation, const char *text) {
    struct pictures pictures = make_turned(check, shape, orientation);
    check_memory(check, &pictures, text);
}

void check_lane(struct check *check, const struct image_shape *shape, const struct chain *chain, bool masked,
                const char *text) {
    struct error err = {0};
    struct lane_timing timing;
    struct pictures pictures = make_pictures(check, shape, chain, masked);
    struct chain_run run = run_into(&pictures, &pictures.got.image);
    enum status status = gpu_chain_run(&check->jpeg.stream, &run, &timing, &err);
    count(check, status == ST_OK && same_pixels(check, &pictures), &pictures, text, &err);
    free_pictures(&pictures);
}

void check_report(const struct check *check, const char *part) {
    printf("%-14s %u passed, %u failed\n", part, check->passed, check->failed);
    fflush(stdout);
}
