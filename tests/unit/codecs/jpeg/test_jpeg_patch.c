/* SPDX-License-Identifier: MIT
 * Patching against the coefficients that libjpeg reads: touched blocks equal those of the encoded new
 * picture, other blocks equal those of the input. */
#include "codecs/jpeg/jpeg_patch.h"

#include <math.h>

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
    {.name = "progressive grey", .space = JCS_GRAYSCALE, .progressive = true},
    {.name = "restart markers", .luma = {2, 2}, .restart = 2},
    {.name = "own tables", .luma = {2, 1}, .odd_tables = true},
    {.name = "own tables, progressive", .luma = {1, 2}, .odd_tables = true, .progressive = true},
    {.name = "JFIF 1.02", .luma = {2, 2}, .jfif_minor = 2},
    {.name = "a scan a component", .luma = {2, 2}, .separate = true},
};

static struct jpeg_recipe of_size(const struct jpeg_recipe *recipe, uint32_t width, uint32_t height) {
    struct jpeg_recipe copy = *recipe;
    copy.width = width;
    copy.height = height;
    return copy;
}

/* An empty mask, with a pattern in its padding that must not count. */
static struct image new_mask(uint32_t width, uint32_t height) {
    struct image mask = fixture_image(fixture_shape(PIXEL_GRAY, 8, width, height));
    for (uint32_t y = 0; y < height; y++) {
        memset(plane_row(&mask.plane[0], y), 0, width);
    }
    return mask;
}

/* Clipped to the mask. */
static void mask_rectangle(struct image *mask, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                           uint8_t coverage) {
    for (uint32_t row = y; row < y + height && row < mask->height; row++) {
        for (uint32_t column = x; column < x + width && column < mask->width; column++) {
            plane_row(&mask->plane[0], row)[column] = coverage;
        }
    }
}

/* The new picture: slopes that survive any table, far from the texture of the input. */
static struct image new_picture(struct bytes input, bool native) {
    struct picture picture = fixture_probe(input);
    struct image image = fixture_image(native ? picture.native : picture.pixels);
    for (unsigned p = 0; p < image.plane_count; p++) {
        const struct plane *plane = &image.plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
                uint32_t x = i / plane->channels, c = i % plane->channels + p;
                plane_row(plane, y)[i] = (uint8_t)(60 + x / 2 + y / 2 + 20 * c);
            }
        }
    }
    return image;
}

static struct buf patched_by(bool libjpeg, struct bytes input, const struct image *result,
                             const struct image *mask, bool progressive) {
    struct codec_limits limits = fixture_limits();
    struct encode_options options = {.progressive = progressive, .libjpeg = libjpeg};
    struct buf output;
    struct error err = {0};
    buf_init(&output, 16 << 20);
    assert_true(fixture_probe(input).patchable);
    if (jpeg_patch(input, &limits, result, mask, &options, NULL, &output, &err) != ST_OK) {
        fail_msg("patch: %s", err.text);
    }
    return output;
}

/* Both encoders write the same file. */
static struct buf patched(struct bytes input, const struct image *result, const struct image *mask,
                          bool progressive) {
    struct buf own = patched_by(false, input, result, mask, progressive);
    struct buf turbo = patched_by(true, input, result, mask, progressive);
    assert_int_equal(own.size, turbo.size);
    assert_memory_equal(own.data, turbo.data, own.size);
    buf_finish(&turbo);
    return own;
}

/* A flag for each block of the component, found pixel by pixel. */
static uint8_t *touched_blocks(const struct coefficient_file *file, int index, const struct image *mask) {
    const struct coefficients *component = &file->component[index];
    uint8_t *touched = calloc(component->width, component->height);
    for (uint32_t y = 0; y < mask->height; y++) {
        for (uint32_t x = 0; x < mask->width; x++) {
            uint32_t column = x * (uint32_t)component->factor[0] / (uint32_t)file->max_factor[0] / DCTSIZE;
            uint32_t row = y * (uint32_t)component->factor[1] / (uint32_t)file->max_factor[1] / DCTSIZE;
            touched[row * component->width + column] |= plane_row(&mask->plane[0], y)[x] != 0;
        }
    }
    return touched;
}

/* Returns how many blocks were touched. */
static size_t check_blocks(const char *name, struct bytes input, struct bytes output,
                           const struct image *result, const struct image *mask) {
    struct coefficient_file before = coefficients_read(input), after = coefficients_read(output);
    struct coefficient_file fresh = coefficients_of(result, input);
    size_t count = 0;
    assert_int_equal(before.count, after.count);
    assert_int_equal(after.restart, 0);
    for (int c = 0; c < before.count; c++) {
        const struct coefficients *old = &before.component[c], *new = &after.component[c];
        assert_memory_equal(old->factor, new->factor, sizeof(old->factor));
        assert_memory_equal(old->steps, new->steps, sizeof(old->steps));
        assert_int_equal(old->width, new->width);
        assert_int_equal(old->height, new->height);
        uint8_t *touched = touched_blocks(&before, c, mask);
        for (size_t i = 0; i < (size_t)old->width * old->height; i++) {
            const struct coefficients *expected = touched[i] ? &fresh.component[c] : old;
            if (memcmp(new->blocks[i], expected->blocks[i], sizeof(JBLOCK)) != 0) {
                fail_msg("%s, %u x %u: block %zu of component %d, %stouched, differs", name, mask->width,
                         mask->height, i, c, touched[i] ? "" : "not ");
            }
            count += touched[i];
        }
        free(touched);
    }
    coefficients_free(&before);
    coefficients_free(&after);
    coefficients_free(&fresh);
    return count;
}

