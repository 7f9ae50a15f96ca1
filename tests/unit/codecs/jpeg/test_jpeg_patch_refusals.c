/* SPDX-License-Identifier: MIT
 * Files that patching refuses, with the errors, and the metadata that it keeps. */
#include "codecs/jpeg/jpeg_patch.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"

enum { WIDTH = 300, HEIGHT = 200 };

static const struct jpeg_recipe plain = {.luma = {2, 2}, .width = WIDTH, .height = HEIGHT};
static const struct jpeg_recipe separate = {
    .luma = {2, 2}, .separate = true, .width = WIDTH, .height = HEIGHT};

/* A call that succeeds until something in it is spoilt. */
struct call {
    struct codec_limits limits;
    struct image result, mask;
    struct encode_options options;
    size_t output_max;
    struct error err;
};

static struct call new_call(enum pixel_model model, uint32_t width, uint32_t height) {
    struct image_shape shape = fixture_shape(model, 8, width, height);
    shape.chroma_shift_x = shape.chroma_shift_y = model == PIXEL_YCBCR;
    struct call call = {.limits = fixture_limits(), .output_max = 1 << 20};
    call.result = fixture_painted(shape);
    call.mask = fixture_painted(fixture_shape(PIXEL_GRAY, 8, width, height)); /* nowhere 0 */
    return call;
}

static void end_call(struct call *call) {
    fixture_image_free(&call->result);
    fixture_image_free(&call->mask);
}

static enum status do_call(struct call *call, struct bytes input) {
    struct buf output;
    buf_init(&output, call->output_max);
    call->err = (struct error){0};
    enum status status = jpeg_patch(input, &call->limits, &call->result, &call->mask, &call->options, NULL,
                                    &output, &call->err);
    assert_int_equal(call->err.status, status);
    buf_finish(&output);
    return status;
}

static void expect(struct call *call, struct bytes input, enum status status, const char *words) {
    assert_int_equal(do_call(call, input), status);
    if (!strstr(call->err.text, words)) {
        fail_msg("\"%s\" does not say \"%s\"", call->err.text, words);
    }
}

/* Probes once and patches once. */
static void expect_unsupported(const struct jpeg_recipe *recipe, enum pixel_model model, const char *words) {
    struct buf input = recipe_file(recipe);
    struct call call = new_call(model, recipe->width, recipe->height);
    assert_false(fixture_probe(buf_bytes(&input)).patchable);
    expect(&call, buf_bytes(&input), ST_UNSUPPORTED, words);
    end_call(&call);
    buf_finish(&input);
}

static void test_variants(void **state) {
    (void)state;
    static const struct {
        struct jpeg_recipe recipe;
        const char *words;
    } cases[] = {
        {{.space = JCS_CMYK}, "grey and YCbCr"},
        {{.space = JCS_RGB}, "grey and YCbCr"},
        {{.arithmetic = true}, "Huffman"},
        {{.luma = {3, 1}}, "subsampling"},
        {{.space = JCS_GRAYSCALE, .luma = {3, 1}}, "subsampling"},
        {{.chroma = {2, 1}}, "subsampling"},
        {{.luma = {2, 2}, .chroma = {2, 2}, .separate = true}, "subsampling"}, /* 12 blocks */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct jpeg_recipe recipe = cases[i].recipe;
        recipe.width = WIDTH;
        recipe.height = HEIGHT;
        expect_unsupported(&recipe, recipe.space == JCS_GRAYSCALE ? PIXEL_GRAY : PIXEL_RGB, cases[i].words);
    }
}

static uint8_t *nth_marker(const struct buf *file, uint8_t marker, unsigned n) {
    uint8_t *at = file->data, both[2] = {0xFF, marker};
    for (;; at += 2) {
        at = memmem(at, file->size - (size_t)(at - file->data), both, 2);
        assert_non_null(at);
        if (n-- == 0) {
            return at;
        }
    }
}

static void test_step_of_zero(void **state) {
    (void)state;
    struct buf input = recipe_file(&plain);
    struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    nth_marker(&input, 0xDB, 0)[5 + 17] = 0;
    assert_false(fixture_probe(buf_bytes(&input)).patchable);
    expect(&call, buf_bytes(&input), ST_UNSUPPORTED, "quantisation tables");
    end_call(&call);
    buf_finish(&input);
}

