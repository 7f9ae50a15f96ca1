/* SPDX-License-Identifier: MIT
 * Compares the GPU's blur with the CPU's, byte for byte, over models, sizes, edges and sigmas.
 *
 *     check_blur [--quick]
 *
 * SEED=n repeats a run, CUDA_LIBRARY=path opens another driver, MODULE_FORMAT=cubin|ptx|nvrtc loads
 * the kernels in that form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu.h"
#include "filters/chain.h"
#include "gpu/blur.h"

struct check {
    struct cuda cuda;
    struct gpu_device device;
    struct gpu_lane lane;
    struct backend *reference; /* the CPU's */
    struct lane *reference_lane;
    uint64_t random;
    unsigned passed, failed;
};

enum { GUARD = 512, GUARD_BYTE = 0xa5, FAILURES_SHOWN = 10 };

static const double sigmas[] = {0.1, 0.3, 0.5, 1,  1.5, 2,  3,  3.99, 4,   5,  7.9,
                                8,   12,  16,  20, 33,  50, 64, 100,  300, 500};
static const uint32_t sizes[][2] = {{1, 1},   {1, 7},    {7, 1},   {2, 2},   {3, 5},    {17, 31},
                                    {64, 48}, {127, 65}, {200, 3}, {3, 200}, {300, 70}, {67, 131}};
static const uint32_t large_sizes[][2] = {{1920, 1080}, {1279, 721}, {4001, 33}, {31, 3000}};

static const struct image_shape models[] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_RGB, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
    {.model = PIXEL_GRAY_ALPHA, .depth = 8},
    {.model = PIXEL_RGBA, .depth = 8},
    {.model = PIXEL_GRAY, .depth = 16},
    {.model = PIXEL_GRAY_ALPHA, .depth = 16},
    {.model = PIXEL_RGB, .depth = 16},
    {.model = PIXEL_RGBA, .depth = 16},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        fprintf(stderr, "check_blur: %s: %s\n", status_name(status), err->text);
        exit(2);
    }
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static struct chain make_chain(const struct blur_arguments *arguments, const struct image_shape *shape) {
    struct chain chain = {0};
    struct error err = {0};
    must(chain_append(&chain, filter_get(FILTER_BLUR), arguments, shape, &err), &err);
    return chain;
}

/* ---- pictures ---- */

/* guard, picture, guard */
static uint8_t *make_picture(struct image *image, const struct image_shape *shape, size_t *size) {
    *size = image_layout(image, shape) + 2 * GUARD;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, *size);
    if (!memory) {
        fprintf(stderr, "check_blur: no memory\n");
        exit(2);
    }
    memset(memory, GUARD_BYTE, *size);
    image_place(image, memory + GUARD);
    return memory;
}

/* Noise, the extremes alone, or runs of them: all bytes, padding too. */
static void fill(uint8_t *memory, size_t size, uint64_t *random) {
    unsigned kind = (unsigned)(next_random(random) % 4);
    for (size_t i = 0; i < size; i++) {
        uint64_t dice = next_random(random);
        memory[i] = (uint8_t)(kind == 0   ? (dice % 2 ? 255 : 0)
                              : kind == 1 ? ((i / 97) % 2 ? 255 : dice % 4)
                                          : dice);
    }
}

/* Whether the picture is the same and everything around it untouched. Padding behind rows and below
 * planes must keep its guard bytes, too. */
static bool same(const struct check *check, const uint8_t *expected, const uint8_t *got, size_t size,
                 const struct image *image) {
    for (size_t i = 0; i < size; i++) {
        if (expected[i] != got[i]) {
            if (check->failed < FAILURES_SHOWN) {
                size_t at = i - GUARD;
                unsigned p = 0;
                while (p + 1 < image->plane_count && at >= image->plane[p + 1].offset) {
                    p++;
                }
                at -= image->plane[p].offset;
                printf("    plane %u row %zu byte %zu: %u, not %u\n", p, at / image->plane[p].stride,
                       at % image->plane[p].stride, got[i], expected[i]);
            }
            return false;
        }
    }
    return true;
}

/* ---- one case ---- */

