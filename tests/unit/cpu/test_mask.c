/* SPDX-License-Identifier: MIT
 * Masks of several regions: union, inversion, blocks, reports, soft edges, restoring. */
#include "cpu/mask/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/mask/mask_shape.h"
#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static uint64_t seed;

static void assert_report(const struct test_image *mask, const struct mask_report *report) {
    struct mask_rect seen = {UINT32_MAX, UINT32_MAX, 0, 0};
    uint64_t covered = 0;
    for (uint32_t y = 0; y < mask->image.height; y++) {
        for (uint32_t x = 0; x < mask->image.width; x++) {
            if (mask_at(mask, x, y)) {
                covered++;
                seen.x0 = x < seen.x0 ? x : seen.x0;
                seen.y0 = y < seen.y0 ? y : seen.y0;
                seen.x1 = x + 1 > seen.x1 ? x + 1 : seen.x1;
                seen.y1 = y + 1;
            }
        }
    }
    seen = covered ? seen : (struct mask_rect){0};
    assert_int_equal(report->covered, covered);
    assert_memory_equal(&report->bounds, &seen, sizeof seen);
}

/* Whether something is inside within the margin of pixel (x, y). */
static bool is_near(const uint8_t *inside, uint32_t width, uint32_t height, uint32_t x, uint32_t y,
                    const struct mask_grid *grid) {
    for (uint32_t v = y < grid->margin_y ? 0 : y - grid->margin_y; v < height && v <= y + grid->margin_y;
         v++) {
        for (uint32_t u = x < grid->margin_x ? 0 : x - grid->margin_x; u < width && u <= x + grid->margin_x;
             u++) {
            if (inside[v * width + u]) {
                return true;
            }
        }
    }
    return false;
}

/* A plain implementation of `grow`, block by block. */
static void check_grid(const struct test_image *fine, const struct test_image *grown,
                       const struct mask_grid *grid) {
    uint32_t width = fine->image.width, height = fine->image.height;
    uint8_t *blocks = malloc((size_t)width * height);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            int64_t column = ((int64_t)x + grid->width - grid->left) / grid->width;
            int64_t row = ((int64_t)y + grid->height - grid->top) / grid->height;
            bool inside = false;
            for (uint32_t i = 0; i < width * height && !inside; i++) {
                int64_t u = ((int64_t)(i % width) + grid->width - grid->left) / grid->width;
                int64_t v = ((int64_t)(i / width) + grid->height - grid->top) / grid->height;
                inside = u == column && v == row && mask_at(fine, i % width, i / width);
            }
            blocks[y * width + x] = inside;
        }
    }
    for (uint32_t i = 0; i < width * height; i++) {
        bool inside = is_near(blocks, width, height, i % width, i / width, grid);
        assert_int_equal(mask_at(grown, i % width, i / width), inside ? 255 : 0);
    }
    free(blocks);
}

