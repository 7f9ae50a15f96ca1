/* SPDX-License-Identifier: MIT
 * Lists of rectangles against masks that are drawn. */
#include "cpu/mask/mask_list.h"

#include "tests/unit/cpu/region_fixture.h"

enum { RECTS = 4096, ROUNDS = 200 };

static struct mask_plan_rect rects[RECTS];
static uint64_t seed;

/* How often each pixel of a picture is in a rectangle of the region, or of any region below 0. */
static void count_pixels(const struct mask_list *list, const struct test_image *counts, int region) {
    const struct image *image = &counts->image;
    mask_clear(image, (struct mask_rect){0, 0, image->width, image->height});
    for (uint32_t i = 0; i < list->count; i++) {
        const struct mask_plan_rect *rect = &list->rect[i];
        assert_true(rect->x0 < rect->x1 && rect->x1 <= image->width);
        assert_true(rect->y0 < rect->y1 && rect->y1 <= image->height);
        for (uint32_t y = rect->y0; y < rect->y1 && (region < 0 || rect->region == region); y++) {
            for (uint32_t x = rect->x0; x < rect->x1; x++) {
                plane_row(&image->plane[0], y)[x]++;
            }
        }
    }
}

static void assert_same(const struct test_image *counts, const struct image *mask, bool invert, bool once) {
    for (uint32_t y = 0; y < mask->height; y++) {
        for (uint32_t x = 0; x < mask->width; x++) {
            unsigned count = plane_row(&counts->image.plane[0], y)[x];
            bool inside = plane_row(&mask->plane[0], y)[x] == 255;
            assert_true((count > 0) == (inside != invert));
            assert_true(!once || count <= 1);
        }
    }
}

/* Whole blocks lie in one row of blocks and begin at one. */
static void assert_blocks(const struct mask_list *list, const struct image_shape *shape) {
    uint32_t width, height;
    mask_plan_grid(shape, &width, &height);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct mask_plan_rect *rect = &list->rect[i];
        assert_int_equal(rect->x0 % width, 0);
        assert_int_equal(rect->y0 % height, 0);
        assert_true(rect->x1 % width == 0 || rect->x1 == shape->width);
        assert_true(rect->y1 == rect->y0 + height || (rect->y1 == shape->height && rect->y1 > rect->y0));
    }
}

static struct image_shape random_shape(uint64_t *random) {
    struct image_shape shape = {.model = test_random(random) % 3 ? PIXEL_YCBCR : PIXEL_GRAY, .depth = 8};
    if (shape.model == PIXEL_YCBCR) {
        shape.chroma_shift_x = (uint8_t)(test_random(random) % 3);
        shape.chroma_shift_y = (uint8_t)(test_random(random) % 2);
    }
    shape.width = 1 + (uint32_t)(test_random(random) % 150);
    shape.height = 1 + (uint32_t)(test_random(random) % 100);
    return shape;
}

static void check_whole(const struct mask_list *list, const struct region_set *set,
                        const struct image_shape *shape, const struct mask_options *options) {
    struct test_image counts = gray_image(shape->width, shape->height);
    struct test_image mask = gray_image(shape->width, shape->height);
    assert_blocks(list, shape);
    for (uint32_t i = 0; i < set->count; i++) {
        mask_clear(&mask.image, (struct mask_rect){0, 0, shape->width, shape->height});
        mask_draw_region(&mask.image, set, i, options);
        count_pixels(list, &counts, (int)i);
        assert_same(&counts, &mask.image, false, true);
    }
    test_image_free(&counts);
    test_image_free(&mask);
}

/* Whether the pixel is at most FILL_RING_WIDTH from the bounding rectangle of a region, or below 0 of all. */
static bool rings_have(const struct mask_list *list, int region, uint32_t x, uint32_t y) {
    int64_t left = INT32_MAX, top = INT32_MAX, right = INT32_MIN, bottom = INT32_MIN;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct mask_plan_rect *rect = &list->rect[i];
        if (region < 0 || rect->region == region) {
            left = rect->x0 < left ? rect->x0 : left;
            top = rect->y0 < top ? rect->y0 : top;
            right = rect->x1 > right ? rect->x1 : right;
            bottom = rect->y1 > bottom ? rect->y1 : bottom;
        }
    }
    return x >= left - FILL_RING_WIDTH && x < right + FILL_RING_WIDTH && y >= top - FILL_RING_WIDTH &&
           y < bottom + FILL_RING_WIDTH;
}

/* Appends the rings, which lie in rows of blocks. */
static void check_rings(struct mask_list *list, const struct region_set *set,
                        const struct image_shape *shape) {
    struct test_image counts = gray_image(shape->width, shape->height);
    uint32_t width, height;
    mask_plan_grid(shape, &width, &height);
    assert_int_equal(mask_list_rings(list, set->count, shape, NULL), ST_OK);
    struct mask_list rings = {.rect = list->rect + list->count, .count = list->rings};
    for (uint32_t i = 0; i < rings.count; i++) {
        assert_int_equal(rings.rect[i].y0 / height, (rings.rect[i].y1 - 1) / height);
    }
    for (uint32_t region = 0; region <= set->count; region++) {
        count_pixels(&rings, &counts, (int)region);
        for (uint32_t i = 0; i < shape->width * shape->height; i++) {
            uint32_t x = i % shape->width, y = i / shape->width;
            int wanted = region == set->count ? -1 : (int)region;
            assert_int_equal(mask_at(&counts, x, y), rings_have(list, wanted, x, y));
        }
    }
    test_image_free(&counts);
}

