/* SPDX-License-Identifier: MIT
 * Masks and redaction from JPEG to JPEG by the engine: the CPU's files, and what is refused of a front that
 * is going wrong. */
#include "codecs/jpeg/jpeg_patch.h"
#include "cpu/mask/redact.h"
#include "tests/unit/gpu/engine/engine_jpeg_fixture.h"

enum { RECTS_AT = 4096, WEIGHTS_AT = 8192, RECTS = 3 };

static const struct mask_plan_rect good_rects[RECTS] = {
    {0, 0, 16, 16, 0, 0}, {16, 0, 48, 16, 1, 0}, {0, 16, 16, 32, 1, 0}};

static struct wire_run masked_run(void) {
    struct wire_run run = good_run();
    run.jpeg.masked = 1;
    run.jpeg.rects = RECTS_AT;
    run.jpeg.plan = (struct mask_plan){.masks = 1, .rects = RECTS};
    return run;
}

static struct wire_run redacting_run(void) {
    struct wire_run run = masked_run();
    run.jpeg.plan.redaction = MASK_PLAN_REGIONS;
    run.jpeg.plan.regions = 2;
    return run;
}

/* Runs it with these rectangles and weights in the slot. */
static struct wire_done ask(const struct wire_run *run, const struct mask_plan_rect *rects, uint32_t count) {
    struct wire_done done;
    fill_slot();
    memcpy(memory + RECTS_AT, rects, count * sizeof *rects);
    memset(memory + WEIGHTS_AT, 0x80, 4096);
    assert_true(engine_run(lane, run, dup(slot), &done));
    assert_true(done.error.status == ST_OK || (done.error.text[0] && done.size == 0));
    return done;
}

static void draw(const struct image *mask) {
    for (unsigned i = 0; i < RECTS; i++) {
        for (uint32_t y = good_rects[i].y0; y < good_rects[i].y1; y++) {
            memset(plane_row(&mask->plane[0], y) + good_rects[i].x0, 255,
                   good_rects[i].x1 - good_rects[i].x0);
        }
    }
}

/* The file that the CPU makes with the mask. */
static struct buf expected_file(const struct wire_run *run, bool redact) {
    const struct encode_options how = {.quality = run->jpeg.quality};
    const struct image_shape mask_shape = mask_plan_shape(&shape);
    struct image source, target, mask, spare;
    struct picture picture;
    struct region_set set = {0};
    struct buf made;
    lay_out(&source, &shape);
    lay_out(&target, &shape);
    lay_out(&mask, &mask_shape);
    lay_out(&spare, &mask_shape);
    memset(mask.plane[0].data, 0, image_layout(&(struct image){0}, &mask_shape));
    draw(&mask);
    const struct chain_run work = {.chain = &run->chain, .source = &source, .target = &target, .mask = &mask};
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, NULL), ST_OK);
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &source, NULL), ST_OK);
    if (redact) { /* the regions as in the list */
        const struct redact_options as_listed = {.grid = {.width = 16, .height = 16}};
        assert_int_equal(region_parse(&set, "0,0,16,16", NULL), ST_OK);
        assert_int_equal(region_parse(&set, "polygon:16,0,48,0,48,16,16,16,16,32,0,32,0,16,16,16", NULL),
                         ST_OK);
        assert_int_equal(redact_image(&source, &set, &as_listed, &spare, NULL), ST_OK);
    }
    assert_int_equal(lane_run(cpu_lane, &work, NULL, NULL), ST_OK);
    buf_init(&made, ROOM);
    enum status status = run->jpeg.patch
                             ? jpeg_patch(buf_bytes(&file), &limits, &target, &mask, &how, NULL, &made, NULL)
                             : codec_encode(CODEC_JPEG, &target, &how, NULL, &made, NULL);
    assert_int_equal(status, ST_OK);
    struct image *const images[] = {&source, &target, &mask, &spare};
    for (size_t i = 0; i < COUNT(images); i++) {
        free(images[i]->plane[0].data - images[i]->plane[0].offset);
    }
    return made;
}

static void test_good_ones(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const bool redact = i & 1;
        struct wire_run run = redact ? redacting_run() : masked_run();
        run.jpeg.patch = i > 1;
        struct buf expected = expected_file(&run, redact);
        struct wire_done done = ask(&run, good_rects, RECTS);
        assert_int_equal(done.error.status, ST_OK);
        assert_int_equal(done.size, expected.size);
        assert_memory_equal(memory + run.target, expected.data, expected.size);
        buf_finish(&expected);
    }
}