/* Sets of several regions: union, invert, grid, report. */
static void test_sets(void **state) {
    (void)state;
    uint64_t random = seed;
    for (int round = 0; round < 150; round++) {
        uint32_t width = 1 + (uint32_t)(test_random(&random) % 50);
        uint32_t height = 1 + (uint32_t)(test_random(&random) % 40);
        struct region_set set = {0};
        for (unsigned i = (unsigned)(test_random(&random) % 4); i > 0; i--) {
            add_random_region(&set, &random, 20, 20);
        }
        struct mask_options options = {.invert = round % 2, .outward = round % 4 > 1};
        struct test_image fine = gray_image(width, height), grown = gray_image(width, height);
        struct mask_report report;
        draw_mask(&fine, &set, options, &report);
        assert_report(&fine, &report);
        enum mask_rule rule = !options.outward ? MASK_CENTRE : options.invert ? MASK_WITHIN : MASK_TOUCHED;
        struct test_image one = gray_image(width, height);
        mask_clear(&one.image, (struct mask_rect){0, 0, width, height});
        for (uint32_t i = 0; i < set.count; i++) {
            mask_shape(&one.image, &set, i, rule);
        }
        for (uint32_t i = 0; i < width * height; i++) {
            uint8_t expected = mask_at(&one, i % width, i / width) ^ (options.invert ? 255 : 0);
            assert_int_equal(mask_at(&fine, i % width, i / width), expected);
        }
        static const uint32_t sides[] = {0, 1, 8, 16, 32};
        struct mask_grid grid = {.width = sides[test_random(&random) % 5],
                                 .height = sides[test_random(&random) % 5]};
        grid.margin_x = options.outward ? (uint32_t)(test_random(&random) % 3) : 0;
        grid.margin_y = options.outward ? (uint32_t)(test_random(&random) % 3) : 0;
        grid.left = grid.width ? (uint32_t)(test_random(&random) % grid.width) : 0;
        grid.top = grid.height ? (uint32_t)(test_random(&random) % grid.height) : 0;
        options.grid = grid;
        draw_mask(&grown, &set, options, &report);
        assert_report(&grown, &report);
        grid.width = options.outward && grid.width ? grid.width : 1;
        grid.height = options.outward && grid.height ? grid.height : 1;
        grid.left %= grid.width, grid.top %= grid.height;
        check_grid(&fine, &grown, &grid);
        test_image_free(&fine);
        test_image_free(&grown);
        test_image_free(&one);
    }
}

static void test_places(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum mask_place place;
    } table[] = {
        {"0,0,20,10", MASK_WHOLE},
        {"5,5,5,5", MASK_WHOLE},
        {"0,0,100%,100%", MASK_WHOLE},
        {"15,5,5.01,1", MASK_CUT},
        {"15,5,5,500", MASK_CUT},
        {"20,0,5,5", MASK_OFF},
        {"0,10,5,5", MASK_OFF},
        {"5.6,5,0.3,5", MASK_OFF},
        {"ellipse:15,0,10,10", MASK_CUT},
        {"ellipse:100,0,10,10", MASK_OFF},
        {"ellipse:19,9,20,20", MASK_OFF},
        {"polygon:0,0,30,0,0,9", MASK_CUT},
        {"polygon:0,11,9,11,0,20", MASK_OFF},
        {"polygon:0,0,9,0,9,9", MASK_WHOLE},
    };
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct region_set set = {0};
        struct mask_report report;
        struct test_image mask = orientation < 5 ? gray_image(20, 10) : gray_image(10, 20);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            add_region(&set, "%s", table[i].text);
        }
        region_turn(&set, orientation);
        for (int invert = 0; invert < 2; invert++) {
            draw_mask(&mask, &set, (struct mask_options){.invert = invert}, &report);
            for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                assert_int_equal(report.place[i], table[i].place);
            }
        }
        test_image_free(&mask);
    }
}

static void test_draw_region_and_clear(void **state) {
    (void)state;
    struct region_set set = {0};
    add_region(&set, "1,1,3,3");
    add_region(&set, "ellipse:9.5,5.5,13,9");
    struct test_image alone = gray_image(60, 40), whole = gray_image(60, 40);
    struct mask_options options = {.outward = true, .grid = {16, 8, 3, 0, 1, 2}};
    mask_clear(&alone.image, (struct mask_rect){0, 0, 60, 40});
    for (int outward = 0; outward < 2; outward++) {
        struct region_set one = {.count = 1, .numbers = set.numbers};
        memcpy(one.number, set.number, sizeof one.number);
        one.region[0] = set.region[1];
        options.outward = outward;
        draw_mask(&whole, &one, options, NULL);
        struct mask_rect drawn = mask_draw_region(&alone.image, &set, 1, &options);
        assert_memory_equal(alone.memory, whole.memory, whole.size);
        mask_clear(&alone.image, drawn);
        for (uint32_t i = 0; i < 60 * 40; i++) {
            assert_int_equal(mask_at(&alone, i % 60, i / 60), 0);
        }
    }
    test_image_free(&alone);
    test_image_free(&whole);
}

