/* SPDX-License-Identifier: MIT
 * What the daemon believes of a codec process's answer: each bound at its last value that holds and at the
 * first that does not, with every other field as an intact process sends it, so that no second check refuses
 * in its place. */
#include "codecs/process/codec_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "core/clock.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum {
    FILE_SIZE = 1000,
    STORED_SIZE = 50,
    STORE_EXTRA = 1 << 20,
    WIDTH_MAX = 400,
    HEIGHT_MAX = 300,
    OUTPUT_MAX = 5000
};

static uint8_t file_bytes[FILE_SIZE], stored_bytes[STORED_SIZE];
static const struct bytes file = {file_bytes, FILE_SIZE}, stored = {stored_bytes, STORED_SIZE};

static struct codec_call call_of(enum codec_operation operation) {
    return (struct codec_call){.operation = operation,
                               .input_size = FILE_SIZE,
                               .output_most = OUTPUT_MAX,
                               .limits = {.max_pixels = WIDTH_MAX * HEIGHT_MAX, .max_side = WIDTH_MAX}};
}

static struct codec_answer probed(uint32_t width, uint32_t height) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = width, .height = height};
    return (struct codec_answer){.native = shape, .pixels = shape};
}

static enum status check(struct codec_answer answer, enum codec_operation operation) {
    struct error err = {0};
    const struct codec_call call = call_of(operation);
    return codec_wire_check(&answer, &call, &err);
}

static void test_limits_of_the_picture(void **state) {
    (void)state;
    assert_int_equal(check(probed(WIDTH_MAX, HEIGHT_MAX), CODEC_PROBES), ST_OK);
    assert_int_equal(check(probed(WIDTH_MAX + 1, 1), CODEC_PROBES), ST_DEVICE);
    assert_int_equal(check(probed(1, WIDTH_MAX + 1), CODEC_PROBES), ST_DEVICE);
    assert_int_equal(check(probed(WIDTH_MAX, HEIGHT_MAX + 1), CODEC_PROBES), ST_DEVICE); /* pixels */
    assert_int_equal(check(probed(0, 1), CODEC_PROBES), ST_DEVICE);
    assert_int_equal(check(probed(1, 0), CODEC_PROBES), ST_DEVICE);
}

static void test_shapes(void **state) {
    (void)state;
    struct codec_answer answer = probed(8, 8);
    answer.native.model = PIXEL_YCBCR; /* the planes of the file, with reduced colour */
    answer.native.chroma_shift_x = answer.native.chroma_shift_y = 2;
    assert_int_equal(check(answer, CODEC_PROBES), ST_OK);
    answer.native.chroma_shift_x = 3;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer.native.chroma_shift_x = 2, answer.native.chroma_shift_y = 3;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer.native.chroma_shift_y = 2, answer.native.depth = 16;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer = probed(8, 8), answer.native.depth = answer.pixels.depth = 16;
    assert_int_equal(check(answer, CODEC_PROBES), ST_OK);
    answer.pixels.model = PIXEL_YCBCR, answer.pixels.depth = 8; /* what is decoded has no planes */
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer = probed(8, 8), answer.native.width = 9;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer = probed(8, 8), answer.native.height = 9;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
    answer = probed(8, 8), answer.progressive = 1;
    assert_int_equal(check(answer, CODEC_PROBES), ST_OK);
    answer.progressive = 2;
    assert_int_equal(check(answer, CODEC_PROBES), ST_DEVICE);
}

static void test_bytes_behind_the_answer(void **state) {
    static const struct {
        enum codec_operation operation;
        uint64_t most;
    } cases[] = {{CODEC_PROBES, FILE_SIZE + STORE_EXTRA},
                 {CODEC_DECODES, 0},
                 {CODEC_ENCODES, OUTPUT_MAX},
                 {CODEC_ADDS, 0},
                 {CODEC_COMPLETES, OUTPUT_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct codec_answer answer = probed(8, 8);
        answer.size = cases[i].most;
        assert_int_equal(check(answer, cases[i].operation), ST_OK);
        answer.size++;
        assert_int_equal(check(answer, cases[i].operation), ST_DEVICE);
        answer.size = UINT64_MAX;
        assert_int_equal(check(answer, cases[i].operation), ST_DEVICE);
        answer = (struct codec_answer){.error = {.status = ST_CORRUPT, .text = "damaged"}};
        assert_int_equal(check(answer, cases[i].operation), ST_OK);
        answer.size = 1;
        assert_int_equal(check(answer, cases[i].operation), ST_DEVICE);
        answer.size = 0, answer.error.text[0] = '\0';
        assert_int_equal(check(answer, cases[i].operation), ST_DEVICE);
        answer = probed(8, 8), answer.last = 1;
        assert_int_equal(check(answer, cases[i].operation), ST_OK);
        answer.last = 2;
        assert_int_equal(check(answer, cases[i].operation), ST_DEVICE);
    }
}

/* Only a codec's own outcomes, each of them. */
static void test_statuses(void **state) {
    static const enum status outcomes[] = {ST_CORRUPT, ST_UNSUPPORTED, ST_LIMIT, ST_BUSY, ST_INTERNAL};
    (void)state;
    for (enum status status = ST_OK + 1; status < ST_COUNT; status++) {
        struct codec_answer answer = {.error = {.status = status, .text = "why"}};
        bool is_outcome = false;
        for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
            is_outcome |= outcomes[i] == status;
        }
        assert_int_equal(check(answer, CODEC_DECODES), is_outcome ? ST_OK : ST_DEVICE);
    }
}

