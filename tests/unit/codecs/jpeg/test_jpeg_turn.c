/* SPDX-License-Identifier: MIT
 * Turned and cropped blocks, against the decoded picture that is turned and cropped. */
#include "codecs/jpeg/jpeg_turn.h"

#include "core/clock.h"
#include "core/orient.h"
#include "cpu/orient.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

static const struct jpeg_recipe recipes[] = {
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:2:2", .luma = {2, 1}},
    {.name = "4:4:0", .luma = {1, 2}},
    {.name = "4:4:4"},
    {.name = "4:1:1", .luma = {4, 1}},
    {.name = "4:1:0", .luma = {4, 2}},
    {.name = "4:4:4 with factors of 2", .luma = {2, 1}, .chroma = {2, 1}},
    {.name = "grey", .space = JCS_GRAYSCALE},
    {.name = "grey with factors of 2", .space = JCS_GRAYSCALE, .luma = {2, 2}},
    {.name = "progressive", .luma = {2, 2}, .progressive = true},
    {.name = "restart markers", .luma = {2, 2}, .restart = 2},
    {.name = "own tables", .luma = {2, 1}, .odd_tables = true},
    {.name = "a scan a component", .luma = {2, 2}, .separate = true},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static struct buf file_of(const struct jpeg_recipe *recipe, uint32_t width, uint32_t height) {
    struct jpeg_recipe sized = *recipe;
    sized.width = width;
    sized.height = height;
    return recipe_file(&sized);
}

static struct image_shape result_of(const struct picture *picture, const struct jpeg_turn *turn) {
    struct image_shape shape = picture->native;
    shape.width = turn->width;
    shape.height = turn->height;
    return orient_shape(&shape, turn->orientation);
}

static enum status run(struct bytes input, const struct codec_limits *limits, const struct jpeg_turn *turn,
                       bool progressive, struct buf *output, struct error *err) {
    struct codec_limits probing = fixture_limits();
    struct picture picture;
    assert_int_equal(codec_probe(input, &probing, &picture, err), ST_OK);
    struct encode_options options = {.progressive = progressive};
    struct image_shape shape = result_of(&picture, turn);
    buf_init(output, 16 << 20);
    enum status status = jpeg_turn_check(&picture.native, turn, err);
    status = status == ST_OK ? jpeg_turn(input, limits, turn, &shape, &options, NULL, output, err) : status;
    assert_true(output->size <= jpeg_turn_room(&picture, input.size) + 4096);
    return status;
}

static struct buf turned(struct bytes input, const struct jpeg_turn *turn, bool progressive) {
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    struct buf output;
    if (run(input, &limits, turn, progressive, &output, &err) != ST_OK) {
        fail_msg("turn: %s", err.text);
    }
    return output;
}

static struct image decode(struct bytes input) {
    struct codec_limits limits = fixture_limits();
    struct picture picture = fixture_probe(input);
    struct image image = fixture_image(picture.native);
    struct error err = {0};
    limits.local_blocks = true; /* no smoothing over blocks */
    assert_int_equal(codec_decode(input, &picture, &limits, &image, &err), ST_OK);
    return image;
}

/* The largest difference between the turned file and the part of the decoded one that it shows. The inverse
 * transform's passes take the rows and columns of a turned block in another order, which may round a sample
 * to the next value. */
static int difference(struct bytes input, struct bytes output, const struct jpeg_turn *turn) {
    struct image before = decode(input), after = decode(output);
    const struct orient_turn how = orient_turn(turn->orientation);
    int most = 0;
    for (unsigned p = 0; p < after.plane_count; p++) {
        const struct plane *from = &before.plane[p], *to = &after.plane[p];
        uint32_t x0 = turn->x >> from->shift_x, y0 = turn->y >> from->shift_y;
        uint32_t x1 = (turn->x + turn->width) >> from->shift_x;
        uint32_t y1 = (turn->y + turn->height) >> from->shift_y;
        for (uint32_t y = 0; y < to->height; y++) {
            for (uint32_t x = 0; x < to->width; x++) {
                uint32_t across = how.transpose ? y : x, down = how.transpose ? x : y;
                uint32_t from_x = how.mirror_x ? x1 - 1 - across : x0 + across;
                uint32_t from_y = how.mirror_y ? y1 - 1 - down : y0 + down;
                int d = plane_row(to, y)[x] - plane_row(from, from_y)[from_x];
                most = abs(d) > most ? abs(d) : most;
            }
        }
    }
    fixture_image_free(&before);
    fixture_image_free(&after);
    return most;
}

static void check(const struct jpeg_recipe *recipe, struct bytes input, const struct jpeg_turn *turn) {
    for (int progressive = 0; progressive < 2; progressive++) {
        struct buf output = turned(input, turn, progressive);
        struct picture picture = fixture_probe(input), result = fixture_probe(buf_bytes(&output));
        struct image_shape wanted = result_of(&picture, turn);
        assert_true(image_same_shape(&wanted, &result.native));
        assert_int_equal(result.progressive, progressive);
        int most = turn->orientation == 1 ? 0 : 1;
        int got = difference(input, buf_bytes(&output), turn);
        if (got > most) {
            fail_msg("%s, orientation %d: %d off", recipe->name, turn->orientation, got);
        }
        buf_finish(&output);
    }
}

enum { WIDTH = 128, HEIGHT = 96 }; /* multiples of each MCU */

static void test_turns(void **state) {
    (void)state;
    for (unsigned r = 0; r < RECIPES; r++) {
        struct buf file = file_of(&recipes[r], WIDTH, HEIGHT);
        for (uint8_t orientation = 1; orientation <= 8; orientation++) {
            check(&recipes[r], buf_bytes(&file),
                  &(struct jpeg_turn){.width = WIDTH, .height = HEIGHT, .orientation = orientation});
        }
        buf_finish(&file);
    }
}

/* The edges that become the left and the top one lie on the grid, the others anywhere. */
static void test_parts(void **state) {
    (void)state;
    for (unsigned r = 0; r < RECIPES; r++) {
        struct buf file = file_of(&recipes[r], WIDTH - 5, HEIGHT - 3);
        for (uint8_t orientation = 1; orientation <= 8; orientation++) {
            const struct orient_turn how = orient_turn(orientation);
            struct jpeg_turn turn = {32, 32, 55, 33, orientation};
            turn.x = how.mirror_x ? 96 - turn.width : turn.x;
            turn.y = how.mirror_y ? 64 - turn.height : turn.y;
            check(&recipes[r], buf_bytes(&file), &turn);
        }
        check(&recipes[r], buf_bytes(&file), &(struct jpeg_turn){96, 64, 27, 29, 1});
        check(&recipes[r], buf_bytes(&file), &(struct jpeg_turn){0, 0, 1, 1, 5});
        buf_finish(&file);
    }
}

static void compare_coefficients(struct bytes a, struct bytes b) {
    struct coefficient_file first = coefficients_read(a), second = coefficients_read(b);
    assert_int_equal(first.count, second.count);
    for (int i = 0; i < first.count; i++) {
        const struct coefficients *one = &first.component[i], *other = &second.component[i];
        assert_memory_equal(one->steps, other->steps, sizeof one->steps);
        assert_int_equal(one->width, other->width);
        assert_int_equal(one->height, other->height);
        assert_memory_equal(one->blocks, other->blocks, (size_t)one->width * one->height * sizeof(JBLOCK));
    }
    coefficients_free(&first);
    coefficients_free(&second);
}

/* There and back, every coefficient and every table is what it was. */
static void test_nothing_is_lost(void **state) {
    (void)state;
    static const uint8_t back[] = {0, 1, 2, 3, 4, 5, 8, 7, 6};
    for (unsigned r = 0; r < RECIPES; r++) {
        struct buf file = file_of(&recipes[r], WIDTH, HEIGHT);
        for (uint8_t o = 1; o <= 8; o++) {
            bool lies = orient_turn(o).transpose;
            struct buf there = turned(buf_bytes(&file), &(struct jpeg_turn){0, 0, WIDTH, HEIGHT, o}, false);
            struct jpeg_turn turn = {0, 0, lies ? HEIGHT : WIDTH, lies ? WIDTH : HEIGHT, back[o]};
            assert_int_equal(orient_compose(o, back[o]), 1);
            struct buf again = turned(buf_bytes(&there), &turn, o % 2);
            compare_coefficients(buf_bytes(&file), buf_bytes(&again));
            buf_finish(&there);
            buf_finish(&again);
        }
        buf_finish(&file);
    }
}

/* A crop of what is shown is a part of what is stored. */
static void test_crops_of_turned_pictures(void **state) {
    (void)state;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, 40, 30);
        struct image stored = fixture_painted(shape);
        struct image shown = fixture_image(orient_shape(&shape, orientation));
        orient_image(&stored, orientation, &shown, 0, NULL);
        struct jpeg_turn turn = {0, 0, 40, 30, orientation};
        jpeg_turn_crop(&turn, 3, 5, 20, 21);
        jpeg_turn_crop(&turn, 2, 1, 7, 4);
        const struct orient_turn how = orient_turn(orientation);
        for (uint32_t y = 0; y < 4; y++) {
            for (uint32_t x = 0; x < 7; x++) {
                uint32_t across = how.transpose ? y : x, down = how.transpose ? x : y;
                uint32_t from_x = turn.x + (how.mirror_x ? turn.width - 1 - across : across);
                uint32_t from_y = turn.y + (how.mirror_y ? turn.height - 1 - down : down);
                assert_int_equal(plane_row(&shown.plane[0], 6 + y)[5 + x],
                                 plane_row(&stored.plane[0], from_y)[from_x]);
            }
        }
        fixture_image_free(&stored);
        fixture_image_free(&shown);
    }
}

