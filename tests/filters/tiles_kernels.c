/* SPDX-License-Identifier: MIT */
#include "tests/filters/tiles_kernels.h"

#include "tests/filters/tiles_emulated.h"

#define PLAIN_BYTES
#include "cpu/detect/simd/plain.h"
/* this needs the vectors above */
#include "cpu/detect/simd/tiles.h"

enum { CHANNELS = 16 /* of a depthwise layer, whose weights lie together */ };

/* For each column of a window, fours of its taps for each channel (cpu/detect/detect_pack.c). */
static uint8_t depth_byte(const struct detect_depth *job, size_t pixel, unsigned channel) {
    const struct detect_packed *layer = job->layer;
    const unsigned fours = (layer->size + 3) / 4, chunk = channel / CHANNELS * CHANNELS;
    const weight *weights =
        (const weight *)layer->weights + chunk * layer->size * fours * 4 + channel % CHANNELS * 4;
    int32_t sum = layer->bias[channel];
    for (unsigned x = 0; x < layer->size; x++) {
        for (unsigned y = 0; y < layer->size; y++) {
            const uint8_t tap = job->from[y][(pixel * job->stride + x) * layer->outputs + channel];
            sum += tap * weights[(x * fours + y / 4) * 4 * CHANNELS + y % 4];
        }
    }
    float t = (float)sum * layer->scale[channel];
    t = layer->relu && t < 0 ? 0 : t;
    t = rintf(t + layer->offset);
    return (uint8_t)(t < 0 ? 0 : t > 255 ? 255 : t);
}

static void depth(const struct detect_depth *job) {
    for (size_t i = 0; i < job->pixels; i++) {
        for (unsigned c = 0; c < job->layer->outputs; c++) {
            job->to[i * job->layer->outputs + c] = depth_byte(job, i, c);
        }
    }
}

const struct detect_kernels *tiles_kernels_plain(void) {
    static struct detect_kernels kernels;
    kernels = *detect_kernels_plain();
    kernels.format = (struct detect_format){.lanes = LANES, .unit = UNIT, .tiles = true, .chunk = CHANNELS};
    kernels.dense = tiles_dense;
    kernels.sums = tiles_sums;
    kernels.depth = depth;
    return &kernels;
}