/* --- views ------------------------------------------------------------------------------------- */
static struct codec_metadata good_metadata(void) {
    return (struct codec_metadata){.orientation = 1, .chunk_count = 1, .density = {1, 1, 1, DENSITY_INCH}};
}

static enum status unpack(const struct codec_metadata *packed, struct metadata *metadata) {
    struct error err = {0};
    *metadata = (struct metadata){0};
    return codec_wire_unpack(packed, file, stored, metadata, &err);
}

/* A view that ends with its whole is taken as it is; one that ends a byte later, wherever it begins, is
 * refused. */
static void check_view(struct codec_metadata *packed, struct codec_view *view, const struct bytes *got,
                       struct metadata *into) {
    for (uint64_t where = 0; where <= 1; where++) {
        struct bytes whole = where ? stored : file;
        const struct codec_view fine[] = {{where, 0, whole.size},
                                          {where, whole.size - 1, 1},
                                          {where, whole.size, 0},
                                          {where, 3, whole.size - 3}};
        const struct codec_view refused[] = {{where, 0, whole.size + 1},     {where, whole.size, 1},
                                             {where, whole.size + 1, 0},     {where, 3, whole.size - 2},
                                             {where, UINT64_MAX, 1},         {where, 1, UINT64_MAX},
                                             {where, UINT64_MAX, UINT64_MAX}};
        for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
            *view = fine[i];
            assert_int_equal(unpack(packed, into), ST_OK);
            assert_int_equal(got->size, fine[i].size);
            assert_true(got->size == 0 || got->data == whole.data + fine[i].at);
        }
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
            *view = refused[i];
            assert_int_equal(unpack(packed, into), ST_DEVICE);
        }
    }
    *view = (struct codec_view){2, 0, 1};
    assert_int_equal(unpack(packed, into), ST_DEVICE);
    *view = (struct codec_view){0};
}

static void test_views(void **state) {
    (void)state;
    struct codec_metadata packed = good_metadata();
    struct metadata made = {0};
    check_view(&packed, &packed.exif, &made.exif, &made);
    check_view(&packed, &packed.xmp, &made.xmp, &made);
    check_view(&packed, &packed.photoshop, &made.photoshop, &made);
    check_view(&packed, &packed.chunk[0].data, &made.chunk[0].data, &made);
    packed.chunk_count = METADATA_CHUNKS_MAX;
    check_view(&packed, &packed.chunk[METADATA_CHUNKS_MAX - 1].data,
               &made.chunk[METADATA_CHUNKS_MAX - 1].data, &made);
    packed.chunk_count = METADATA_CHUNKS_MAX + 1;
    assert_int_equal(unpack(&packed, &made), ST_DEVICE);
    assert_int_equal(made.chunk_count, 0);
}

static void test_small_fields(void **state) {
    (void)state;
    struct metadata made = {0};
    for (unsigned value = 0; value < 12; value++) {
        struct codec_metadata packed = good_metadata();
        packed.orientation = (uint8_t)value;
        assert_int_equal(unpack(&packed, &made), value >= 1 && value <= 8 ? ST_OK : ST_DEVICE);
        packed = good_metadata(), packed.upright = (uint8_t)value;
        assert_int_equal(unpack(&packed, &made), value <= 1 ? ST_OK : ST_DEVICE);
        packed = good_metadata(), packed.xmp_deflated = (uint8_t)value;
        assert_int_equal(unpack(&packed, &made), value <= 1 ? ST_OK : ST_DEVICE);
        packed = good_metadata(), packed.gain_map = (uint8_t)value;
        assert_int_equal(unpack(&packed, &made), value <= 1 ? ST_OK : ST_DEVICE);
        packed = good_metadata(), packed.chunk[0].kind = value;
        assert_int_equal(unpack(&packed, &made), value <= CHUNK_TIME ? ST_OK : ST_DEVICE);
        packed = good_metadata(), packed.density.unit = (enum density_unit)value;
        assert_int_equal(unpack(&packed, &made), value <= DENSITY_CM ? ST_OK : ST_DEVICE);
    }
    for (unsigned zero = 0; zero < 3; zero++) {
        struct codec_metadata packed = good_metadata();
        *(zero == 0 ? &packed.density.x : zero == 1 ? &packed.density.y : &packed.density.scale) = 0;
        assert_int_equal(unpack(&packed, &made), ST_DEVICE);
        packed.density.unit = DENSITY_NONE;
        assert_int_equal(unpack(&packed, &made), ST_OK);
    }
}

