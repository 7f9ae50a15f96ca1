/* SPDX-License-Identifier: MIT
 * An engine that a picture has taken over can change pictures and masks while the daemon works on them. In
 * these tests another thread changes them. The results may be wrong, but no memory outside of the pictures
 * may be read or written; the sanitizers report that. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "core/clock.h"
#include "cpu/cpu.h"
#include "cpu/linear.h"
#include "cpu/mask/mask.h"
#include "cpu/mask/redact.h"
#include "cpu/orient.h"
#include "filters/chain.h"
#include "tests/unit/time_limit.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

unsigned time_limit_seconds = 300; /* many pictures */

enum { EACH_MS = 30, PICTURES = 3, WIDTH = 193, HEIGHT = 101, WIDE = 4096, OUTPUT_MAX = 1 << 24 };

/* --- the other side ------------------------------------------------------------------------------ */
static struct {
    pthread_t thread;
    uint8_t *memory[PICTURES];
    size_t size[PICTURES];
    atomic_bool over;
} engine;

/* Extremes and equal runs lead where noise does not. */
static void *scribble(void *unused) {
    (void)unused;
    for (uint32_t chance = 1; !atomic_load(&engine.over);) {
        chance = chance * 1664525 + 1013904223;
        unsigned index = chance >> 8 & 3;
        if (index < PICTURES && engine.size[index] > 0) {
            size_t at = (uint64_t)chance * engine.size[index] >> 32, left = engine.size[index] - at;
            static const uint8_t extremes[] = {0, 255, 1, 128};
            uint8_t value = chance & 16 ? (uint8_t)(chance >> 11) : extremes[chance >> 5 & 3];
            size_t run = chance & 32 ? 1 : 64;
            memset(engine.memory[index] + at, value, run < left ? run : left);
        }
    }
    return NULL;
}

static struct image lay(unsigned index, const struct image_shape *shape) {
    struct image image;
    const size_t room = codec_decode_room(CODEC_PNG, shape);
    engine.size[index] = image_layout(&image, shape) + room;
    engine.memory[index] = aligned_alloc(IMAGE_ALIGNMENT, engine.size[index]);
    assert_non_null(engine.memory[index]);
    memset(engine.memory[index], 100, engine.size[index]);
    image_place(&image, engine.memory[index]);
    image.room = room;
    return image;
}

static void begin(void) {
    atomic_store(&engine.over, false);
    assert_int_equal(pthread_create(&engine.thread, NULL, scribble, NULL), 0);
}

static void end(void) {
    atomic_store(&engine.over, true);
    pthread_join(engine.thread, NULL);
    for (unsigned i = 0; i < PICTURES; i++) {
        free(engine.memory[i]);
        engine.memory[i] = NULL;
        engine.size[i] = 0;
    }
}

static bool goes_on(int64_t start) {
    return clock_ns() - start < (int64_t)EACH_MS * 1000000;
}

/* --- filters ------------------------------------------------------------------------------------- */
#define CHROMA .chroma_shift_x = 1, .chroma_shift_y = 1
static const struct image_shape shapes[] = {
    {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT},
    {.model = PIXEL_RGBA, .depth = 8, .width = WIDTH, .height = HEIGHT},
    {.model = PIXEL_RGBA, .depth = 16, .width = WIDTH, .height = HEIGHT},
    {.model = PIXEL_GRAY, .depth = 16, .width = WIDTH, .height = HEIGHT},
    {.model = PIXEL_YCBCR, .depth = 8, CHROMA, .width = WIDTH, .height = HEIGHT},
};
static const struct {
    enum filter_id filter;
    union filter_arguments arguments;
} steps[] = {
    {FILTER_BLUR, {.blur.sigma = 1.5}},
    {FILTER_BLUR, {.blur.sigma = 20}},
    {FILTER_SHARPEN, {.sharpen = {{.sigma = 3}, 1, 0}}},
    {FILTER_CONVOLVE, {.convolve = {.kernel = {9, 3, {1, 2, -1, 0.5, 3, 0, -2, 1, 0.25}}}}},
    {FILTER_ADJUST, {.adjust = {1.2, 1.1, 1.4, .gamma = 2}}},
    {FILTER_ADJUST, {.adjust = {1, 1, 1, 1, .grayscale = true}}},
    {FILTER_PIXELATE, {.pixelate = {8}}},
    {FILTER_DILATE, {.dilate = {7, EDGE_MIRROR}}},
    {FILTER_ERODE, {.erode = {2, EDGE_ZERO}}},
    {FILTER_MEDIAN, {.median = {2, EDGE_CLAMP}}},
    {FILTER_MEDIAN, {.median = {6, EDGE_CLAMP}}},
    {FILTER_RESIZE, {.resize = {.width = 50}}},
    {FILTER_RESIZE, {.resize = {.width = 300, .enlarge = true}}},
    {FILTER_ROTATE, {.rotate = {.angle = ROTATE_90}}},
    {FILTER_STATS, {.blur = {0}}},
};