/* Puts a table before the second scan, which is that of Cb. */
static struct buf with_late_table(uint8_t number, uint8_t step) {
    struct buf file = recipe_file(&separate);
    uint8_t segment[4 + 65] = {0xFF, 0xDB, 0, 67, number};
    memset(segment + 5, step, 64);
    fixture_insert(&file, (size_t)(nth_marker(&file, 0xDA, 1) - file.data), segment, sizeof(segment));
    return file;
}

static void test_tables_between_scans(void **state) {
    (void)state;
    static const struct {
        uint8_t number, step;
        enum status status;
        const char *words;
    } cases[] = {
        {0, 9, ST_UNSUPPORTED, "quantization table 0"}, /* Y has used another */
        {1, 0, ST_UNSUPPORTED, "quantisation tables"},
        {1, 9, ST_OK, ""}, /* the first one is unused */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf input = with_late_table(cases[i].number, cases[i].step);
        struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
        expect(&call, buf_bytes(&input), cases[i].status, cases[i].words);
        end_call(&call);
        buf_finish(&input);
    }
}

/* One grey block whose DC coefficient is 4095, which 8-bit samples cannot have. */
static void test_coefficient_out_of_range(void **state) {
    (void)state;
    static const uint8_t head[] = {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
    static const uint8_t tail[] = {
        0xFF, 0xC0, 0, 11, 8,    0, 8, 0,  8,  1, 1,    0x11, 0, /* 8 x 8, grey */
        0xFF, 0xC4, 0, 20, 0,    1, 0, 0,  0,  0, 0,    0,    0,    0,
        0,    0,    0, 0,  0,    0, 0, 12, /* DC: 0 is 12 bits */
        0xFF, 0xC4, 0, 20, 0x10, 1, 0, 0,  0,  0, 0,    0,    0,    0,
        0,    0,    0, 0,  0,    0, 0, 0, /* AC: 0 is the end */
        0xFF, 0xDA, 0, 8,  1,    1, 0, 0,  63, 0, 0x7F, 0xFB, 0xFF, 0xD9,
    };
    uint8_t file[sizeof(head) + 64 + sizeof(tail)];
    memcpy(file, head, sizeof(head));
    memset(file + sizeof(head), 1, 64);
    memcpy(file + sizeof(head) + 64, tail, sizeof(tail));
    struct bytes input = {file, sizeof(file)};
    struct coefficient_file read = coefficients_read(input);
    assert_int_equal(read.component[0].blocks[0][0], 4095);
    coefficients_free(&read);
    struct call call = new_call(PIXEL_GRAY, 8, 8);
    memset(call.mask.plane[0].data, 0, call.mask.plane[0].stride * 8);
    expect(&call, input, ST_UNSUPPORTED, "out of range");
    end_call(&call);
}

static void test_truncation(void **state) {
    (void)state;
    const struct jpeg_recipe progressive = {
        .luma = {2, 2}, .progressive = true, .width = WIDTH, .height = HEIGHT};
    const struct jpeg_recipe *recipes[] = {&plain, &progressive, &separate};
    for (size_t r = 0; r < 3; r++) {
        struct buf file = recipe_file(recipes[r]);
        struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
        for (size_t percent = 0; percent < 100; percent += 5) {
            size_t size = file.size * percent / 100;
            uint8_t *exact = malloc(size ? size : 1);
            memcpy(exact, file.data, size);
            expect(&call, (struct bytes){exact, size}, ST_CORRUPT, "JPEG");
            free(exact);
        }
        /* As when decoding: data behind the rows of a single scan is ignored. */
        assert_int_equal(do_call(&call, (struct bytes){file.data, file.size - 2}),
                         r == 0 ? ST_OK : ST_CORRUPT);
        end_call(&call);
        buf_finish(&file);
    }
}

static void test_damage(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    memcpy(file.data + file.size / 2, "\xFF\xD9", 2);
    expect(&call, buf_bytes(&file), ST_CORRUPT, "damaged");
    end_call(&call);
    buf_finish(&file);
    file = recipe_file(&separate);
    call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    memcpy(nth_marker(&file, 0xDA, 2), "\xFF\xD9", 2); /* ends before the scan of Cr */
    expect(&call, buf_bytes(&file), ST_CORRUPT, "no scan");
    end_call(&call);
    buf_finish(&file);
}

static void test_limits(void **state) {
    (void)state;
    struct buf input = recipe_file(&separate);
    struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    const struct call good = call;
    call.limits.max_memory = 100000;
    struct buf single = recipe_file(&plain);
    struct picture picture;
    assert_int_equal(codec_probe(buf_bytes(&single), &call.limits, &picture, NULL), ST_OK);
    assert_false(picture.patchable);
    buf_finish(&single);
    expect(&call, buf_bytes(&input), ST_LIMIT, "memory limit is 100000");
    call.limits.max_memory = 192000; /* the coefficients, and nothing beside them */
    expect(&call, buf_bytes(&input), ST_LIMIT, "over a limit");
    call = good;
    call.limits.max_scans = 2;
    expect(&call, buf_bytes(&input), ST_LIMIT, "2 scans");
    call = good;
    call.limits.deadline_ns = 1;
    expect(&call, buf_bytes(&input), ST_LIMIT, "time limit");
    call = good;
    call.options.deadline_ns = 1;
    expect(&call, buf_bytes(&input), ST_LIMIT, "time limit");
    memset(call.mask.plane[0].data, 0, call.mask.plane[0].stride * HEIGHT); /* also without a strip */
    expect(&call, buf_bytes(&input), ST_LIMIT, "time limit");
    call = good;
    call.output_max = 2000;
    expect(&call, buf_bytes(&input), ST_LIMIT, "larger than 2000");
    call = good;
    end_call(&call);
    buf_finish(&input);
}

static void test_other_shapes(void **state) {
    (void)state;
    struct buf input = recipe_file(&plain);
    static const struct image_shape results[] = {
        {PIXEL_YCBCR, 8, 1, 0, WIDTH, HEIGHT},   {PIXEL_YCBCR, 8, 1, 1, WIDTH - 1, HEIGHT},
        {PIXEL_RGB, 8, 0, 0, WIDTH, HEIGHT + 1}, {PIXEL_RGB, 16, 0, 0, WIDTH, HEIGHT},
        {PIXEL_RGBA, 8, 0, 0, WIDTH, HEIGHT},    {PIXEL_GRAY, 8, 0, 0, WIDTH, HEIGHT}};
    for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
        struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
        fixture_image_free(&call.result);
        call.result = fixture_painted(results[i]);
        expect(&call, buf_bytes(&input), ST_INTERNAL, "another shape");
        end_call(&call);
    }
    struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    fixture_image_free(&call.mask);
    call.mask = fixture_painted(fixture_shape(PIXEL_GRAY, 8, WIDTH, HEIGHT - 8));
    expect(&call, buf_bytes(&input), ST_INTERNAL, "another shape");
    end_call(&call);
    buf_finish(&input);
}

