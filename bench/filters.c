/* SPDX-License-Identifier: MIT
 * Time of the CPU filters on a 1080p picture, one thread: the median of several runs in
 * milliseconds, beside a memcpy of the same bytes. A report, not a test.
 *
 *     filters [level ...]      baseline, avx2, avx512; without: those that the processor has */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "cpu/cpu.h"
#include "filters/chain.h"

enum { WIDTH = 1920, HEIGHT = 1080, RUNS = 15 };

struct subject {
    const char *name;
    struct image_shape shape;
};

static const struct subject subjects[] = {
    {"RGB", {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT}},
    {"4:2:0",
     {.model = PIXEL_YCBCR,
      .depth = 8,
      .chroma_shift_x = 1,
      .chroma_shift_y = 1,
      .width = WIDTH,
      .height = HEIGHT}},
    {"RGBA", {.model = PIXEL_RGBA, .depth = 8, .width = WIDTH, .height = HEIGHT}},
    {"RGB 16", {.model = PIXEL_RGB, .depth = 16, .width = WIDTH, .height = HEIGHT}},
};

static const double sigmas[] = {0.5, 1, 1.5, 3, 5, 8, 20, 50, 100, 200};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0], SIGMAS = sizeof sigmas / sizeof sigmas[0] };

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median_ms(int64_t ns[RUNS]) {
    qsort(ns, RUNS, sizeof ns[0], compare);
    return ns_to_ms(ns[RUNS / 2]);
}

static struct image make_image(const struct image_shape *shape) {
    struct image image;
    size_t size = image_layout(&image, shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223;
        memory[i] = (uint8_t)(state >> 24);
    }
    image_place(&image, memory);
    return image;
}

static double time_copy(const struct image *source, const struct image *target, size_t size) {
    int64_t ns[RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        int64_t start = clock_ns();
        memcpy(target->plane[0].data, source->plane[0].data, size);
        ns[i] = clock_ns() - start;
    }
    return median_ms(ns);
}

static double time_blur(struct lane *lane, double sigma, const struct image *source,
                        const struct image *target) {
    const struct filter *filter = filter_get(FILTER_BLUR);
    struct blur_arguments arguments;
    arguments_default(filter->arguments, &arguments);
    arguments.sigma = sigma;
    struct image_shape shape = image_shape(source);
    struct chain chain = {0};
    struct error err = {0};
    int64_t ns[RUNS];
    enum status status = chain_append(&chain, filter, &arguments, &shape, &err);
    for (unsigned i = 0; i < RUNS && status == ST_OK; i++) {
        struct lane_timing timing;
        status = lane_run(lane, &chain, NULL, source, target, &timing, &err);
        ns[i] = timing.filter_ns;
    }
    if (status != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return median_ms(ns);
}

static void report(struct backend *backend, struct lane *lane, const struct subject *subject) {
    struct image layout;
    size_t size = image_layout(&layout, &subject->shape);
    struct image source = make_image(&subject->shape);
    struct image target = make_image(&subject->shape);
    printf("%-12s %-7s %6.3f", backend->name, subject->name, time_copy(&source, &target, size));
    for (unsigned i = 0; i < SIGMAS; i++) {
        printf(" %7.3f", time_blur(lane, sigmas[i], &source, &target));
    }
    printf("\n");
    free(source.plane[0].data);
    free(target.plane[0].data);
}

static void bench_level(const char *level) {
    struct backend *backend;
    struct lane *lane;
    struct error err = {0};
    if (cpu_backend_open(level, &backend, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    if (lane_create(backend, &lane, &err) == ST_OK) {
        for (unsigned i = 0; i < SUBJECTS; i++) {
            report(backend, lane, &subjects[i]);
        }
        lane_destroy(lane);
    }
    backend_close(backend);
}

int main(int argc, char **argv) {
    static const char *const all[] = {"baseline", "avx2", "avx512"};
    printf("%-12s %-7s %6s", "1080p, ms", "", "copy");
    for (unsigned i = 0; i < SIGMAS; i++) {
        printf(" %7g", sigmas[i]);
    }
    printf("\n");
    for (unsigned i = 0; i < sizeof all / sizeof all[0] && argc < 2; i++) {
        bench_level(all[i]);
    }
    for (int i = 1; i < argc; i++) {
        bench_level(argv[i]);
    }
    return 0;
}