static void refuse(const struct jpeg_recipe *recipe, const struct codec_limits *limits,
                   const struct jpeg_turn *turn, size_t size, enum status wanted, const char *says) {
    struct buf file = file_of(recipe, 61, 43), output;
    struct bytes input = buf_bytes(&file);
    struct error err = {0};
    input.size = size ? size : input.size;
    enum status status = run(input, limits, turn, false, &output, &err);
    if (status != wanted || !strstr(err.text, says)) {
        fail_msg("%d: %s", (int)status, err.text);
    }
    buf_finish(&output);
    buf_finish(&file);
}

static void test_refusals(void **state) {
    (void)state;
    const struct codec_limits limits = fixture_limits();
    struct codec_limits late = limits, small = limits;
    late.deadline_ns = clock_ns() - 1;
    small.max_memory = 5000;
    const struct jpeg_turn whole = {0, 0, 61, 43, 1};
    const struct jpeg_recipe cmyk = {.space = JCS_CMYK}, arithmetic = {.arithmetic = true};
    static const struct {
        struct jpeg_turn turn;
        const char *says;
    } off[] = {
        {{0, 0, 61, 43, 2}, "the right edge of the part lies at 61 of the file's 61 x 43 pixels"},
        {{0, 0, 61, 43, 4}, "the bottom edge of the part lies at 43"},
        {{0, 0, 61, 43, 6}, "the bottom edge of the part lies at 43"},
        {{0, 0, 61, 43, 8}, "the right edge of the part lies at 61"},
        {{8, 0, 53, 43, 1}, "the left edge of the part lies at 8"},
        {{16, 8, 45, 35, 1}, "must be a multiple of 16"},
    };
    for (unsigned i = 0; i < sizeof off / sizeof *off; i++) {
        refuse(&recipes[0], &limits, &off[i].turn, 0, ST_UNSUPPORTED, off[i].says);
    }
    refuse(&cmyk, &limits, &whole, 0, ST_UNSUPPORTED, "these colours");
    refuse(&arithmetic, &limits, &whole, 0, ST_UNSUPPORTED, "Huffman");
    refuse(&recipes[0], &limits, &whole, 900, ST_CORRUPT, "");
    refuse(&recipes[0], &late, &whole, 0, ST_LIMIT, "");
    refuse(&recipes[0], &small, &whole, 0, ST_LIMIT, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),           cmocka_unit_test(test_parts),
        cmocka_unit_test(test_nothing_is_lost), cmocka_unit_test(test_crops_of_turned_pictures),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