/* Not all filters take all models and a mask. */
static void run_filter(struct lane *lane, const struct image_shape *shape, unsigned step) {
    const struct image_shape coverage = {
        .model = PIXEL_GRAY, .depth = 8, .width = shape->width, .height = shape->height};
    struct chain chain = {0};
    struct error err = {0};
    const struct filter *filter = filter_get(steps[step].filter);
    bool takes =
        shape->model != PIXEL_YCBCR || (filter->planar && filter->planar(&steps[step].arguments, shape));
    if (!takes || chain_append(&chain, filter, &steps[step].arguments, shape, &err) != ST_OK) {
        return;
    }
    struct image_shape result = chain_result(&chain, shape);
    const struct image source = lay(0, shape), target = lay(1, &result), mask = lay(2, &coverage);
    const struct chain_run run = {.chain = &chain,
                                  .source = &source,
                                  .target = &target,
                                  .mask = chain_takes_mask(&chain, shape) ? &mask : NULL};
    begin();
    for (int64_t start = clock_ns(); goes_on(start);) {
        if (lane_run(lane, &run, NULL, &err) != ST_OK) {
            fail_msg("step %u: %s", step, err.text);
        }
    }
    end();
}

static void test_filters(void **state) {
    (void)state;
    struct backend *cpu;
    struct lane *lane;
    struct error err;
    assert_int_equal(cpu_backend_open("auto", &cpu, &err), ST_OK);
    assert_int_equal(lane_create(cpu, &lane, &err), ST_OK);
    for (unsigned step = 0; step < sizeof steps / sizeof steps[0]; step++) {
        for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            run_filter(lane, &shapes[i], step);
        }
    }
    lane_destroy(lane);
    backend_close(cpu);
}

/* --- masks --------------------------------------------------------------------------------------- */
static struct region_set regions(void) {
    struct region_set set = {0};
    assert_int_equal(region_parse(&set, "20,10,60,50", NULL), ST_OK);
    assert_int_equal(region_parse(&set, "ellipse:90,20,80,70", NULL), ST_OK);
    assert_int_equal(region_parse(&set, "polygon:5,90,100,95,50,60", NULL), ST_OK);
    return set;
}

static void assert_within(const struct mask_report *report, const struct image *mask) {
    const struct mask_rect *bounds = &report->bounds;
    assert_true(bounds->x0 <= bounds->x1 && bounds->x1 <= mask->width);
    assert_true(bounds->y0 <= bounds->y1 && bounds->y1 <= mask->height);
    assert_true(report->covered <= (uint64_t)mask->width * mask->height);
}

static void test_masks(void **state) {
    (void)state;
    const struct region_set set = regions();
    for (unsigned way = 0; way < 8; way++) {
        const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
        const struct image image = lay(0, &shapes[way / 2]), mask = lay(1, &shape);
        const struct mask_grid grid = {16, 16, .margin_x = way & 1, .margin_y = way & 1};
        const struct mask_options options = {
            .invert = way & 1, .outward = true, .over = way & 4, .grid = grid};
        const struct redact_options how = {
            .grid = grid, .drawn = way & 1 ? &mask : NULL, .block = way & 2 ? 8 : 0};
        struct mask_report report;
        begin();
        for (int64_t start = clock_ns(); goes_on(start);) {
            assert_int_equal(mask_draw(&mask, &set, &options, &report, NULL), ST_OK);
            assert_within(&report, &mask);
            assert_int_equal(redact_image(&image, &set, &how, &mask, NULL), ST_OK);
        }
        end();
    }
}

/* The only pixel of a row is there when pixels are counted, and gone when its place is looked for. */
static void *toggle(void *pixel) {
    for (volatile uint8_t *at = pixel; !atomic_load(&engine.over);) {
        *at = (uint8_t) ~*at;
    }
    return NULL;
}