/* Kernels alone, on device memory that held the guard byte everywhere. */
static enum status run_gpu(struct check *check, const struct chain *chain, const struct image *layout,
                           const uint8_t *source, uint8_t *got, size_t size, struct error *err) {
    const struct cuda *cuda = &check->cuda;
    CUdeviceptr from = 0, to = 0;
    must(CUDA_TRY(cuda, err, cuMemAlloc, &from, size), err);
    must(CUDA_TRY(cuda, err, cuMemAlloc, &to, size), err);
    must(CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, from, source, size, check->lane.stream), err);
    must(CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, to, got, size, check->lane.stream), err);
    struct image a = *layout;
    struct image b = *layout;
    image_place(&a, (uint8_t *)(uintptr_t)from + GUARD);
    image_place(&b, (uint8_t *)(uintptr_t)to + GUARD);
    enum status status = gpu_blur(&check->lane, &chain->step[0].blur, &a, &b, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, got, to, size, check->lane.stream);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuStreamSynchronize, check->lane.stream);
    }
    cuda->cuMemFree(from);
    cuda->cuMemFree(to);
    return status;
}

static void check_case(struct check *check, const struct image_shape *shape,
                       const struct blur_arguments *arguments) {
    struct image source, expected, layout;
    struct error err = {0};
    size_t size;
    uint8_t *from = make_picture(&source, shape, &size);
    uint8_t *wanted = make_picture(&expected, shape, &size);
    uint8_t *got = make_picture(&layout, shape, &size);
    fill(from + GUARD, size - 2 * GUARD, &check->random);
    struct chain chain = make_chain(arguments, shape);
    must(lane_run(check->reference_lane,
                  &(struct run){.chain = &chain, .source = &source, .target = &expected}, NULL, &err),
         &err);
    enum status status = run_gpu(check, &chain, &layout, from, got, size, &err);
    if (status == ST_OK && same(check, wanted, got, size, &layout)) {
        check->passed++;
    } else {
        if (check->failed++ < FAILURES_SHOWN) {
            printf("FAILED model %d, %u bits, chroma %u %u, %ux%u, sigma %g, kernel_size %d, edge %d %s\n",
                   (int)shape->model, shape->depth, shape->chroma_shift_x, shape->chroma_shift_y,
                   shape->width, shape->height, arguments->sigma, arguments->kernel_size, arguments->edge,
                   err.text);
        }
    }
    free(from);
    free(wanted);
    free(got);
}

/* Through the lane, in chains of one to three steps, as requests go. */
static void check_lane(struct check *check, unsigned steps) {
    struct image_shape shape = models[next_random(&check->random) % COUNT(models)];
    shape.width = 50 + (uint32_t)(next_random(&check->random) % 50);
    shape.height = 40;
    struct image source, expected, result;
    struct error err = {0};
    struct lane_timing timing;
    struct chain chain = {0};
    size_t size;
    uint8_t *from = make_picture(&source, &shape, &size);
    uint8_t *wanted = make_picture(&expected, &shape, &size);
    uint8_t *got = make_picture(&result, &shape, &size);
    fill(from + GUARD, size - 2 * GUARD, &check->random);
    for (unsigned i = 0; i < steps; i++) {
        struct blur_arguments arguments = {.sigma = sigmas[next_random(&check->random) % COUNT(sigmas)]};
        must(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, &err), &err);
    }
    must(lane_run(check->reference_lane,
                  &(struct run){.chain = &chain, .source = &source, .target = &expected}, NULL, &err),
         &err);
    enum status status = gpu_lane_run(
        &check->lane, &(struct run){.chain = &chain, .source = &source, .target = &result}, &timing, &err);
    bool right = status == ST_OK && memcmp(got, wanted, GUARD) == 0;
    for (unsigned i = 0; i < result.plane_count && right; i++) {
        for (uint32_t y = 0; y < result.plane[i].height && right; y++) {
            right = memcmp(plane_row(&result.plane[i], y), plane_row(&expected.plane[i], y),
                           plane_row_bytes(&result.plane[i], shape.depth)) == 0;
        }
    }
    check->passed += right;
    check->failed += !right;
    if (!right) {
        printf("FAILED lane: model %d, %u steps %s\n", (int)shape.model, steps, err.text);
    }
    free(from);
    free(wanted);
    free(got);
}

/* ---- the matrix ---- */

/* Every sigma with every size and edge. `all`: with every model, else with one by chance. */
static void check_sigmas(struct check *check, bool all) {
    for (size_t s = 0; s < COUNT(sigmas); s++) {
        for (size_t z = 0; z < COUNT(sizes); z++) {
            for (int edge = EDGE_CLAMP; edge <= EDGE_ZERO; edge++) {
                size_t chosen = next_random(&check->random) % COUNT(models);
                for (size_t m = all ? 0 : chosen; m < (all ? COUNT(models) : chosen + 1); m++) {
                    struct blur_arguments arguments = {.sigma = sigmas[s], .edge = edge};
                    struct image_shape shape = models[m];
                    shape.width = sizes[z][0];
                    shape.height = sizes[z][1];
                    check_case(check, &shape, &arguments);
                }
            }
        }
    }
}

