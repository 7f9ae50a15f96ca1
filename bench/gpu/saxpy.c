/* SPDX-License-Identifier: MIT
 * y = a x + y over 16.7 million floats: the kernel, and an application around it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "core/clock.h"

enum { COUNT = 1 << 24, COUNT_QUICK = 1 << 16, THREADS = 256, RUNS = 9, IN_A_ROW = 10, ROUNDS = 15 };

struct saxpy {
    struct bench *bench;
    unsigned count;
    size_t size;
    float *x, *y, *result;
    CUdeviceptr device_x, device_y;
};

static void launch(void *context, unsigned i) {
    struct saxpy *saxpy = context;
    float a = 2;
    void *parameters[] = {&saxpy->count, &a, &saxpy->device_x, &saxpy->device_y};
    (void)i;
    bench_launch_kernel(saxpy->bench, saxpy->bench->kernels.saxpy, (saxpy->count + THREADS - 1) / THREADS, 1,
                        THREADS, 1, parameters);
}

static void allocate_device(struct saxpy *saxpy) {
    struct error err = {0};
    must(CUDA_TRY(&saxpy->bench->cuda, &err, cuMemAlloc, &saxpy->device_x, saxpy->size), &err);
    must(CUDA_TRY(&saxpy->bench->cuda, &err, cuMemAlloc, &saxpy->device_y, saxpy->size), &err);
}

static void free_device(struct saxpy *saxpy) {
    saxpy->bench->cuda.cuMemFree(saxpy->device_x);
    saxpy->bench->cuda.cuMemFree(saxpy->device_y);
}

/* From host memory to host memory, with allocation and release of the device memory. */
static double run_application(struct saxpy *saxpy) {
    const struct cuda *cuda = &saxpy->bench->cuda;
    CUstream stream = saxpy->bench->stream.handle;
    struct error err = {0};
    int64_t begin = clock_ns();
    allocate_device(saxpy);
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, saxpy->device_x, saxpy->x, saxpy->size, stream), &err);
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, saxpy->device_y, saxpy->y, saxpy->size, stream), &err);
    launch(saxpy, 0);
    must(CUDA_TRY(cuda, &err, cuMemcpyDtoHAsync, saxpy->result, saxpy->device_y, saxpy->size, stream), &err);
    must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream), &err);
    free_device(saxpy);
    return clock_ns_to_ms(clock_ns() - begin);
}

/* Whole numbers, so that the sum is exact however it is computed. */
static void fill(struct saxpy *saxpy) {
    for (unsigned i = 0; i < saxpy->count; i++) {
        saxpy->x[i] = (float)(i % 4099);
        saxpy->y[i] = (float)(i % 1009);
    }
}

static void check(struct saxpy *saxpy, const char *what) {
    for (unsigned i = 0; i < saxpy->count; i++) {
        if (saxpy->result[i] != 2 * (float)(i % 4099) + (float)(i % 1009)) {
            printf("\nWRONG: %s, element %u is %g\n", what, i, (double)saxpy->result[i]);
            saxpy->bench->wrong++;
            return;
        }
    }
}

static double time_application(struct saxpy *saxpy, const char *what) {
    double ms[RUNS];
    fill(saxpy);
    for (unsigned i = 0; i < RUNS; i++) {
        memset(saxpy->result, 0xff, saxpy->size);
        ms[i] = run_application(saxpy);
        check(saxpy, what);
    }
    return quantile(ms, RUNS, 0.5);
}

static double time_kernel(struct saxpy *saxpy) {
    const struct cuda *cuda = &saxpy->bench->cuda;
    struct error err = {0};
    allocate_device(saxpy);
    fill(saxpy);
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, saxpy->device_x, saxpy->x, saxpy->size,
                  saxpy->bench->stream.handle),
         &err);
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, saxpy->device_y, saxpy->y, saxpy->size,
                  saxpy->bench->stream.handle),
         &err);
    double us = device_us(saxpy->bench, launch, saxpy, IN_A_ROW, ROUNDS);
    free_device(saxpy);
    return us;
}

static void place(struct saxpy *saxpy, void *memory) {
    saxpy->x = memory;
    saxpy->y = saxpy->x + saxpy->count;
    saxpy->result = saxpy->y + saxpy->count;
}

void bench_saxpy(struct bench *bench) {
    const struct cuda *cuda = &bench->cuda;
    struct error err = {0};
    struct saxpy saxpy = {.bench = bench, .count = bench->quick ? COUNT_QUICK : COUNT};
    printf("\n### SAXPY\n\n");
    if (!bench->kernels.saxpy) {
        printf("Not measured, there is no kernel for it.\n");
        return;
    }
    saxpy.size = saxpy.count * sizeof(float);
    void *pageable = malloc(3 * saxpy.size);
    void *pinned = NULL;
    must(pageable ? ST_OK : fail(&err, ST_BUSY, "no memory"), &err);
    must(CUDA_TRY(cuda, &err, cuMemHostAlloc, &pinned, 3 * saxpy.size, 0), &err);
    place(&saxpy, pageable);
    double plain = time_application(&saxpy, "SAXPY with pageable memory");
    place(&saxpy, pinned);
    double fast = time_application(&saxpy, "SAXPY with pinned memory");
    double us = time_kernel(&saxpy);
    printf("%u floats, median; the application takes device memory, copies x and y, runs the kernel, copies "
           "y back and "
           "frees.\n\n| kernel, µs | GB/s | application, pageable memory, ms | pinned, ms "
           "|\n|--:|--:|--:|--:|\n",
           saxpy.count);
    printf("| %.1f | %.0f | %.2f | %.2f |\n", us, 3 * (double)saxpy.size / us / 1000, plain, fast);
    cuda->cuMemFreeHost(pinned);
    free(pageable);
}
