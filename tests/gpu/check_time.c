/* SPDX-License-Identifier: MIT
 * Kernel times on 1080p pictures, by events on the device: of one blur alone (median of many; the
 * events themselves are in it), and per blur of many in a row. Inputs and outputs rotate among
 * buffers that together exceed the cache. Beside each: the textbook kernel in the same run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/blur.h"
#include "gpu/kernels.h"
#include "tests/gpu/check.h"

enum { BUFFERS = 8, ALONE = 301, ROUNDS = 9, ROW = 64, WIDTH = 1920, HEIGHT = 1080 };

struct timed {
    struct check *check;
    struct image source[BUFFERS], target[BUFFERS]; /* on the device */
    CUdeviceptr memory;
    struct chain chain; /* what is timed; count 0: the textbook kernel */
};

static void run_yardstick(struct timed *timed, unsigned i) {
    const struct plane *source = &timed->source[i].plane[0];
    struct error err = {0};
    struct yardstick_blur blur = {
        .source = (uint64_t)(uintptr_t)source->data,
        .target = (uint64_t)(uintptr_t)timed->target[i].plane[0].data,
        .stride = (int64_t)source->stride,
        .width = (int32_t)source->width,
        .height = (int32_t)source->height,
    };
    for (int y = -3; y <= 3; y++) {
        for (int x = -3; x <= 3; x++) {
            int weight = (int)lround(1000 * exp(-(x * x + y * y) / (2 * 1.5 * 1.5)));
            blur.weight[y + 3][x + 3] = weight;
            blur.sum += weight;
        }
    }
    void *parameters[] = {&blur};
    struct check *check = timed->check;
    must(CUDA_TRY(&check->cuda, &err, cuLaunchKernel, check->device.program.kernel[KERNEL_yardstick],
                  (WIDTH + 15) / 16, (HEIGHT + 15) / 16, 1, 16, 16, 1, 0, check->lane.stream, parameters,
                  NULL),
         &err);
}

static void run_once(struct timed *timed, unsigned i) {
    struct error err = {0};
    i %= BUFFERS;
    if (timed->chain.count == 0) {
        run_yardstick(timed, i);
        return;
    }
    must(
        gpu_blur(&timed->check->lane, &timed->chain.step[0].blur, &timed->source[i], &timed->target[i], &err),
        &err);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds per blur of `count` in a row, the median of `rounds`. */
static double measure(struct timed *timed, unsigned count, unsigned rounds) {
    static double took[ALONE];
    struct check *check = timed->check;
    struct gpu_lane *lane = &check->lane;
    struct error err = {0};
    for (unsigned r = 0; r < rounds; r++) {
        float ms = 0;
        must(CUDA_TRY(&check->cuda, &err, cuEventRecord, lane->begin, lane->stream), &err);
        for (unsigned i = 0; i < count; i++) {
            run_once(timed, r + i);
        }
        must(CUDA_TRY(&check->cuda, &err, cuEventRecord, lane->filtered, lane->stream), &err);
        must(CUDA_TRY(&check->cuda, &err, cuStreamSynchronize, lane->stream), &err);
        must(CUDA_TRY(&check->cuda, &err, cuEventElapsedTime, &ms, lane->begin, lane->filtered), &err);
        took[r] = (double)ms * 1000 / count;
    }
    qsort(took, rounds, sizeof *took, by_value);
    return took[rounds / 2];
}

static void place(struct timed *timed, const struct image_shape *shape) {
    struct check *check = timed->check;
    struct error err = {0};
    struct image layout;
    size_t size = image_layout(&layout, shape);
    must(CUDA_TRY(&check->cuda, &err, cuMemAlloc, &timed->memory, 2 * BUFFERS * size), &err);
    uint8_t *noise = malloc(size);
    must(noise ? ST_OK : fail(&err, ST_BUSY, "no memory"), &err);
    for (size_t i = 0; i < size; i++) {
        check->random = check->random * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (uint8_t)(check->random >> 56);
    }
    for (unsigned i = 0; i < BUFFERS; i++) {
        timed->source[i] = timed->target[i] = layout;
        CUdeviceptr at = timed->memory + 2 * i * size;
        image_place(&timed->source[i], (uint8_t *)(uintptr_t)at);
        image_place(&timed->target[i], (uint8_t *)(uintptr_t)(at + size));
        must(CUDA_TRY(&check->cuda, &err, cuMemcpyHtoDAsync, at, noise, size, check->lane.stream), &err);
    }
    must(CUDA_TRY(&check->cuda, &err, cuStreamSynchronize, check->lane.stream), &err);
    free(noise);
}

static void print_line(struct timed *timed, const char *model, double sigma, int kernel_size,
                       double yardstick) {
    measure(timed, ROW, 2); /* warms up */
    double alone = measure(timed, 1, ALONE);
    double row = measure(timed, ROW, ROUNDS);
    printf("%-10s %6g %12d %10.2f %10.2f", model, sigma, kernel_size, alone, row);
    if (yardstick > 0) {
        printf(" %10.1f", yardstick / row);
    }
    printf("\n");
    fflush(stdout);
}

void check_time(struct check *check) {
    static const struct image_shape shapes[] = {
        {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT},
        {.model = PIXEL_YCBCR,
         .depth = 8,
         .chroma_shift_x = 1,
         .chroma_shift_y = 1,
         .width = WIDTH,
         .height = HEIGHT},
        {.model = PIXEL_RGBA, .depth = 8, .width = WIDTH, .height = HEIGHT},
    };
    static const char *const names[] = {"rgb", "4:2:0", "rgba"};
    static const struct {
        double sigma;
        int kernel_size;
    } cases[] = {{1.5, 0}, {1.5, 7}, {3, 0}, {5, 0}, {8, 0}, {20, 0}, {50, 0}, {100, 0}, {300, 0}};
    double yardstick = 0;
    printf("%-10s %6s %12s %10s %10s %10s\n", "1080p", "sigma", "kernel_size", "alone, us", "in a row",
           "ratio");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        static struct timed timed;
        timed = (struct timed){.check = check};
        place(&timed, &shapes[s]);
        if (s == 0) {
            print_line(&timed, "textbook", 1.5, 7, 0);
            yardstick = measure(&timed, ROW, ROUNDS);
        }
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct blur_arguments arguments = {.sigma = cases[i].sigma, .kernel_size = cases[i].kernel_size};
            timed.chain = make_chain(&arguments, &shapes[s]);
            print_line(&timed, names[s], arguments.sigma, arguments.kernel_size, yardstick);
        }
        check->cuda.cuMemFree(timed.memory);
    }
}
