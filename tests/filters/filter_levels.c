/* SPDX-License-Identifier: MIT */
#include "tests/filters/filter_levels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu.h"
#include "tests/filters/reference/reference_filters.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { TEXT_MAX = 8192, BREAK_NS = 50000 };

int levels_setup(void **state) {
    static struct levels levels = {.name = {"plain", "baseline", "avx2", "avx512", "amx", "neon"}};
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        struct error err = {0};
        if (cpu_backend_open(levels.name[i], &levels.backend[i], &err) == ST_OK) {
            assert_int_equal(lane_create(levels.backend[i], &levels.lane[i], &err), ST_OK);
        } else {
            printf("not tested: %s\n", err.text);
        }
    }
    assert_non_null(levels.lane[0]);
    levels.random = test_seed();
    *state = &levels;
    return 0;
}

int levels_teardown(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        lane_destroy(levels->lane[i]);
        backend_close(levels->backend[i]);
    }
    return 0;
}

struct image_shape simple_shape(unsigned model, uint32_t width, uint32_t height) {
    return (struct image_shape){.model = (enum pixel_model)(model % 4),
                                .depth = model < SIMPLE_MODELS / 2 ? 8 : 16,
                                .width = width,
                                .height = height};
}

/* Takes "name=value" into the arguments of the filter. */
static void set_argument(const struct filter *filter, char *text, union filter_arguments *arguments) {
    char *value = strchr(text, '=');
    assert_non_null(value);
    *value++ = '\0';
    const struct argument *row = argument_find(filter->arguments, text);
    assert_non_null(row);
    struct error err = {0};
    if (argument_parse(row, value, arguments, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
}

static void append_step(struct chain *chain, char *text, const struct image_shape *shape) {
    char *rest = text + strcspn(text, ":");
    if (*rest) {
        *rest++ = '\0';
    }
    const struct filter *filter = filter_find(text);
    assert_non_null(filter);
    union filter_arguments arguments = {0};
    arguments_default(filter->arguments, &arguments);
    char *saved;
    for (char *one = strtok_r(rest, " ", &saved); one; one = strtok_r(NULL, " ", &saved)) {
        set_argument(filter, one, &arguments);
    }
    struct error err = {0};
    if (chain_append(chain, filter, &arguments, shape, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
}

struct chain make_chain(const char *text, const struct image_shape *shape) {
    char copy[TEXT_MAX];
    assert_true(strlen(text) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", text);
    struct chain chain = {0};
    char *saved;
    for (char *step = strtok_r(copy, "|", &saved); step; step = strtok_r(NULL, "|", &saved)) {
        append_step(&chain, step, shape);
    }
    return chain;
}

struct test_image make_noise(struct levels *levels, const struct image_shape *shape) {
    struct test_image made = test_image_make(shape);
    test_image_fill(&made, CONTENT_NOISE, &levels->random);
    if (!image_pixel_has_alpha(shape->model)) {
        return made;
    }
    unsigned last = image_pixel_channels(shape->model) - 1;
    for (uint32_t y = 0; y < shape->height; y++) {
        for (uint32_t x = 0; x < shape->width; x++) {
            uint64_t dice = test_random(&levels->random) % 4;
            if (dice < 2) {
                test_put(&made.image, 0, x, y, last, dice == 0 ? 0 : shape->depth == 8 ? 255 : 65535);
            }
        }
    }
    return made;
}

struct test_image make_mask(struct levels *levels, const struct image_shape *shape) {
    struct test_image made = test_image_make(&(struct image_shape){
        .model = PIXEL_GRAY, .depth = 8, .width = shape->width, .height = shape->height});
    enum { PATCH = 5 };
    uint64_t seed = test_random(&levels->random);
    for (uint32_t y = 0; y < shape->height; y++) {
        for (uint32_t x = 0; x < shape->width; x++) {
            uint64_t patch = seed + x / PATCH * 131 + y / PATCH * 65537;
            uint64_t dice = test_random(&patch) % 4;
            unsigned any = (unsigned)(test_random(&levels->random) % 256);
            test_put(&made.image, 0, x, y, 0, dice == 0 ? 0 : dice == 1 ? 255 : any);
        }
    }
    return made;
}

/* The first byte in which the whole memory of two pictures differs, or -1. */
static long difference(const struct test_image *a, const struct test_image *b) {
    for (size_t i = 0; i < a->size; i++) {
        if (a->memory[i] != b->memory[i]) {
            return (long)i;
        }
    }
    return -1;
}

/* A picture that comes some rows at a time. */
struct slow {
    struct levels *levels;
    const struct image *from;
    struct test_image to;
};

static void copy_rows(const struct slow *slow, uint32_t begin, uint32_t end) {
    for (unsigned i = 0; i < slow->from->plane_count; i++) {
        const struct plane *from = &slow->from->plane[i], *to = &slow->to.image.plane[i];
        uint32_t last = end == slow->from->height ? from->height : end >> from->shift_y;
        for (uint32_t y = begin >> from->shift_y; y < last; y++) {
            memcpy(plane_row(to, y), plane_row(from, y), plane_row_bytes(from, slow->from->depth));
        }
    }
}

/* Pauses after each step, until the helpers have done the parts that became possible: a part that begins too
 * early reads rows that are not there. */
static enum status make_slowly(void *context, const struct progress *progress, struct error *err) {
    (void)err;
    const struct slow *slow = context;
    for (uint32_t y = 0, end; y < slow->from->height; y = end) {
        end = y + 1 + (uint32_t)(test_random(&slow->levels->random) % 20);
        end = end < slow->from->height ? end : slow->from->height;
        copy_rows(slow, y, end);
        progress_tell(progress, end);
        nanosleep(&(struct timespec){.tv_nsec = BREAK_NS}, NULL);
        if (slow->levels->helpers) {
            helpers_await(slow->levels->helpers);
        }
    }
    return ST_OK;
}

/* Half of the runs get memory of exactly the size that the backend asks for, the others the lane's. */
static struct working lend(struct levels *levels, const struct lane *lane, const struct chain_run *run) {
    struct image_shape shape = image_shape(run->source);
    unsigned random = (unsigned)test_random(&levels->random);
    size_t size = backend_run_bytes(lane->backend, run->chain, &shape, 1 + random / 2 % 4);
    uint8_t *memory =
        random % 2 ? aligned_alloc(IMAGE_ALIGNMENT, bytes_align_up(size, IMAGE_ALIGNMENT)) : NULL;
    return (struct working){memory, size};
}

static enum status run_lent(struct levels *levels, struct lane *lane, const struct chain_run *asked,
                            struct error *err) {
    struct chain_run run = *asked;
    run.working = lend(levels, lane, asked);
    enum status status = lane_run(lane, &run, NULL, err);
    free(run.working.memory);
    return status;
}

static enum status run_level(struct levels *levels, struct lane *lane, const struct chain_run *asked,
                             struct error *err) {
    struct chain_run run = *asked;
    if (!levels->follows) {
        return run_lent(levels, lane, &run, err);
    }
    struct image_shape shape = image_shape(asked->source);
    struct slow slow = {levels, asked->source, test_image_make(&shape)};
    run.source = &slow.to.image;
    run.producer = &(struct producer){make_slowly, &slow};
    enum status status = run_lent(levels, lane, &run, err);
    test_image_free(&slow.to);
    return status;
}

/* The rows of the target that a run reports as final; they must be correct by then. */
struct told {
    const struct image *expected, *got;
    uint32_t rows;
    unsigned times;
};

static void check_rows(void *context, uint32_t rows) {
    struct told *told = context;
    assert_true(rows >= told->rows);
    rows = rows < told->expected->height ? rows : told->expected->height;
    for (unsigned p = 0; p < told->expected->plane_count; p++) {
        const struct plane *expected = &told->expected->plane[p], *got = &told->got->plane[p];
        uint32_t end = rows == told->expected->height ? expected->height : rows >> expected->shift_y;
        for (uint32_t y = told->rows >> expected->shift_y; y < end; y++) {
            assert_memory_equal(plane_row(expected, y), plane_row(got, y),
                                plane_row_bytes(expected, told->expected->depth));
        }
    }
    told->rows = rows;
    told->times++;
}

void compare_levels(struct levels *levels, const char *text, const struct chain *chain,
                    const struct test_image *source, const struct test_image *mask,
                    const struct test_image *expected) {
    struct image_shape shape = image_shape(&source->image);
    struct image_shape wanted = image_shape(&expected->image);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (!levels->lane[i]) {
            continue;
        }
        struct test_image got = test_image_make(&wanted);
        struct told told = {&expected->image, &got.image, 0, 0};
        struct chain_run run = {.chain = chain,
                                .progress = &(const struct progress){check_rows, &told},
                                .source = &source->image,
                                .target = &got.image,
                                .mask = mask ? &mask->image : NULL,
                                .crew = levels->helpers ? helpers_crew(levels->helpers) : NULL};
        if (levels->helpers) {
            helpers_await(levels->helpers);
        }
        struct error err = {0};
        enum status status = run_level(levels, levels->lane[i], &run, &err);
        levels->told += told.times;
        long at = status == ST_OK ? difference(expected, &got) : 0;
        if (at >= 0) {
            long stride = (long)expected->image.plane[0].stride;
            long offset = at - GUARD_BYTES;
            printf("%.200s%s: model %d, %u bits, chroma %u %u, %ux%u\n", text, mask ? ", masked" : "",
                   (int)shape.model, shape.depth, shape.chroma_shift_x, shape.chroma_shift_y, shape.width,
                   shape.height);
            fail_msg("%s: %s at byte %ld, row %ld column %ld of plane 0: %d, not %d", levels->name[i],
                     err.text, offset, offset / stride, offset % stride, got.memory[at],
                     expected->memory[at]);
        }
        test_image_free(&got);
    }
}

struct test_image level_result(struct levels *levels, const char *text, const struct test_image *source,
                               const struct test_image *mask) {
    struct image_shape shape = image_shape(&source->image);
    struct chain chain = make_chain(text, &shape);
    struct image_shape result = chain_result(&chain, &shape);
    struct test_image got = test_image_make(&result);
    struct chain_run run = {
        .chain = &chain, .source = &source->image, .target = &got.image, .mask = mask ? &mask->image : NULL};
    struct error err = {0};
    if (lane_run(levels->lane[0], &run, NULL, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    return got;
}

void check_chain(struct levels *levels, const char *text, const struct chain *chain,
                 const struct image_shape *shape, bool masked) {
    struct image_shape result = chain_result(chain, shape);
    struct test_image source = make_noise(levels, shape);
    struct test_image mask = make_mask(levels, shape);
    struct test_image expected = test_image_make(&result);
    reference_run(&(struct chain_run){.chain = chain,
                                      .source = &source.image,
                                      .target = &expected.image,
                                      .mask = masked ? &mask.image : NULL});
    compare_levels(levels, text, chain, &source, masked ? &mask : NULL, &expected);
    test_image_free(&source);
    test_image_free(&mask);
    test_image_free(&expected);
}

void check_reference(struct levels *levels, const char *text, const struct image_shape *shape, bool masked) {
    struct chain chain = make_chain(text, shape);
    check_chain(levels, text, &chain, shape, masked);
}
