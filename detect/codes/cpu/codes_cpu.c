/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/image.h"
#include "cpu/networks.h"
#include "cpu/search.h"
#include "detect/codes/codes.h"
#include "detect/codes/cpu/codes_search.h"

enum { ROW_ALIGNMENT = 8 };

static size_t row_bytes(const struct detect_plan *plan) {
    return bytes_align_up((size_t)plan->width * DETECT_PICTURE, ROW_ALIGNMENT);
}

/* Rec. 601's weights, in 256ths. */
static void make_grey(const uint8_t *rgb, uint8_t *grey, uint32_t pixels) {
    for (uint32_t x = 0; x < pixels; x++) {
        grey[x] = (uint8_t)((77 * rgb[3 * x] + 150 * rgb[3 * x + 1] + 29 * rgb[3 * x + 2] + 128) >> 8);
    }
}

static struct image view_of(const struct codes_level *level) {
    return (struct image){.model = PIXEL_GRAY,
                          .depth = 8,
                          .plane_count = 1,
                          .width = level->width,
                          .height = level->height,
                          .plane[0] = {.data = level->grey,
                                       .width = level->width,
                                       .height = level->height,
                                       .stride = level->width,
                                       .channels = 1}};
}

static enum status read_codes(const struct cpu_context *context, const struct codes_level *level,
                              struct codes_symbols *symbols, struct error *err) {
    const struct codes_reader *reader = context->reader;
    const struct image grey = view_of(level);
    return reader ? reader->read(reader->context, &grey, context->deadline_ns, symbols, err)
                  : fail(err, ST_UNSUPPORTED, "there is no reader of codes");
}

/* Beyond the picture, its last column and row are repeated. */
static void make_level(const struct cpu_context *context, const struct detect_plan *plan,
                       const struct image *source, const struct codes_level *level, uint8_t *rgb) {
    const uint32_t width = (uint32_t)plan->width, height = (uint32_t)plan->height;
    for (uint32_t y = 0; y < level->height; y++) {
        uint8_t *grey = level->grey + (size_t)y * level->width;
        if (y < height) {
            context->networks->kernels->picture(source, y, 0, width, rgb);
            make_grey(rgb, grey, width);
            memset(grey + width, grey[width - 1], level->width - width);
        } else {
            memcpy(grey, grey - level->width, level->width);
        }
    }
}

static enum status run(const struct cpu_context *context, const struct detect_plan *plan,
                       const struct image *source, struct candidates *candidates, struct error *err) {
    struct codes_pyramid pyramid;
    struct codes_symbols symbols;
    const size_t row = row_bytes(plan);
    enum status status =
        scratch_reserve(context->scratch, row + codes_search_bytes(plan->width, plan->height), err);
    candidates->count = 0;
    if (status != ST_OK) {
        return status;
    }
    uint8_t *memory = context->scratch->memory;
    codes_search_place(&pyramid, plan->width, plan->height, memory + row);
    make_level(context, plan, source, &pyramid.level[0], memory);
    status = read_codes(context, &pyramid.level[0], &symbols, err);
    return status == ST_OK
               ? codes_search_run(&pyramid, &symbols, codes_least(plan->threshold[DETECTOR_CODES]),
                                  context->deadline_ns, candidates, err)
               : status;
}

static struct scratch_need need(const struct detect_plan *plan) {
    return (struct scratch_need){.shared = row_bytes(plan) + codes_search_bytes(plan->width, plan->height)};
}

const struct cpu_search cpu_search_codes = {.run = run, .need = need};
