/* SPDX-License-Identifier: MIT
 * Measures the other filters at one size: on the CPU, through the lane, and their kernels alone. Also
 * measures the gain from a kernel compiled for one matrix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/pictures.h"
#include "bench/gpu/special.h"
#include "core/clock.h"
#include "gpu/filter.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/gpu_chain.h"

enum { IN_A_ROW = 20, ROUNDS = 25, RUNS = 20, QUICK = 2, PRESET_BOX = 1 };

/* Microseconds. */
struct times {
    double cpu, copies, alone, row;
};

struct subject {
    struct bench *bench;
    struct pictures *pictures;
    struct chain chain;
    bool masked;
    struct image mask, device_mask;
};

/* A factor, the side of a matrix, sigma or a block. `separable`: a matrix of ones, else one that is no
 * product. */
static const struct row {
    const char *name;
    enum filter_id filter;
    double number;
    bool separable, masked;
} rows[] = {
    {"adjust, saturation 2", FILTER_ADJUST, 2, false, false},
    {"convolve 3x3", FILTER_CONVOLVE, 3, false, false},
    {"convolve 3x3, separable", FILTER_CONVOLVE, 3, true, false},
    {"convolve 5x5", FILTER_CONVOLVE, 5, false, false},
    {"convolve 5x5, separable", FILTER_CONVOLVE, 5, true, false},
    {"convolve 7x7", FILTER_CONVOLVE, 7, false, false},
    {"convolve 7x7, separable", FILTER_CONVOLVE, 7, true, false},
    {"convolve 15x15", FILTER_CONVOLVE, 15, false, false},
    {"convolve 15x15, separable", FILTER_CONVOLVE, 15, true, false},
    {"sharpen, sigma 1.5", FILTER_SHARPEN, 1.5, false, false},
    {"sharpen, sigma 20", FILTER_SHARPEN, 20, false, false},
    {"crop, width 50%", FILTER_CROP, 0, false, false},
    {"pixelate 8", FILTER_PIXELATE, 8, false, false},
    {"pixelate 64", FILTER_PIXELATE, 64, false, false},
    {"pixelate 256", FILTER_PIXELATE, 256, false, false},
    {"placeholder", FILTER_PLACEHOLDER, 0, false, false},
    {"median 1", FILTER_MEDIAN, 1, false, false},
    {"median 5", FILTER_MEDIAN, 5, false, false},
    {"median 25", FILTER_MEDIAN, 25, false, false},
    {"dilate 1", FILTER_DILATE, 1, false, false},
    {"dilate 25", FILTER_DILATE, 25, false, false},
    {"stats", FILTER_STATS, 0, false, false},
    {"pixelate 8 under a mask; kernel: the mixture alone", FILTER_PIXELATE, 8, false, true},
};

/* ---- plans ---- */

static void plan_matrix(struct convolve_arguments *arguments, unsigned side, bool separable) {
    if (separable) {
        arguments->preset = PRESET_BOX;
        arguments->size = (int)side;
        return;
    }
    arguments->kernel.count = (uint16_t)(side * side);
    arguments->kernel.rows = (uint16_t)side;
    for (unsigned i = 0; i < side * side; i++) {
        arguments->kernel.value[i] = i * 7 % 11 + 1;
    }
}

static void plan(struct subject *subject, const struct row *row) {
    struct error err = {0};
    union filter_arguments arguments = {0};
    switch (row->filter) {
    case FILTER_ADJUST:
        arguments.adjust = (struct adjust_arguments){1, 1, .saturation = row->number, .gamma = 1};
        break;
    case FILTER_CONVOLVE:
        plan_matrix(&arguments.convolve, (unsigned)row->number, row->separable);
        break;
    case FILTER_SHARPEN:
        arguments.sharpen = (struct sharpen_arguments){.blur.sigma = row->number, .amount = 1};
        break;
    case FILTER_DILATE:
    case FILTER_ERODE:
        arguments.dilate.radius = (int)row->number;
        break;
    case FILTER_MEDIAN:
        arguments.median.radius = (int)row->number;
        break;
    case FILTER_PIXELATE:
        arguments.pixelate.block = (int)row->number;
        break;
    case FILTER_CROP:
        arguments_default(filter_crop.arguments, &arguments);
        must(argument_parse(argument_find(filter_crop.arguments, "width"), "50%", &arguments, &err), &err);
        break;
    default: /* no argument matters */
        break;
    }
    subject->chain = (struct chain){0};
    subject->masked = row->masked;
    must(chain_append(&subject->chain, filter_get(row->filter), &arguments, &subject->pictures->shape, &err),
         &err);
}

