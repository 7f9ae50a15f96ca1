/* SPDX-License-Identifier: MIT
 * The filters of a query string, run on a small picture by the plain C code and by the best instruction set,
 * over memory that held different bytes: the pixels must be the same. The first four bytes are the picture's
 * size and kind, the rest is as for the target query. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/mask/mask.h"
#include "tests/fuzz/common/plan.h"

static struct backend *backend[2];
static struct lane *lane[2];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const char *const levels[] = {"plain", "auto"};
    for (unsigned i = 0; i < 2; i++) {
        struct error err = {0};
        fuzz_require(cpu_backend_open(levels[i], &backend[i], &err) == ST_OK, "the backend opens");
        fuzz_require(lane_create(backend[i], &lane[i], &err) == ST_OK, "there is a lane");
    }
    return 0;
}

static struct image_shape take_shape(struct bytes *input) {
    uint8_t kind = fuzz_byte(input);
    struct image_shape shape = {.model = (enum pixel_model)(kind % 5),
                                .depth = kind & 128 && kind % 5 != PIXEL_YCBCR ? 16 : 8,
                                .width = fuzz_byte(input) % 70u + 1,
                                .height = fuzz_byte(input) % 70u + 1};
    if (shape.model == PIXEL_YCBCR) {
        shape.chroma_shift_x = kind >> 3 & 1;
        shape.chroma_shift_y = kind >> 4 & 1;
    }
    return shape;
}

static void run_both(const struct chain *chain, const struct image *source, const struct image *mask) {
    static const uint8_t fills[2] = {0xA5, 0x5A};
    struct image_shape shape = image_shape(source), result = chain_result(chain, &shape);
    struct image target[2];
    for (unsigned i = 0; i < 2; i++) {
        struct error err = {0};
        target[i] = fuzz_image(&result, fills[i]);
        struct chain_run run = {.chain = chain, .source = source, .target = &target[i], .mask = mask};
        fuzz_require(lane_run(lane[i], &run, NULL, &err) == ST_OK, "a good chain runs");
    }
    bool stats = chain->step[0].filter == FILTER_STATS;
    fuzz_require(stats ? memcmp(target[0].plane[0].data, target[1].plane[0].data, sizeof(struct stats)) == 0
                       : fuzz_same_pixels(&target[0], &target[1]),
                 "every instruction set makes the same pixels");
    fuzz_image_free(&target[0]);
    fuzz_image_free(&target[1]);
}

/* Whether every step makes a small picture. */
static bool is_small(const struct chain *chain, const struct image_shape *shape) {
    enum { SIDE_MAX = 400 };
    bool small = true;
    for (uint32_t i = 0; i < chain->count; i++) {
        struct image_shape made = chain_shape(chain, shape, i + 1);
        small = small && made.width <= SIDE_MAX && made.height <= SIDE_MAX;
    }
    return small || chain->step[0].filter == FILTER_STATS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    static struct parameters parameters;
    static struct chain chain;
    struct image_shape shape = take_shape(&input);
    uint8_t seed = fuzz_byte(&input);
    if (size > 4096 || !fuzz_parameters(&input, &parameters) || !fuzz_takes(&parameters, &shape) ||
        fuzz_plan(&parameters, &shape, &chain) != ST_OK || !is_small(&chain, &shape)) {
        return 0;
    }
    const struct image_shape flat = {
        .model = PIXEL_GRAY, .depth = 8, .width = shape.width, .height = shape.height};
    struct image source = fuzz_image(&shape, 0x33), mask = fuzz_image(&flat, 0x33);
    fuzz_paint(&source, seed);
    const struct mask_options options = {.invert = parameters.input.invert};
    struct mask_report report;
    mask_draw(&mask, &parameters.input.region, &options, &report, NULL);
    bool masked = parameters.input.region.count > 0 && chain_takes_mask(&chain, &shape);
    run_both(&chain, &source, masked ? &mask : NULL);
    fuzz_image_free(&source);
    fuzz_image_free(&mask);
    return 0;
}
