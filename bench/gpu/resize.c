/* SPDX-License-Identifier: MIT
 * Measures the resize to smaller and to larger pictures: on the CPU, through the lane, and its kernels alone.
 */
#include <stdio.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/pictures.h"
#include "core/clock.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/gpu_chain.h"

enum { IN_A_ROW = 20, ROUNDS = 25, RUNS = 20, FEW = 2, QUICK_DIVISOR = 10 };

#define PLANES .model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1
#define FULL_HD .width = 1920, .height = 1080

static const struct row {
    const char *name;
    struct image_shape shape;
    struct resize_arguments arguments;
} rows[] = {
    {"4:2:0, 1920x1080 to 400 wide", {PLANES, FULL_HD}, {.width = 400}},
    {"the same, area", {PLANES, FULL_HD}, {.width = 400, .kernel = RESIZE_AREA}},
    {"the same, linear", {PLANES, FULL_HD}, {.width = 400, .kernel = RESIZE_LINEAR}},
    {"4:2:0, 400x225 to 1920 wide", {PLANES, .width = 400, .height = 225}, {.width = 1920, .enlarge = true}},
    {"4:2:0, 4000x3000 to 1080 high", {PLANES, .width = 4000, .height = 3000}, {.height = 1080}},
    {"4:2:0, 4000x3000 to 40 wide", {PLANES, .width = 4000, .height = 3000}, {.width = 40}},
    {"RGB, 1920x1080 to 400 wide", {.model = PIXEL_RGB, .depth = 8, FULL_HD}, {.width = 400}},
    {"RGBA, 1920x1080 to 400 wide", {.model = PIXEL_RGBA, .depth = 8, FULL_HD}, {.width = 400}},
    {"RGB of 16 bits, 1920x1080 to 400 wide", {.model = PIXEL_RGB, .depth = 16, FULL_HD}, {.width = 400}},
};

struct subject {
    struct bench *bench;
    struct pictures *pictures;
    struct chain chain;
    struct image_shape result;
};

/* Microseconds. */
struct times {
    double cpu, copies, alone, row;
};

/* ---- one run of each kind ---- */

/* The image of the result, in the memory of a picture. */
static struct image result_in(const struct subject *subject, const struct image *memory) {
    struct image image;
    image_layout(&image, &subject->result);
    image_place(&image, memory->plane[0].data);
    return image;
}

static void run_cpu(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct image target = result_in(subject, &subject->pictures->expected[i]);
    const struct chain_run run = {
        .chain = &subject->chain, .source = &subject->pictures->source[i], .target = &target};
    must(lane_run(subject->bench->cpu_lane, &run, NULL, &err), &err);
}

static void run_copies(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct lane_timing timing;
    struct image target = result_in(subject, &subject->pictures->target[i]);
    const struct chain_run run = {
        .chain = &subject->chain, .source = &subject->pictures->source[i], .target = &target};
    must(gpu_chain_run(&subject->bench->stream, &run, &timing, &err), &err);
}

static void run_kernels(void *context, unsigned i) {
    struct subject *subject = context;
    struct error err = {0};
    struct pictures *pictures = subject->pictures;
    struct image target = result_in(subject, &pictures->device_target[i % PICTURES]);
    must(gpu_resize(&subject->bench->stream, &subject->chain.step[0].resize,
                    &pictures->device_source[i % PICTURES], &target, &err),
         &err);
}

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

/* ---- a row ---- */

static bool same_pixels(const struct image *a, const struct image *b) {
    for (unsigned p = 0; p < a->plane_count; p++) {
        for (uint32_t y = 0; y < a->plane[p].height; y++) {
            if (memcmp(plane_row(&a->plane[p], y), plane_row(&b->plane[p], y),
                       plane_row_bytes(&a->plane[p], a->depth)) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Compares every target with the CPU's result, and overwrites it. */
static void check(struct subject *subject, const char *name, const char *what) {
    for (unsigned i = 0; i < PICTURES; i++) {
        struct image got = result_in(subject, &subject->pictures->target[i]);
        struct image expected = result_in(subject, &subject->pictures->expected[i]);
        if (!same_pixels(&got, &expected)) {
            printf("\nWRONG: %s, %s\n", name, what);
            subject->bench->wrong++;
        }
        memset(got.plane[0].data, 0xa5, subject->pictures->size);
    }
}

static struct times measure(struct subject *subject, const char *name) {
    struct bench *bench = subject->bench;
    unsigned rounds = bench->quick ? FEW : ROUNDS;
    struct times times;
    times.cpu = host_us(subject, run_cpu, PICTURES);
    host_us(subject, run_copies, PICTURES);
    check(subject, name, "with copies");
    times.copies = host_us(subject, run_copies, bench->quick ? PICTURES : RUNS);
    device_us(bench, run_kernels, subject, PICTURES, 2); /* warms up, and fills every target */
    pictures_download(bench, subject->pictures);
    check(subject, name, "on the device");
    times.alone = device_us(bench, run_kernels, subject, 1, rounds * 4);
    times.row = device_us(bench, run_kernels, subject, bench->quick ? FEW : IN_A_ROW, rounds);
    return times;
}

static void bench_row(struct bench *bench, const struct row *row) {
    struct error err = {0};
    struct image layout;
    struct subject subject = {.bench = bench};
    struct image_shape shape = row->shape;
    struct resize_arguments arguments = row->arguments;
    if (bench->quick) {
        shape.width /= QUICK_DIVISOR;
        shape.height /= QUICK_DIVISOR;
        arguments.width = (arguments.width + QUICK_DIVISOR - 1) / QUICK_DIVISOR;
        arguments.height = (arguments.height + QUICK_DIVISOR - 1) / QUICK_DIVISOR;
    }
    must(chain_append(&subject.chain, filter_get(FILTER_RESIZE), &arguments, &shape, &err), &err);
    subject.result = chain_result(&subject.chain, &shape);
    subject.pictures = pictures_create(bench, &shape, image_layout(&layout, &subject.result));
    struct times times = measure(&subject, row->name);
    printf("| %s | %.0f | %.0f | %.2f | %.2f | %.1f |\n", row->name, times.cpu, times.copies, times.alone,
           times.row, times.cpu / times.copies);
    fflush(stdout);
    pictures_destroy(bench, subject.pictures);
}

void bench_resize(struct bench *bench) {
    printf(
        "\n### Resize\n\nLanczos unless the row says otherwise; microseconds, median. *Copies*: host memory "
        "to host memory, registered.\n\n"
        "| picture | CPU, one thread | copies | kernels, one | kernels, in a row | CPU / copies |\n"
        "|---|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench_row(bench, &rows[i]);
    }
}