/* ---- one run of each kind ---- */

/* The image of the result, in the memory of a picture. */
static struct image result_in(const struct subject *subject, const struct image *memory) {
    struct image_shape shape = chain_result(&subject->chain, &subject->pictures->shape);
    struct image image;
    image_layout(&image, &shape);
    image_place(&image, memory->plane[0].data);
    return image;
}

static void run_cpu(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct image target = result_in(subject, &subject->pictures->expected[i]);
    const struct chain_run run = {.chain = &subject->chain,
                                  .source = &subject->pictures->source[i],
                                  .target = &target,
                                  .mask = subject->masked ? &subject->mask : NULL};
    must(lane_run(subject->bench->cpu_lane, &run, NULL, &err), &err);
}

static void run_copies(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct lane_timing timing;
    struct image target = result_in(subject, &subject->pictures->target[i]);
    const struct chain_run run = {.chain = &subject->chain,
                                  .source = &subject->pictures->source[i],
                                  .target = &target,
                                  .mask = subject->masked ? &subject->mask : NULL};
    must(gpu_chain_run(&subject->bench->stream, &run, &timing, &err), &err);
}

static enum status enqueue(struct subject *subject, const struct image *source, const struct image *target,
                           struct error *err) {
    struct gpu_stream *stream = &subject->bench->stream;
    const struct step *step = &subject->chain.step[0];
    if (subject->masked) {
        return gpu_blend(stream, source, &subject->device_mask, target, err);
    }
    return gpu_filter_get(step->filter)->run(stream, step_plan(step), source, NULL, target, err);
}

static void run_kernels(void *context, unsigned i) {
    struct subject *subject = context;
    struct error err = {0};
    struct image target = result_in(subject, &subject->pictures->device_target[i % PICTURES]);
    must(enqueue(subject, &subject->pictures->device_source[i % PICTURES], &target, &err), &err);
}

/* ---- a row ---- */

static double host_us(struct subject *subject, void (*run)(struct subject *subject, unsigned i),
                      unsigned runs) {
    double took[RUNS];
    for (unsigned i = 0; i < runs; i++) {
        int64_t begin = clock_ns();
        run(subject, i % PICTURES);
        took[i] = (double)(clock_ns() - begin) / 1000;
    }
    return quantile(took, runs, 0.5);
}

static void check(struct subject *subject, const char *name, const char *what) {
    bool same = true;
    for (unsigned i = 0; i < PICTURES; i++) {
        struct image got = result_in(subject, &subject->pictures->target[i]);
        struct image expected = result_in(subject, &subject->pictures->expected[i]);
        for (uint32_t y = 0; y < got.height; y++) {
            same = same && memcmp(plane_row(&got.plane[0], y), plane_row(&expected.plane[0], y),
                                  plane_row_bytes(&got.plane[0], got.depth)) == 0;
        }
        memset(got.plane[0].data, 0xa5, subject->pictures->size);
    }
    if (!same) {
        printf("\nWRONG: %s, %s\n", name, what);
        subject->bench->wrong++;
    }
}

static struct times measure(struct subject *subject, const char *name) {
    struct bench *bench = subject->bench;
    unsigned rounds = bench->quick ? QUICK : ROUNDS;
    struct times times;
    times.cpu = host_us(subject, run_cpu, PICTURES);
    host_us(subject, run_copies, PICTURES);
    check(subject, name, "with copies");
    times.copies = host_us(subject, run_copies, bench->quick ? PICTURES : RUNS);
    device_us(bench, run_kernels, subject, PICTURES, 2); /* warms up, and fills every target */
    if (!subject->masked) {                              /* the mixture changes its target each time */
        pictures_download(bench, subject->pictures);
        check(subject, name, "on the device");
    }
    times.alone = device_us(bench, run_kernels, subject, 1, rounds * 4);
    times.row = device_us(bench, run_kernels, subject, bench->quick ? QUICK : IN_A_ROW, rounds);
    return times;
}

/* ---- the mask ---- */