/* What is packed comes out again, from the file and from memory beside it. */
static void test_there_and_back(void **state) {
    (void)state;
    static const uint8_t beside[] = "beside the file";
    struct metadata made, metadata = {.orientation = 3,
                                      .upright = true,
                                      .gain_map = true,
                                      .losses = 5,
                                      .chunk_count = 2,
                                      .density = {2, 3, 1, DENSITY_CM}};
    struct codec_metadata packed;
    struct buf sent;
    struct error err = {0};
    buf_init(&sent, 1 << 10);
    metadata.exif = (struct bytes){file_bytes + FILE_SIZE - 7, 7};
    metadata.xmp = (struct bytes){beside, sizeof beside};
    metadata.chunk[1] = (struct metadata_chunk){CHUNK_ICC, 9, {beside + 2, 4}};
    assert_int_equal(codec_wire_pack(&metadata, file, &packed, &sent, &err), ST_OK);
    assert_int_equal(sent.size, sizeof beside + 4);
    assert_int_equal(codec_wire_unpack(&packed, file, buf_bytes(&sent), &made, &err), ST_OK);
    assert_ptr_equal(made.exif.data, metadata.exif.data);
    assert_int_equal(made.exif.size, 7);
    assert_memory_equal(made.xmp.data, beside, sizeof beside);
    assert_memory_equal(made.chunk[1].data.data, beside + 2, 4);
    assert_int_equal(made.chunk[1].tag, 9);
    assert_true(made.orientation == 3 && made.upright && made.gain_map && !made.xmp_deflated &&
                made.losses == 5);
    assert_true(made.density.x == 2 && made.density.y == 3 && made.chunk_count == 2 &&
                made.photoshop.size == 0);
    buf_finish(&sent);
}

/* A view that leaves the file on either side is sent along, whole. Memory for that is bounded, for each view.
 */
static void test_views_beside_the_file(void **state) {
    static uint8_t around[3 * FILE_SIZE];
    static const struct bytes inner = {around + FILE_SIZE, FILE_SIZE};
    static const struct {
        int at;
        size_t size;
        bool inside;
    } cases[] = {{FILE_SIZE - 9, 9, false},     {FILE_SIZE - 1, 2, false},
                 {FILE_SIZE, 1, true},          {2 * FILE_SIZE - 1, 1, true},
                 {FILE_SIZE, FILE_SIZE, true},  {2 * FILE_SIZE - 1, 2, false},
                 {2 * FILE_SIZE + 1, 1, false}, {FILE_SIZE, FILE_SIZE + 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned which = 0; which < 4; which++) {
            struct metadata metadata = {.chunk_count = 2};
            struct bytes *const views[] = {&metadata.exif, &metadata.xmp, &metadata.photoshop,
                                           &metadata.chunk[0].data};
            struct codec_metadata packed;
            struct buf sent;
            struct error err = {0};
            *views[which] = (struct bytes){around + cases[i].at, cases[i].size};
            buf_init(&sent, cases[i].size);
            assert_int_equal(codec_wire_pack(&metadata, inner, &packed, &sent, &err), ST_OK);
            assert_int_equal(sent.size, cases[i].inside ? 0 : cases[i].size);
            buf_finish(&sent);
            buf_init(&sent, cases[i].size - 1);
            assert_int_equal(codec_wire_pack(&metadata, inner, &packed, &sent, &err),
                             cases[i].inside ? ST_OK : ST_LIMIT);
            buf_finish(&sent);
        }
    }
}

/* Rounded up: who waits a whole time does not wake before it. */
static void test_time_to_wait(void **state) {
    (void)state;
    assert_int_equal(codec_wire_wait_ms(0), -1);
    assert_int_equal(codec_wire_wait_ms(clock_ns() - 1), 0);
    int64_t before = clock_ns(), wait = codec_wire_wait_ms(before + 3600 * (int64_t)1000000000);
    assert_true(wait <= 3600001 && wait * 1000000 >= 3600 * (int64_t)1000000000 - (clock_ns() - before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_the_picture),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_bytes_behind_the_answer),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_small_fields),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_views_beside_the_file),
        cmocka_unit_test(test_time_to_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