static void test_lists(void **state) {
    (void)state;
    uint64_t random = seed;
    for (int round = 0; round < ROUNDS; round++) {
        const struct image_shape shape = random_shape(&random);
        struct region_set set = {0};
        struct mask_options options = {.outward = round % 4 > 1, .invert = round % 2};
        struct mask_list list = {.rect = rects, .room = RECTS};
        struct mask_report report = {0}, expected;
        struct error err = {0};
        bool whole = options.outward && !options.invert;
        for (unsigned i = (unsigned)(test_random(&random) % 5); i > 0; i--) {
            add_random_region(&set, &random, 90, 70);
        }
        assert_int_equal(mask_list(&list, &set, &shape, &options, whole, &report, &err), ST_OK);
        struct test_image mask = gray_image(shape.width, shape.height);
        struct test_image counts = gray_image(shape.width, shape.height);
        if (whole) {
            mask_plan_grid(&shape, &options.grid.width, &options.grid.height);
            check_whole(&list, &set, &shape, &options);
            check_rings(&list, &set, &shape);
        }
        assert_int_equal(mask_draw(&mask.image, &set, &options, &expected, &err), ST_OK);
        count_pixels(&list, &counts, -1);
        assert_same(&counts, &mask.image, options.invert, false);
        assert_memory_equal(report.place, expected.place, set.count);
        test_image_free(&mask);
        test_image_free(&counts);
    }
}

static void test_limits(void **state) {
    (void)state;
    struct region_set set = {0};
    struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 65535, .height = 65535};
    struct mask_list list = {.rect = rects, .room = RECTS};
    struct mask_options options = {0};
    struct mask_report report;
    struct error err = {0};
    add_region(&set, "65534,65534,1,1");
    assert_int_equal(mask_list(&list, &set, &shape, &options, false, &report, &err), ST_OK);
    assert_true(list.count == 1 && rects[0].x1 == 65535 && rects[0].y1 == 65535);
    shape.width = 65536;
    assert_int_equal(mask_list(&list, &set, &shape, &options, false, &report, &err), ST_UNSUPPORTED);
    shape.width = shape.height = 100;
    add_region(&set, "polygon:0,0,90,90,0,90");
    list.room = 20;
    assert_int_equal(mask_list(&list, &set, &shape, &options, false, &report, &err), ST_UNSUPPORTED);
    assert_int_equal(list.count, 20);
    options.outward = true;
    list.room = 1 + 3 + 2;
    shape.height = 24; /* three rows of blocks, in which both rings lie */
    set = (struct region_set){0};
    add_region(&set, "8,8,8,8");
    assert_int_equal(mask_list(&list, &set, &shape, &options, true, &report, &err), ST_OK);
    assert_int_equal(mask_list_rings(&list, 1, &shape, &err), ST_UNSUPPORTED);
    assert_int_equal(list.count + list.rings, list.room);
    options.deadline_ns = 1;
    assert_int_equal(mask_list(&list, &set, &shape, &options, false, &report, &err), ST_LIMIT);
}

static void test_plans(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 50, .height = 40};
    const struct mask_plan good = {.masks = 1, .rects = 3},
                           several = {.redaction = 1, .rects = 3, .regions = 2},
                           rings = {.redaction = 1, .fill = FILL_RING, .rects = 3, .rings = 7, .regions = 2};
    struct error err = {0};
    assert_int_equal(mask_plan_check(&good, &shape, &err), ST_OK);
    assert_int_equal(mask_plan_check(&several, &shape, &err), ST_OK);
    assert_int_equal(mask_plan_check(&rings, &shape, &err), ST_OK);
    const struct mask_plan wrong[] = {
        {0},
        {.masks = 2},
        {.masks = 1, .invert = 2},
        {.masks = 1, .weighs = 2},
        {.masks = 1, .rects = MASK_PLAN_RECTS_MAX + 1},
        {.masks = 1, .regions = 1},
        {.masks = 1, .feather = 0.1},
        {.masks = 1, .feather = 1001},
        {.masks = 1, .feather = -1},
        {.masks = 1, .feather = (double)NAN},
        {.redaction = 3},
        {.redaction = MASK_PLAN_INSIDE, .regions = 1},
        {.redaction = MASK_PLAN_INSIDE, .look = UINT32_MAX},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3},
        {.redaction = MASK_PLAN_REGIONS, .regions = 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = MASK_PLAN_REGIONS_MAX + 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = 1, .invert = 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = 1, .weighs = 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = 1, .fill = FILL_KINDS},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = 1, .rings = 1},
        {.redaction = MASK_PLAN_REGIONS, .rects = 3, .regions = 1, .fill = FILL_COLOUR, .rings = 1},
        {.redaction = MASK_PLAN_INSIDE, .fill = FILL_RING, .rings = 1},
        {.redaction = MASK_PLAN_REGIONS,
         .fill = FILL_RING,
         .rects = 3,
         .rings = MASK_PLAN_RECTS_MAX - 2,
         .regions = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mask_plan_check(&wrong[i], &shape, &err), ST_INTERNAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_plans)};
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
