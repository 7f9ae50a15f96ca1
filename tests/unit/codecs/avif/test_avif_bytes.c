/* SPDX-License-Identifier: MIT
 * What is read of an AVIF without libavif. */
#include "codecs/peek.h"
#include "tests/unit/codecs/avif/avif_fixture.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The last unit of the data has a size that goes on behind the end of the file, where no memory is. */
static void test_units_end_with_the_file(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 40, 24));
    struct encode_options options = best(SUBSAMPLING_AUTO);
    struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
    uint8_t *unit = find_box(&file, "mdat"), *end = file.data + file.size;
    assert_true(file.size < page && end - unit > 5);
    for (; end - unit > 4; unit += 2) {
        memcpy(unit, "\x12\0", 2); /* an empty unit */
    }
    memset(unit, 0x80, (size_t)(end - unit));
    *unit = 0x12;
    uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    uint8_t *last = memory + page - file.size;
    memcpy(last, file.data, file.size);
    struct codec_limits limits = fixture_limits();
    struct error err;
    assert_int_not_equal(fixture_try((struct bytes){last, file.size}, &limits, &err), ST_OK);
    munmap(memory, 2 * page);
    fixture_image_free(&image);
    buf_finish(&file);
}

/* Grey has no chroma, so its cost is that of one plane. */
static void test_a_look_at_grey(void **state) {
    (void)state;
    static const enum pixel_model models[] = {PIXEL_GRAY, PIXEL_RGB};
    for (unsigned i = 0; i < 2; i++) {
        struct image image = fixture_painted(fixture_shape(models[i], 8, 40, 24));
        struct encode_options options = best(SUBSAMPLING_AUTO);
        struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
        struct peek look = {0};
        assert_true(peek_header(buf_bytes(&file), &look));
        assert_int_equal(look.channels, i == 0 ? 1 : 3);
        assert_int_equal(look.sampling, i == 0 ? 0 : 0x22);
        fixture_image_free(&image);
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_end_with_the_file),
        cmocka_unit_test(test_a_look_at_grey),
    };
    if (!codec_decodes(CODEC_AVIF)) {
        printf("this build has no AVIF\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
