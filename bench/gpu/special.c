/* SPDX-License-Identifier: MIT */
#include "bench/gpu/special.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/clock.h"

enum {
    TEXT_MAX = 1 << 20,
    COLUMNS = 256,
    HEIGHT = 32,
    ROWS = 4,
    CHANNELS = 3,
    THREADS_X = 32,
    THREADS_Y = 8
};

struct special {
    struct bench *bench;
    const struct pictures *pictures;
    CUmodule module;
    CUfunction kernel;
    int width; /* of a tile, in pixels */
    double compile_ms;
};

/* Row by row and left to right: loads a value and adds its product to each sum that it is part of. */
static enum status write_sums(struct buf *text, const struct convolve_plan *plan, struct error *err) {
    enum status status = buf_printf(text, err, "#define SUMS ");
    for (int y = 0; y < plan->height + ROWS - 1; y++) {
        for (int x = 0; x < plan->width && status == ST_OK; x++) {
            status = buf_printf(text, err, "\\\n VALUE(%d, %d)", y, x);
            for (int r = 0; r < ROWS && status == ST_OK; r++) {
                if (y - r >= 0 && y - r < plan->height) {
                    float weight = plan->weight[(y - r) * plan->width + x];
                    status = buf_printf(text, err, " ADD(%d, %af)", r, (double)weight);
                }
            }
        }
    }
    return status;
}

/* Ends in a zero. */
static enum status write_source(struct buf *text, const struct convolve_plan *plan, struct error *err) {
    enum status status = buf_printf(text, err, "#define WIDTH %d\n#define HEIGHT %d\n#define DIVISOR %af\n",
                                    plan->width, plan->height, (double)plan->divisor);
    if (status == ST_OK) {
        status = write_sums(text, plan, err);
    }
    return status == ST_OK ? buf_printf(text, err, "\n%s%c", special_source, '\0') : status;
}

enum status special_create(struct special **special, struct bench *bench, const struct pictures *pictures,
                           const struct convolve_plan *plan, struct error *err) {
    struct special *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "no memory");
    }
    made->bench = bench;
    made->pictures = pictures;
    made->width = COLUMNS / CHANNELS - (plan->width - 1);
    struct buf text;
    buf_init(&text, TEXT_MAX);
    int64_t begin = clock_ns();
    enum status status = write_source(&text, plan, err);
    if (status == ST_OK) {
        status = bench_load_module(bench, (const char *)text.data, &made->module, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(&bench->cuda, err, cuModuleGetFunction, &made->kernel, made->module, "special");
    }
    made->compile_ms = clock_ns_to_ms(clock_ns() - begin);
    buf_finish(&text);
    if (status != ST_OK) {
        special_destroy(made);
        return status;
    }
    *special = made;
    return ST_OK;
}

void special_destroy(struct special *special) {
    if (special && special->module) {
        special->bench->cuda.cuModuleUnload(special->module);
    }
    free(special);
}

void special_run(void *context, unsigned i) {
    struct special *special = context;
    const struct plane *from = &special->pictures->device_source[i % PICTURES].plane[0];
    const struct plane *to = &special->pictures->device_target[i % PICTURES].plane[0];
    int width = (int)from->width, height = (int)from->height;
    long long stride = (long long)from->stride;
    void *source = from->data, *target = to->data;
    void *parameters[] = {&source, &target, &stride, &width, &height};
    bench_launch_kernel(special->bench, special->kernel,
                        (from->width + (unsigned)special->width - 1) / (unsigned)special->width,
                        (from->height + HEIGHT - 1) / HEIGHT, THREADS_X, THREADS_Y, parameters);
}

double special_compile_ms(const struct special *special) {
    return special->compile_ms;
}
