/* SPDX-License-Identifier: MIT
 * Measures the cost of a launch when everything is warm. */
#include <stdio.h>

#include "bench/gpu/bench.h"
#include "core/clock.h"
#include "gpu/filters/filters.h"

enum { LAUNCHES = 10000, LAUNCHES_QUICK = 100, WARM = 50, SIDE = 16 };

/* How the host waits. */
enum waiting { POLLING, SLEEPING };

struct tiny {
    struct bench *bench;
    struct chain chain;
    struct image source, target;
};

static void launch_empty(struct tiny *tiny) {
    bench_launch_kernel(tiny->bench, tiny->bench->kernels.empty, 1, 1, 1, 1, NULL);
}

static void launch_blur(struct tiny *tiny) {
    struct error err = {0};
    must(gpu_blur(&tiny->bench->stream, &tiny->chain.step[0].blur, &tiny->source, &tiny->target, &err), &err);
}

static void wait_for(struct bench *bench, enum waiting waiting) {
    struct error err = {0};
    CUresult result = CUDA_ERROR_NOT_READY;
    while (waiting == POLLING && result == CUDA_ERROR_NOT_READY) {
        result = bench->cuda.cuStreamQuery(bench->stream.handle);
    }
    if (result != CUDA_SUCCESS) {
        must(CUDA_TRY(&bench->cuda, &err, cuStreamSynchronize, bench->stream.handle), &err);
    }
}

static void print_row(struct tiny *tiny, const char *name, void (*launch)(struct tiny *tiny),
                      enum waiting waiting) {
    static double enqueue[LAUNCHES], complete[LAUNCHES];
    struct bench *bench = tiny->bench;
    unsigned count = bench->quick ? LAUNCHES_QUICK : LAUNCHES;
    for (unsigned i = 0; i < WARM + count; i++) {
        unsigned at = i < WARM ? 0 : i - WARM;
        int64_t begin = clock_ns();
        launch(tiny);
        int64_t enqueued = clock_ns();
        wait_for(bench, waiting);
        enqueue[at] = (double)(enqueued - begin) / 1000;
        complete[at] = (double)(clock_ns() - begin) / 1000;
    }
    printf("| %s | %s | %.2f | %.2f | %.2f | %.2f |\n", name, waiting == POLLING ? "polls" : "sleeps",
           quantile(enqueue, count, 0.5), quantile(enqueue, count, 0.99), quantile(complete, count, 0.5),
           quantile(complete, count, 0.99));
}

void bench_launch(struct bench *bench) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = SIDE, .height = SIDE};
    const struct blur_arguments arguments = {.sigma = 1.5};
    struct tiny tiny = {.bench = bench};
    struct error err = {0};
    CUdeviceptr data = 0;
    size_t size = image_layout(&tiny.source, &shape);
    tiny.target = tiny.source;
    must(CUDA_TRY(&bench->cuda, &err, cuMemAlloc, &data, 2 * size), &err);
    image_place(&tiny.source, (uint8_t *)(uintptr_t)data);
    image_place(&tiny.target, (uint8_t *)(uintptr_t)(data + size));
    must(chain_append(&tiny.chain, filter_get(FILTER_BLUR), &arguments, &shape, &err), &err);
    printf("\n### Warm launch\n\nMicroseconds, of %u. The host polls the stream, or sleeps until the device "
           "wakes "
           "it, as the service does.\n\n| what | host | enqueue | p99 | to completion | p99 "
           "|\n|---|---|--:|--:|--:|--:|\n",
           bench->quick ? LAUNCHES_QUICK : LAUNCHES);
    for (int waiting = POLLING; waiting <= SLEEPING; waiting++) {
        if (bench->kernels.empty) {
            print_row(&tiny, "empty kernel", launch_empty, (enum waiting)waiting);
        }
        print_row(&tiny, "blur of 16x16, with its planning", launch_blur, (enum waiting)waiting);
    }
    bench->cuda.cuMemFree(data);
}