/* Every model with every edge and the typical ways of filtering. */
static void check_models(struct check *check) {
    static const double few[] = {1, 1.5, 3, 5, 11, 40};
    for (size_t m = 0; m < COUNT(models); m++) {
        for (size_t i = 0; i < COUNT(few) * 4; i++) {
            struct blur_arguments arguments = {.sigma = few[i / 4], .edge = (int)(i % 4)};
            struct image_shape shape = models[m];
            shape.width = 66 + (uint32_t)(next_random(&check->random) % 100);
            shape.height = 20 + (uint32_t)(next_random(&check->random) % 60);
            check_case(check, &shape, &arguments);
        }
    }
}

static void check_kernel_sizes(struct check *check, bool all) {
    for (int size = 3; size <= 99; size += all || size < 19 ? 2 : 16) {
        for (size_t m = 0; m < COUNT(models); m++) {
            struct blur_arguments arguments = {sigmas[next_random(&check->random) % COUNT(sigmas)], size,
                                               (int)(next_random(&check->random) % 4)};
            struct image_shape shape = models[m];
            shape.width = 1 + (uint32_t)(next_random(&check->random) % 150);
            shape.height = 1 + (uint32_t)(next_random(&check->random) % 90);
            check_case(check, &shape, &arguments);
        }
    }
}

static void check_large(struct check *check) {
    static const double few[] = {0.5, 1.5, 1.5, 3, 5, 8, 20, 50, 100, 300};
    for (size_t m = 0; m < COUNT(models); m++) {
        for (size_t s = 0; s < COUNT(few); s++) {
            const uint32_t *size = large_sizes[next_random(&check->random) % COUNT(large_sizes)];
            struct blur_arguments arguments = {few[s], s == 1 ? 7 : 0, (int)((m + s) % 4)};
            struct image_shape shape = models[m];
            shape.width = size[0];
            shape.height = size[1];
            check_case(check, &shape, &arguments);
        }
    }
}

static void report(const struct check *check, const char *part) {
    printf("%-14s %u passed, %u failed\n", part, check->passed, check->failed);
    fflush(stdout);
}

static void check_all(struct check *check, bool quick) {
    check_models(check);
    report(check, "models");
    check_kernel_sizes(check, !quick);
    report(check, "kernel sizes");
    for (unsigned steps = 1; steps <= 3; steps++) {
        check_lane(check, steps);
    }
    check_sigmas(check, !quick);
    report(check, "sigmas");
    if (!quick) {
        check_large(check);
        report(check, "large");
    }
}

static enum module_format wanted_format(void) {
    static const char *const names[] = {"auto", "cubin", "ptx", "nvrtc"};
    const char *text = getenv("MODULE_FORMAT");
    enum module_format format = MODULE_AUTO;
    for (size_t i = 0; text && i < COUNT(names); i++) {
        format = strcmp(text, names[i]) == 0 ? (enum module_format)i : format;
    }
    return format;
}

static void open_all(struct check *check) {
    struct error err = {0};
    struct program_options options = {.format = wanted_format()};
    const char *seed = getenv("SEED");
    check->random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    must(cuda_open(&check->cuda, getenv("CUDA_LIBRARY"), &err), &err);
    must(gpu_device_open(&check->device, &check->cuda, 0, &options, &err), &err);
    must(gpu_lane_init(&check->lane, &check->device, &err), &err);
    must(cpu_backend_open("auto", &check->reference, &err), &err);
    must(lane_create(check->reference, &check->reference_lane, &err), &err);
    printf("SEED=%llu, %s (sm_%d%d), kernels: %s, against %s\n", (unsigned long long)check->random,
           check->device.name, check->device.major, check->device.minor, check->device.program.how,
           check->reference->name);
}

int main(int argc, char **argv) {
    static struct check check;
    open_all(&check);
    check_all(&check, argc > 1 && strcmp(argv[1], "--quick") == 0);
    lane_destroy(check.reference_lane);
    backend_close(check.reference);
    gpu_lane_finish(&check.lane);
    gpu_device_close(&check.device);
    printf("%u passed, %u failed\n", check.passed, check.failed);
    return check.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
