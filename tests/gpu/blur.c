/* SPDX-License-Identifier: MIT
 * The blur. */
#include <stdio.h>

#include "tests/gpu/check.h"

static const double sigmas[] = {0.1, 0.3, 0.5, 1,  1.5, 2,  3,  3.99, 4,   5,  7.9,
                                8,   12,  16,  20, 33,  50, 64, 100,  300, 500};

static double any_sigma(struct check *check) {
    return sigmas[check_below(check, COUNT(sigmas))];
}

static void check_case(struct check *check, size_t model, uint32_t width, uint32_t height,
                       struct blur_arguments arguments) {
    struct image_shape shape = check_models[model];
    struct chain chain = {0};
    char text[80];
    shape.width = width;
    shape.height = height;
    check_append(&chain, FILTER_BLUR, &arguments, &shape);
    snprintf(text, sizeof text, "blur sigma %g, kernel_size %d, edge %d", arguments.sigma,
             arguments.kernel_size, arguments.edge);
    check_kernels(check, &shape, &chain, text);
}

/* Through the lane, in chains of one to three steps, as requests go. */
static void check_chain(struct check *check, unsigned steps) {
    struct image_shape shape = check_models[check_below(check, CHECK_MODELS)];
    struct chain chain = {0};
    shape.width = 50 + check_below(check, 50);
    shape.height = 40;
    for (unsigned i = 0; i < steps; i++) {
        check_append(&chain, FILTER_BLUR, &(struct blur_arguments){.sigma = any_sigma(check)}, &shape);
    }
    check_lane(check, &shape, &chain, false, "blurs");
}

/* Every sigma with every size and edge. `all`: with every model, else with one by chance. */
static void check_sigmas(struct check *check, bool all) {
    for (size_t s = 0; s < COUNT(sigmas); s++) {
        for (size_t z = 0; z < CHECK_SIZES; z++) {
            for (int edge = EDGE_CLAMP; edge <= EDGE_ZERO; edge++) {
                size_t chosen = check_below(check, CHECK_MODELS);
                for (size_t m = all ? 0 : chosen; m < (all ? CHECK_MODELS : chosen + 1); m++) {
                    struct blur_arguments arguments = {.sigma = sigmas[s], .edge = edge};
                    check_case(check, m, check_sizes[z][0], check_sizes[z][1], arguments);
                }
            }
        }
    }
}

/* Every model with every edge and the typical ways of filtering. */
static void check_models_all(struct check *check) {
    static const double few[] = {1, 1.5, 3, 5, 11, 40};
    for (size_t m = 0; m < CHECK_MODELS; m++) {
        for (size_t i = 0; i < COUNT(few) * 4; i++) {
            struct blur_arguments arguments = {.sigma = few[i / 4], .edge = (int)(i % 4)};
            check_case(check, m, 66 + check_below(check, 100), 20 + check_below(check, 60), arguments);
        }
    }
}

/* Several tiles of each kernel side by side, so that some lie within the picture. */
static void check_tiles(struct check *check) {
    static const double few[] = {2.5, 4, 5, 11};
    static const uint32_t sizes[][2] = {{2003, 75}, {2048, 130}};
    for (size_t m = 0; m < CHECK_MODELS; m++) {
        for (size_t i = 0; i < COUNT(few) * 4 && check_models[m].depth == 8; i++) {
            struct blur_arguments arguments = {.sigma = few[i / 4], .edge = (int)(i % 4)};
            const uint32_t *size = sizes[(m + i + i / 4) % COUNT(sizes)];
            check_case(check, m, size[0], size[1], arguments);
        }
    }
}

static void check_kernel_sizes(struct check *check, bool all) {
    for (int size = 3; size <= 99; size += all || size < 19 ? 2 : 16) {
        for (size_t m = 0; m < CHECK_MODELS; m++) {
            struct blur_arguments arguments = {any_sigma(check), size, (int)check_below(check, 4)};
            check_case(check, m, 1 + check_below(check, 150), 1 + check_below(check, 90), arguments);
        }
    }
}

static void check_large(struct check *check) {
    static const double few[] = {0.5, 1.5, 1.5, 3, 5, 8, 20, 50, 100, 300};
    for (size_t m = 0; m < CHECK_MODELS; m++) {
        for (size_t s = 0; s < COUNT(few); s++) {
            const uint32_t *size = check_large_sizes[check_below(check, CHECK_LARGE_SIZES)];
            struct blur_arguments arguments = {few[s], s == 1 ? 7 : 0, (int)((m + s) % 4)};
            check_case(check, m, size[0], size[1], arguments);
        }
    }
}

void check_blur(struct check *check, bool quick) {
    check_models_all(check);
    check_report(check, "models");
    check_tiles(check);
    check_report(check, "tiles");
    check_kernel_sizes(check, !quick);
    check_report(check, "kernel sizes");
    for (unsigned steps = 1; steps <= 3; steps++) {
        check_chain(check, steps);
    }
    check_sigmas(check, !quick);
    check_report(check, "sigmas");
    if (!quick) {
        check_large(check);
        check_report(check, "large");
    }
}