/* Kernels check rectangles themselves: nothing but the picture is touched, and the engine goes on. */
static void test_rectangles_out_of_bounds(void **state) {
    (void)state;
    static const struct mask_plan_rect wrong[] = {
        {0, 0, 65535, 65535, 0, 0},    {65535, 65535, 65535, 65535, 0, 0},
        {40, 30, 8, 4, 1, 0},          {48, 32, 49, 33, 0, 0},
        {0, 31, 48, 32, 65535, 65535}, {47, 0, 65535, 1, 2, 0},
        {7, 3, 30, 29, 1, 0},          {0, 40, 48, 60, 1, 0},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        for (uint8_t redaction = MASK_PLAN_KEEP; redaction <= MASK_PLAN_INSIDE; redaction++) {
            struct wire_run run = masked_run();
            run.jpeg.plan.rects = 1;
            run.jpeg.plan.redaction = redaction;
            run.jpeg.plan.regions = redaction == MASK_PLAN_REGIONS ? 2 : 0;
            assert_int_equal(ask(&run, &wrong[i], 1).error.status, ST_OK);
            const struct mask_plan_rect lists[2] = {good_rects[0], wrong[i]};
            run.jpeg.plan.fill = FILL_RING;
            run.jpeg.plan.rings = redaction == MASK_PLAN_REGIONS;
            assert_int_equal(ask(&run, lists, 2).error.status, ST_OK);
        }
    }
}

static void test_plans(void **state) {
    (void)state;
    const struct mask_plan wrong[] = {
        {0},
        {.masks = 1, .rects = MASK_PLAN_RECTS_MAX + 1},
        {.masks = 1, .weighs = 1}, /* without an offset */
        {.redaction = MASK_PLAN_REGIONS, .rects = 1, .regions = MASK_PLAN_REGIONS_MAX + 1},
        {.masks = 1, .feather = 1e9},
        {.redaction = MASK_PLAN_REGIONS, .rects = 1, .regions = 1, .fill = FILL_KINDS},
        {.redaction = MASK_PLAN_REGIONS, .rects = 1, .regions = 1, .rings = 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 1, .regions = 1, .fill = FILL_RING, .rings = 30000},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct wire_run run = masked_run();
        run.jpeg.plan = wrong[i];
        assert_refused(&run);
    }
    struct wire_run run = masked_run();
    run.jpeg.masked = 2;
    assert_refused(&run);
    run = masked_run();
    run.mask = WEIGHTS_AT; /* which the plan does not have */
    assert_refused(&run);
}

static void test_chains(void **state) {
    (void)state;
    const struct detect_arguments detect = {.wanted = 1, .threshold = {0.5}};
    const struct resize_arguments resize = {.width = 20};
    const struct blur_arguments blurred = {.sigma = 1};
    struct wire_run run = masked_run();
    run.chain.count = 0;
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &resize, &shape, NULL), ST_OK);
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_BLUR), &blurred, &shape, NULL), ST_OK);
    assert_refused(&run); /* the mask cannot follow */
    run.chain.count = 0;
    run.jpeg.room = sizeof(struct candidates);
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_DETECT), &detect, &shape, NULL), ST_OK);
    assert_refused(&run);
}

/* Blocks are kept only where the whole chain is limited by a mask and nothing moves. */
static void test_patches(void **state) {
    (void)state;
    const struct resize_arguments resize = {.width = WIDTH};
    struct wire_run run = masked_run();
    run.jpeg.patch = 2;
    assert_refused(&run);
    run = good_run();
    run.jpeg.patch = 1;
    assert_refused(&run);
    run = redacting_run();
    run.jpeg.patch = 1;
    run.jpeg.plan.masks = 0;
    assert_refused(&run);
    run = masked_run();
    run.jpeg.patch = 1;
    run.jpeg.orientation = 3;
    assert_refused(&run);
    run.jpeg.orientation = 1;
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &resize, &shape, NULL), ST_OK);
    assert_refused(&run);
}

static void test_offsets(void **state) {
    (void)state;
    static const uint64_t rects[] = {SLOT_SIZE,  SLOT_SIZE - 1, UINT64_MAX, UINT64_MAX - 35,
                                     1ull << 63, TARGET,        TARGET - 1, TARGET + ROOM - 1};
    static const uint64_t weights[] = {SLOT_SIZE,      SLOT_SIZE - 64,   UINT64_MAX - 63,
                                       WEIGHTS_AT + 1, TARGET / 64 * 64, 1ull << 63};
    for (size_t i = 0; i < COUNT(rects); i++) {
        struct wire_run run = masked_run();
        run.jpeg.rects = rects[i];
        assert_refused(&run);
    }
    struct wire_run run = masked_run();
    run.jpeg.plan.weighs = 1;
    for (size_t i = 0; i < COUNT(weights); i++) {
        run.mask = weights[i];
        assert_refused(&run);
    }
    run.mask = WEIGHTS_AT;
    assert_int_equal(ask(&run, good_rects, RECTS).error.status, ST_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_ones), cmocka_unit_test(test_rectangles_out_of_bounds),
        cmocka_unit_test(test_plans),     cmocka_unit_test(test_chains),
        cmocka_unit_test(test_patches),   cmocka_unit_test(test_offsets),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