/* A disc with a soft border in the middle of the picture: a third of it is mixed or replaced. */
static void draw_mask(const struct image *mask) {
    double radius = 0.33 * (mask->width < mask->height ? mask->width : mask->height);
    for (uint32_t y = 0; y < mask->height; y++) {
        uint8_t *row = plane_row(&mask->plane[0], y);
        for (uint32_t x = 0; x < mask->width; x++) {
            double dx = x - mask->width / 2.0, dy = y - mask->height / 2.0;
            double value = 255 * (1.5 - (dx * dx + dy * dy) / (radius * radius));
            row[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

/* Pinned memory, and the same on the device. */
static void create_mask(struct subject *subject) {
    const struct cuda *cuda = &subject->bench->cuda;
    CUstream stream = subject->bench->stream.handle;
    const struct image_shape *picture = &subject->pictures->shape;
    const struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = picture->width, .height = picture->height};
    struct error err = {0};
    void *memory = NULL;
    CUdeviceptr data = 0;
    size_t size = image_layout(&subject->mask, &shape);
    subject->device_mask = subject->mask;
    must(CUDA_TRY(cuda, &err, cuMemHostAlloc, &memory, size, 0), &err);
    must(CUDA_TRY(cuda, &err, cuMemAlloc, &data, size), &err);
    memset(memory, 0, size);
    image_place(&subject->mask, memory);
    image_place(&subject->device_mask, (uint8_t *)(uintptr_t)data);
    draw_mask(&subject->mask);
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, data, memory, size, stream), &err);
    must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream), &err);
}

static void free_mask(struct subject *subject) {
    subject->bench->cuda.cuMemFreeHost(subject->mask.plane[0].data);
    subject->bench->cuda.cuMemFree((CUdeviceptr)(uintptr_t)subject->device_mask.plane[0].data);
}

/* ---- the tables ---- */

static void bench_rows(struct subject *subject) {
    const struct image_shape *shape = &subject->pictures->shape;
    printf(
        "\n### The other filters\n\nRGB, 8 bits, %ux%u; microseconds, median. *Copies*: host memory to host "
        "memory, registered.\n\n"
        "| filter | CPU, one thread | copies | kernel, one | kernel, in a row | CPU / copies |\n"
        "|---|--:|--:|--:|--:|--:|\n",
        shape->width, shape->height);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        plan(subject, &rows[i]);
        struct times times = measure(subject, rows[i].name);
        printf("| %s | %.0f | %.0f | %.2f | %.2f | %.1f |\n", rows[i].name, times.cpu, times.copies,
               times.alone, times.row, times.cpu / times.copies);
        fflush(stdout);
    }
}

static void bench_special(struct subject *subject) {
    static const double sides[] = {3, 5, 15};
    struct bench *bench = subject->bench;
    unsigned rounds = bench->quick ? QUICK : ROUNDS, row = bench->quick ? QUICK : IN_A_ROW;
    printf("\n### A kernel for one matrix\n\nThe same pictures. *Special*: compiled by NVRTC for the matrix, "
           "the "
           "edge and the kind of picture, every weight a constant.\nMicroseconds, in a row.\n\n"
           "| matrix | generic | special | generic / special | compiling, ms |\n|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct error err = {0};
        struct special *special = NULL;
        plan(subject, &(struct row){"convolve", FILTER_CONVOLVE, sides[i], false, false});
        host_us(subject, run_cpu, PICTURES);
        double generic = device_us(bench, run_kernels, subject, row, rounds);
        enum status status =
            special_create(&special, bench, subject->pictures, &subject->chain.step[0].convolve, &err);
        if (status != ST_OK) {
            printf("\nNot measured: %s\n", err.text);
            return;
        }
        device_us(bench, special_run, special, PICTURES, 2);
        pictures_download(bench, subject->pictures);
        check(subject, "convolve", "the special kernel");
        double own = device_us(bench, special_run, special, row, rounds);
        printf("| %gx%g | %.2f | %.2f | %.2f | %.0f |\n", sides[i], sides[i], generic, own, generic / own,
               special_compile_ms(special));
        special_destroy(special);
    }
}

void bench_filters(struct bench *bench) {
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8};
    shape.width = bench->quick ? 200 : 1920;
    shape.height = bench->quick ? 100 : 1080;
    struct subject subject = {.bench = bench, .pictures = pictures_create(bench, &shape, 0)};
    create_mask(&subject);
    bench_rows(&subject);
    bench_special(&subject);
    free_mask(&subject);
    pictures_destroy(bench, subject.pictures);
}