/* Peak signal-to-noise ratio of the masked samples of planes that are not reduced. */
static double masked_psnr(const struct image *a, const struct image *b, const struct image *mask) {
    double sum = 0, count = 0;
    const struct plane *plane = &a->plane[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t i = 0; i < plane->width * plane->channels; i++) {
            if (plane_row(&mask->plane[0], y)[i / plane->channels]) {
                double difference = plane_row(plane, y)[i] - plane_row(&b->plane[0], y)[i];
                sum += difference * difference;
                count++;
            }
        }
    }
    return sum > 0 ? 10 * log10(255 * 255 * count / sum) : 99;
}

static void check_patch(const struct jpeg_recipe *recipe, const struct image *mask, bool native,
                        size_t *touched) {
    struct buf input = recipe_file(recipe);
    struct image result = new_picture(buf_bytes(&input), native);
    for (int progressive = 0; progressive <= 1; progressive++) {
        struct buf output = patched(buf_bytes(&input), &result, mask, progressive);
        *touched = check_blocks(recipe->name, buf_bytes(&input), buf_bytes(&output), &result, mask);
        struct image back = fixture_decode(buf_bytes(&output), native);
        assert_int_equal(fixture_probe(buf_bytes(&output)).progressive, progressive);
        double psnr = masked_psnr(&result, &back, mask);
        if (psnr < 32) {
            fail_msg("%s: the new pixels are %.1f dB from what was asked", recipe->name, psnr);
        }
        fixture_image_free(&back);
        buf_finish(&output);
    }
    fixture_image_free(&result);
    buf_finish(&input);
}

static const uint32_t sizes[][2] = {{1, 1}, {8, 8}, {17, 33}, {64, 48}, {131, 67}, {5, 90}};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), RECIPES = sizeof(recipes) / sizeof(*recipes) };

/* Each recipe in each size with `fill` applied to the mask, for planes and for RGB. */
static void for_all(void (*fill)(struct image *mask), void (*judge)(const struct jpeg_recipe *, size_t)) {
    for (size_t r = 0; r < RECIPES; r++) {
        for (size_t s = 0; s < SIZES; s++) {
            struct jpeg_recipe recipe = of_size(&recipes[r], sizes[s][0], sizes[s][1]);
            struct image mask = new_mask(recipe.width, recipe.height);
            size_t touched;
            fill(&mask);
            for (int native = 0; native <= 1; native++) {
                check_patch(&recipe, &mask, native, &touched);
                judge(&recipe, touched);
            }
            fixture_image_free(&mask);
        }
    }
}

static void fill_some(struct image *mask) {
    mask_rectangle(mask, mask->width / 3, mask->height / 4, 20, 13, 255);
    mask_rectangle(mask, mask->width - 1, mask->height - 1, 1, 1, 1); /* the faintest, in the last corner */
}

static void fill_all(struct image *mask) {
    mask_rectangle(mask, 0, 0, mask->width, mask->height, 200);
}

static void fill_nothing(struct image *mask) {
    (void)mask;
}

static size_t blocks_of(const struct jpeg_recipe *recipe) {
    struct buf file = recipe_file(recipe);
    struct coefficient_file read = coefficients_read(buf_bytes(&file));
    size_t count = 0;
    for (int c = 0; c < read.count; c++) {
        count += (size_t)read.component[c].width * read.component[c].height;
    }
    coefficients_free(&read);
    buf_finish(&file);
    return count;
}

static void judge_some(const struct jpeg_recipe *recipe, size_t touched) {
    assert_in_range(touched, 1, blocks_of(recipe));
}

static void judge_all(const struct jpeg_recipe *recipe, size_t touched) {
    assert_int_equal(touched, blocks_of(recipe));
}

static void judge_nothing(const struct jpeg_recipe *recipe, size_t touched) {
    (void)recipe;
    assert_int_equal(touched, 0);
}

static void test_touched_blocks_alone_change(void **state) {
    (void)state;
    for_all(fill_some, judge_some);
}

static void test_full_mask_replaces_all(void **state) {
    (void)state;
    for_all(fill_all, judge_all);
}

static void test_empty_mask_changes_nothing(void **state) {
    (void)state;
    for_all(fill_nothing, judge_nothing);
}

/* Every single pixel touches one block of each component. */
static void test_one_pixel_touches_one_block_a_component(void **state) {
    (void)state;
    struct jpeg_recipe recipe = of_size(&recipes[0], 35, 19);
    struct image mask = new_mask(recipe.width, recipe.height);
    for (uint32_t y = 0; y < mask.height; y += 3) {
        for (uint32_t x = 0; x < mask.width; x += 3) {
            size_t touched;
            mask_rectangle(&mask, x, y, 1, 1, 1);
            check_patch(&recipe, &mask, true, &touched);
            assert_int_equal(touched, 3);
            mask_rectangle(&mask, x, y, 1, 1, 0);
        }
    }
    fixture_image_free(&mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_touched_blocks_alone_change),
        cmocka_unit_test(test_full_mask_replaces_all),
        cmocka_unit_test(test_empty_mask_changes_nothing),
        cmocka_unit_test(test_one_pixel_touches_one_block_a_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