static void test_a_pixel_that_goes(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = WIDE, .height = 1};
    const struct region_set none = {0};
    const struct mask_options options = {.over = true};
    const struct image mask = lay(0, &shape);
    memset(mask.plane[0].data, 0, WIDE);
    atomic_store(&engine.over, false);
    assert_int_equal(pthread_create(&engine.thread, NULL, toggle, mask.plane[0].data + WIDE - 1), 0);
    for (int64_t start = clock_ns(); goes_on(start);) {
        struct mask_report report;
        assert_int_equal(mask_draw(&mask, &none, &options, &report, NULL), ST_OK);
        assert_within(&report, &mask);
    }
    end();
}

/* --- codecs, colours, turns ----------------------------------------------------------------------- */
static const struct {
    enum codec_id codec;
    struct encode_options options;
} forms[] = {
    {CODEC_JPEG, {.quality = 90}},
    {CODEC_JPEG, {.quality = 90, .optimal = true}},
    {CODEC_JPEG, {.quality = 90, .progressive = true}},
    {CODEC_JPEG, {.quality = 90, .optimal = true, .libjpeg = true}},
    {CODEC_PNG, {.effort = 0}},
    {CODEC_PNG, {.effort = 1}},
    {CODEC_PNG, {.effort = 6}},
};

static void run_encoder(const struct image_shape *shape, unsigned form) {
    const struct image image = lay(0, shape);
    begin();
    for (int64_t start = clock_ns(); goes_on(start);) {
        struct error err = {0};
        struct buf output;
        buf_init(&output, OUTPUT_MAX);
        if (codec_encode(forms[form].codec, &image, &forms[form].options, NULL, &output, &err) != ST_OK) {
            fail_msg("%s", err.text);
        }
        buf_finish(&output);
    }
    end();
}

static void test_encoders(void **state) {
    (void)state;
    for (unsigned form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            if (codec_get(forms[form].codec)->planes || shapes[i].model != PIXEL_YCBCR) {
                run_encoder(&shapes[i], form);
            }
        }
    }
}

/* Rows are inflated and unfiltered within the picture's memory. */
static void run_decoder(const struct image_shape *shape, unsigned effort) {
    const struct encode_options options = {.effort = (uint8_t)effort};
    const struct codec_limits limits = {
        .max_pixels = UINT32_MAX, .max_side = WIDE, .max_scans = 100, .max_memory = OUTPUT_MAX};
    struct picture picture;
    struct error err = {0};
    struct buf file;
    const struct image image = lay(0, shape);
    buf_init(&file, OUTPUT_MAX);
    assert_int_equal(codec_encode(CODEC_PNG, &image, &options, NULL, &file, &err), ST_OK);
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_OK);
    begin();
    for (int64_t start = clock_ns(); goes_on(start);) {
        const enum status status = codec_decode(buf_bytes(&file), &picture, &limits, &image, &err);
        assert_true(status == ST_OK || status == ST_INTERNAL);
    }
    end();
    codec_picture_finish(&picture);
    buf_finish(&file);
}

static void test_decoder_of_pngs(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (unsigned effort = 0; effort < 3 && shapes[i].model != PIXEL_YCBCR; effort += 2) {
            run_decoder(&shapes[i], effort);
        }
    }
}

static void test_colours_and_turns(void **state) {
    (void)state;
    const struct image_shape wide = {.model = PIXEL_RGBA, .depth = 16, .width = WIDTH, .height = HEIGHT};
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        const struct image source = lay(0, &shapes[1]), light = lay(1, &wide);
        const struct image_shape turned = orient_shape(&wide, orientation);
        const struct image target = lay(2, &turned);
        begin();
        for (int64_t start = clock_ns(); goes_on(start);) {
            assert_int_equal(linear_from(NULL, 0, &source, &light, NULL), ST_OK);
            assert_int_equal(orient_image(&light, orientation, &target, 0, NULL), ST_OK);
            assert_int_equal(linear_to(NULL, 0, &light, &source, NULL), ST_OK);
        }
        end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),           cmocka_unit_test(test_masks),
        cmocka_unit_test(test_a_pixel_that_goes), cmocka_unit_test(test_encoders),
        cmocka_unit_test(test_decoder_of_pngs),   cmocka_unit_test(test_colours_and_turns),
    };
    return cmocka_run_group_tests_name("changing_pictures", tests, NULL, NULL);
}
