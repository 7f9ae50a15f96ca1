/* SPDX-License-Identifier: MIT
 * Between the parts of blurd-bench, which measures the GPU backend of this host beside the
 * CPU backend and beside textbook code, in one run, and prints Markdown. A report: it ends
 * with 1 only when a result is wrong or a call fails. */
#ifndef BLURD_BENCH_GPU_BENCH_H
#define BLURD_BENCH_GPU_BENCH_H

#include "filters/backend.h"
#include "filters/chain.h"
#include "gpu/cuda/nvrtc.h"
#include "gpu/stream/stream.h"

enum { TEXTBOOK_TAPS = 7, BENCH_IMAGE_MAX = NVRTC_IMAGE_MAX + 1 };

/* The weights that the textbook kernel takes by value: see tutorial.cu. */
struct textbook_weights {
    int weight[TEXTBOOK_TAPS][TEXTBOOK_TAPS];
    int sum;
};

/* Kernels that are no part of the product, compiled by NVRTC at run time; NULL without one. */
struct bench_kernels {
    CUfunction textbook, saxpy, empty, hold;
};

struct bench {
    struct cuda cuda;
    struct gpu_device device;
    struct gpu_stream stream;
    struct bench_kernels kernels;
    struct backend *cpu;
    struct lane *cpu_lane;
    const char *library;  /* of the driver; NULL: the default */
    const char *pictures; /* folder of JPEGs; NULL: none */
    bool quick;           /* few repetitions and small pictures: for trying the program itself */
    unsigned wrong;       /* number of wrong results */
};

/* The sections. */
void bench_start(struct bench *bench, const char *program);
void bench_launch(struct bench *bench);
void bench_blur(struct bench *bench);
void bench_saxpy(struct bench *bench);
void bench_filters(struct bench *bench);
void bench_resize(struct bench *bench);
void bench_faces(struct bench *bench);
void bench_text(struct bench *bench);
void bench_persons(struct bench *bench);
void bench_jpeg(struct bench *bench);
void bench_profile(struct bench *bench);
void bench_facts(struct bench *bench);

/* The process that bench_start measures. */
int bench_start_child(const char *library, const char *format, const char *cache_folder);

/* Ends the program with the sentence when the status is not ST_OK. */
void must(enum status status, const struct error *err);
_Noreturn void give_up(const char *sentence);

/* Opens driver, device, lane and CPU backend; 77 without a driver. */
void bench_open(struct bench *bench);
void bench_close(struct bench *bench);

/* Compiles CUDA C++ with NVRTC for the device: machine code, or PTX, which ends in a zero that counts. */
enum status bench_compile_source(struct bench *bench, const char *source, bool ptx, struct buf *image,
                                 struct error *err);

/* Compiles machine code and loads it. */
enum status bench_load_module(struct bench *bench, const char *source, CUmodule *module, struct error *err);

/* Fills bench->kernels, or says why they are missing. */
void bench_compile(struct bench *bench);
/* A bench kernel by value of its parameters, on bench->stream.handle. */
void bench_launch_kernel(struct bench *bench, CUfunction kernel, unsigned grid_x, unsigned grid_y,
                         unsigned block_x, unsigned block_y, void **parameters);

/* Median, or another quantile, 0 to 1; sorts the values. */
double quantile(double *values, unsigned count, double which);

/* Time on the device, in µs, of one call of `work` among `count` calls enqueued in a row, without the host's
 * time: the stream is blocked until all are enqueued. Call i gets the index i. Median of `rounds`. */
double device_us(struct bench *bench, void (*work)(void *context, unsigned i), void *context, unsigned count,
                 unsigned rounds);

/* The CUDA sources in bench/gpu/sources.c. */
extern const char bench_source[], special_source[], facts_source[];

#endif
