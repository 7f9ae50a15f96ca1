/* SPDX-License-Identifier: MIT
 * Pictures to measure a machine with: files of the user, or JPEGs with the detail of a photograph. */
#ifndef BLURD_SERVER_BENCHMARK_BENCH_PICTURES_H
#define BLURD_SERVER_BENCHMARK_BENCH_PICTURES_H

#include <stdint.h>

#include "core/bytes.h"
#include "core/status.h"

enum { BENCH_PICTURES_MAX = 16, BENCH_NAME_MAX = 32 };

struct bench_picture {
    char name[BENCH_NAME_MAX]; /* a file's name without its folder, or a size */
    struct buf file;
    uint32_t width, height;
};

struct bench_pictures {
    unsigned count;
    struct bench_picture picture[BENCH_PICTURES_MAX];
};

/* Reads `count` files (up to BENCH_PICTURES_MAX, `largest` bytes each) and their headers; with 0 files it
 * makes three JPEGs, 4:2:0 at quality 90. ST_ARGUMENT for a file that cannot be read or is no picture. Call
 * bench_pictures_finish in any case. */
enum status bench_pictures_init(struct bench_pictures *pictures, int count, char *const *paths,
                                uint64_t largest, struct error *err);
void bench_pictures_finish(struct bench_pictures *pictures);

#endif