/* A step: half at its border, falling, exactly 0 and 255 where the header says. */
static void test_feather(void **state) {
    (void)state;
    struct backend *backend;
    struct lane *lane;
    assert_int_equal(cpu_backend_open("auto", &backend, NULL), ST_OK);
    assert_int_equal(lane_create(backend, &lane, NULL), ST_OK);
    static const double feathers[] = {0.2, 1, 3, 7.98, 8, 10, 16, 31, 32, 40, 64, 100, 128, 200};
    for (size_t i = 0; i < sizeof feathers / sizeof *feathers; i++) {
        double feather = feathers[i];
        uint32_t middle = 20 + (uint32_t)(3 * feather), reach = (uint32_t)(2.5 * feather) + 2;
        struct test_image mask = gray_image(2 * middle, 5), soft = gray_image(2 * middle, 5);
        struct region_set set = {0};
        struct mask_report report;
        struct error err = {0};
        const struct mask_feathering how = {.feather = feather, .lane = lane};
        add_region(&set, "0,0,50%%,100%%");
        draw_mask(&mask, &set, (struct mask_options){0}, NULL);
        assert_int_equal(mask_feather(&how, &mask.image, &soft.image, &report, &err), ST_OK);
        assert_report(&soft, &report);
        for (uint32_t x = 1; x < 2 * middle; x++) {
            assert_true(mask_at(&soft, x, 2) <= mask_at(&soft, x - 1, 2));
            assert_true(x + reach > middle || mask_at(&soft, x, 2) == 255);
            assert_true(x < middle + reach || mask_at(&soft, x, 2) == 0);
        }
        int rise = mask_at(&soft, middle - 1, 2) + mask_at(&soft, middle, 2) - 255;
        assert_true(rise >= -2 && rise <= 2);
        test_image_free(&mask);
        test_image_free(&soft);
    }
    lane_destroy(lane);
    backend_close(backend);
}

static void test_restore(void **state) {
    (void)state;
    uint64_t random = seed;
    for (unsigned model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (uint8_t depth = 8; depth <= 16; depth += 8) {
            struct image_shape shape = {(enum pixel_model)model, depth, 0, 0, 37, 9};
            struct test_image source = test_image_make(&shape), target = test_image_make(&shape),
                              before = test_image_make(&shape), mask = gray_image(37, 9);
            test_image_fill(&source, CONTENT_NOISE, &random);
            test_image_fill(&target, CONTENT_NOISE, &random);
            memcpy(before.memory, target.memory, target.size);
            for (uint32_t i = 0; i < 37 * 9; i++) {
                unsigned value = (unsigned)(test_random(&random) % 4);
                test_put(&mask.image, 0, i % 37, i / 37, 0, value == 3 ? 255 : i / 37 == 4 ? 0 : value);
            }
            assert_int_equal(mask_restore(NULL, 0, &target.image, &source.image, &mask.image, NULL), ST_OK);
            for (uint32_t i = 0; i < 37 * 9; i++) {
                for (unsigned c = 0; c < image_pixel_channels(shape.model); c++) {
                    const struct test_image *from = mask_at(&mask, i % 37, i / 37) ? &before : &source;
                    unsigned expected = test_sample(&from->image, 0, i % 37, i / 37, c);
                    assert_int_equal(test_sample(&target.image, 0, i % 37, i / 37, c), expected);
                    test_put(&target.image, 0, i % 37, i / 37, c,
                             test_sample(&before.image, 0, i % 37, i / 37, c));
                }
            }
            assert_memory_equal(target.memory, before.memory, before.size); /* nothing beside the picture */
            test_image_free(&source);
            test_image_free(&target);
            test_image_free(&before);
            test_image_free(&mask);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_draw_region_and_clear),
        cmocka_unit_test(test_feather),
        cmocka_unit_test(test_restore),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
