/* SPDX-License-Identifier: MIT */
#include "server/planner/footprint.h"

#include "core/crew.h"
#include "cpu/cpu.h"
#include "cpu/mask/mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SIDE = 64, BIG = 100 << 20 };

static struct backend *cpu;

static int open_cpu(void **state) {
    struct error err;
    (void)state;
    return cpu_backend_open("baseline", &cpu, &err) == ST_OK ? 0 : -1;
}

static int close_cpu(void **state) {
    (void)state;
    backend_close(cpu);
    return 0;
}

static const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = SIDE, .height = SIDE};

/* Bytes that codecs take for a small grey picture with that metadata. */
static size_t library_of(enum codec_id codec, const struct metadata *metadata, bool keep) {
    struct parameters parameters;
    parameters_init(&parameters, filter_find("pixelate"));
    struct work_plan plan = {
        .parameters = &parameters,
        .picture = {.codec = codec, .native = shape, .pixels = shape, .metadata = *metadata},
        .output = codec,
        .orientation = 1,
        .stored = shape,
        .upright = shape,
        .filtered = shape,
        .encoded = shape,
        .options = {.quality = 85, .keep_metadata = keep}};
    struct error err;
    const struct operation *operation = &parameters.ops.operation[0];
    assert_int_equal(chain_append(&plan.chain, operation->filter, &operation->arguments, &shape, &err),
                     ST_OK);
    return footprint_of(&plan, cpu).library;
}

/* Every kind of metadata that is kept counts more than once, up to the limit on carried metadata. */
static void test_metadata_that_is_kept_counts(void **state) {
    static const struct metadata none;
    static const uint8_t byte;
    size_t least = library_of(CODEC_JPEG, &none, true);
    const struct bytes some = {&byte, 50000}, big = {&byte, BIG};
    const struct metadata kinds[] = {{.exif = some},
                                     {.xmp = some},
                                     {.photoshop = some},
                                     {.chunk_count = 1, .chunk = {{CHUNK_COMMENT, 0, some}}}};
    const struct metadata large[] = {{.exif = big}, {.chunk_count = 1, .chunk = {{CHUNK_COMMENT, 0, big}}}};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_true(library_of(CODEC_JPEG, &kinds[i], true) >= least + 3 * some.size);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        size_t bytes = library_of(CODEC_JPEG, &large[i], true);
        assert_int_equal(bytes, least + METADATA_MEMORY_MAX + METADATA_WRITTEN_MAX);
    }
    assert_int_equal(library_of(CODEC_JPEG, &large[0], false), least);
}

/* Texts of a PNG may be compressed: a few bytes may hold all that is carried. */
static void test_compressed_texts_count_as_what_they_may_hold(void **state) {
    static const uint8_t bytes[100];
    struct metadata metadata = {
        .xmp = {bytes, sizeof bytes}, .xmp_deflated = true, .chunk_count = METADATA_CHUNKS_MAX};
    (void)state;
    for (unsigned i = 0; i < METADATA_CHUNKS_MAX; i++) {
        metadata.chunk[i] = (struct metadata_chunk){CHUNK_TEXT_DEFLATED, 0, {bytes, sizeof bytes}};
    }
    size_t least = library_of(CODEC_PNG, &(struct metadata){0}, false);
    assert_true(library_of(CODEC_PNG, &metadata, true) >= least + (2 << 20));
}

/* Working memory for a region in that picture whose edge has this feather. */
static size_t working_of(double feather) {
    struct parameters parameters;
    parameters_init(&parameters, filter_find("pixelate"));
    parameters.input.feather = feather;
    struct work_plan plan = {.parameters = &parameters,
                             .picture = {.codec = CODEC_PNG, .native = shape, .pixels = shape},
                             .output = CODEC_PNG,
                             .orientation = 1,
                             .stored = shape,
                             .upright = shape,
                             .filtered = shape,
                             .encoded = shape,
                             .selection = {.wanted = true}};
    struct error err;
    const struct operation *operation = &parameters.ops.operation[0];
    assert_int_equal(chain_append(&plan.chain, operation->filter, &operation->arguments, &shape, &err),
                     ST_OK);
    return footprint_of(&plan, cpu).working;
}

static void test_a_soft_edge_takes_memory_for_its_blur(void **state) {
    enum { FEATHER = 100 };
    size_t blur = mask_feather_bytes(cpu, &shape, FEATHER);
    (void)state;
    assert_true(working_of(0) < blur);
    assert_true(working_of(FEATHER) >= blur);
}

/* The plan for a picture of that side that becomes a PNG. */
static struct work_plan png_plan(const struct parameters *parameters, uint32_t side, struct crew *crew) {
    const struct image_shape large = {.model = PIXEL_RGB, .depth = 8, .width = side, .height = side};
    struct work_plan plan = {.parameters = parameters,
                             .picture = {.codec = CODEC_JPEG, .native = large, .pixels = large},
                             .output = CODEC_PNG,
                             .orientation = 1,
                             .stored = large,
                             .upright = large,
                             .filtered = large,
                             .encoded = large,
                             .options = {.crew = crew}};
    struct error err;
    const struct operation *operation = &parameters->ops.operation[0];
    assert_int_equal(chain_append(&plan.chain, operation->filter, &operation->arguments, &large, &err),
                     ST_OK);
    return plan;
}

/* A picture that fits without help is served without it. */
static void test_no_picture_is_refused_for_its_help(void **state) {
    struct crew *crew = crew_create(1, true);
    struct parameters parameters;
    (void)state;
    assert_non_null(crew);
    parameters_init(&parameters, filter_find("pixelate"));
    struct work_plan alone = png_plan(&parameters, 2000, NULL), helped = png_plan(&parameters, 2000, crew);
    struct footprint least = footprint_of(&alone, cpu), most = footprint_of(&helped, cpu);
    uint64_t few = footprint_sum(&least), many = footprint_sum(&most);
    assert_true(few < many);
    most = footprint_within(&helped, cpu, many);
    assert_true(footprint_sum(&most) == many && helped.options.crew == crew);
    most = footprint_within(&helped, cpu, many - 1);
    assert_true(footprint_sum(&most) == few && helped.options.crew == NULL);
    crew_destroy(crew);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_that_is_kept_counts),
        cmocka_unit_test(test_compressed_texts_count_as_what_they_may_hold),
        cmocka_unit_test(test_a_soft_edge_takes_memory_for_its_blur),
        cmocka_unit_test(test_no_picture_is_refused_for_its_help),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