static void test_metadata(void **state) {
    (void)state;
    struct buf input = recipe_file(&plain);
    struct exif_fixture exif = exif_make(true, 1);
    uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
    memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
    fixture_segment(&input, 0xFE, "COMMENT", 7);
    fixture_segment(&input, 0xE1, segment, sizeof(segment));
    struct picture picture = fixture_probe(buf_bytes(&input));
    struct call call = new_call(PIXEL_YCBCR, WIDTH, HEIGHT);
    for (int keep = 0; keep <= 1; keep++) {
        struct buf output;
        buf_init(&output, 1 << 20);
        call.options.keep_metadata = keep;
        assert_int_equal(jpeg_patch(buf_bytes(&input), &call.limits, &call.result, &call.mask, &call.options,
                                    &picture.metadata, &output, NULL),
                         ST_OK);
        assert_int_equal(fixture_contains(buf_bytes(&output), "COMMENT"), keep);
        assert_int_equal(fixture_contains(buf_bytes(&output), "CAMERA"), keep);
        assert_false(fixture_contains(buf_bytes(&output), "THUMBNAIL"));
        buf_finish(&output);
    }
    end_call(&call);
    buf_finish(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_step_of_zero),
        cmocka_unit_test(test_tables_between_scans),
        cmocka_unit_test(test_coefficient_out_of_range),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_other_shapes),
        cmocka_unit_test(test_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
