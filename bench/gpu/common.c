/* SPDX-License-Identifier: MIT
 * Functions that the sections share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "cpu/cpu.h"

enum { NO_DRIVER = 77, HOLD_BASE_NS = 200000, HOLD_EACH_NS = 40000, ROUNDS_MAX = 1024 };

void give_up(const char *sentence) {
    fflush(stdout);
    fprintf(stderr, "blurd-bench: %s\n", sentence);
    exit(1);
}

void must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        give_up(err->text);
    }
}

/* ---- opening ---- */

void bench_open(struct bench *bench) {
    struct error err = {0};
    struct program_options options = {.format = MODULE_AUTO};
    if (cuda_open(&bench->cuda, bench->library, &err) != ST_OK) {
        fflush(stdout);
        fprintf(stderr, "blurd-bench: nothing to measure here: %s\n", err.text);
        exit(NO_DRIVER);
    }
    must(gpu_device_open(&bench->device, &bench->cuda, 0, &options, &err), &err);
    must(gpu_stream_init(&bench->stream, &bench->device, &err), &err);
    must(cpu_backend_open("auto", &bench->cpu, &err), &err);
    must(lane_create(bench->cpu, &bench->cpu_lane, &err), &err);
    printf("%s (sm_%d%d), driver of CUDA %d.%d, kernels: %s; CPU backend %s\n", bench->device.name,
           bench->device.major, bench->device.minor, bench->cuda.version / 1000,
           bench->cuda.version % 1000 / 10, bench->device.program.how, bench->cpu->name);
}

void bench_close(struct bench *bench) {
    lane_destroy(bench->cpu_lane);
    backend_close(bench->cpu);
    gpu_stream_finish(&bench->stream);
    gpu_device_close(&bench->device);
}

/* ---- kernels that are no part of the product ---- */

enum status bench_compile_source(struct bench *bench, const char *source, bool ptx, struct buf *image,
                                 struct error *err) {
    struct nvrtc nvrtc;
    struct nvrtc_target target;
    enum status status = nvrtc_open(&nvrtc, NULL, bench->cuda.version / 1000, err);
    if (status == ST_OK) {
        status = nvrtc_choose(&nvrtc, bench->device.major * 10 + bench->device.minor, &target, err);
        target.ptx = target.ptx || ptx;
    }
    if (status == ST_OK) {
        status = nvrtc_compile(&nvrtc, source, target, image, err);
    }
    return status == ST_OK ? buf_append(image, "", 1, err) : status; /* PTX ends in a zero */
}

enum status bench_load_module(struct bench *bench, const char *source, CUmodule *module, struct error *err) {
    struct buf image;
    buf_init(&image, BENCH_IMAGE_MAX);
    enum status status = bench_compile_source(bench, source, false, &image, err);
    if (status == ST_OK) {
        status = CUDA_TRY(&bench->cuda, err, cuModuleLoadData, module, image.data);
    }
    buf_finish(&image);
    return status;
}

static enum status find_kernels(struct bench *bench, CUmodule module, struct error *err) {
    struct bench_kernels *kernels = &bench->kernels;
    const struct {
        CUfunction *function;
        const char *name;
    } wanted[] = {{&kernels->textbook, "textbook_blur"},
                  {&kernels->saxpy, "saxpy"},
                  {&kernels->empty, "empty"},
                  {&kernels->hold, "hold"}};
    enum status status = ST_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == ST_OK; i++) {
        status = CUDA_TRY(&bench->cuda, err, cuModuleGetFunction, wanted[i].function, module, wanted[i].name);
    }
    return status;
}

void bench_compile(struct bench *bench) {
    struct error err = {0};
    CUmodule module = NULL;
    enum status status = bench_load_module(bench, bench_source, &module, &err);
    if (status == ST_OK) {
        status = find_kernels(bench, module, &err);
    }
    if (status != ST_OK) {
        bench->kernels = (struct bench_kernels){0};
        printf("\nNo textbook kernel, SAXPY or empty kernel to compare with: %s\n", err.text);
    }
}

void bench_launch_kernel(struct bench *bench, CUfunction kernel, unsigned grid_x, unsigned grid_y,
                         unsigned block_x, unsigned block_y, void **parameters) {
    struct error err = {0};
    must(CUDA_TRY(&bench->cuda, &err, cuLaunchKernel, kernel, grid_x, grid_y, 1, block_x, block_y, 1, 0,
                  bench->stream.handle, parameters, NULL),
         &err);
}

/* ---- time ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, unsigned count, double which) {
    qsort(values, count, sizeof *values, by_value);
    unsigned at = (unsigned)((double)count * which);
    return values[at < count ? at : count - 1];
}

double device_us(struct bench *bench, void (*work)(void *context, unsigned i), void *context, unsigned count,
                 unsigned rounds) {
    static double took[ROUNDS_MAX];
    const struct cuda *cuda = &bench->cuda;
    struct gpu_stream *stream = &bench->stream;
    struct error err = {0};
    unsigned long long held = HOLD_BASE_NS + (unsigned long long)count * HOLD_EACH_NS;
    void *parameters[] = {&held};
    rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (unsigned r = 0; r < rounds; r++) {
        float ms = 0;
        if (bench->kernels.hold) {
            bench_launch_kernel(bench, bench->kernels.hold, 1, 1, 1, 1, parameters);
        }
        must(CUDA_TRY(cuda, &err, cuEventRecord, stream->begin, stream->handle), &err);
        for (unsigned i = 0; i < count; i++) {
            work(context, r + i);
        }
        must(CUDA_TRY(cuda, &err, cuEventRecord, stream->filtered, stream->handle), &err);
        must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream->handle), &err);
        must(CUDA_TRY(cuda, &err, cuEventElapsedTime, &ms, stream->begin, stream->filtered), &err);
        took[r] = (double)ms * 1000 / count;
    }
    return quantile(took, rounds, 0.5);
}
