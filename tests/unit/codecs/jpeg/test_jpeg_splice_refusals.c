/* SPDX-License-Identifier: MIT
 * JPEGs that are damaged, or not the picture that was encoded, get no metadata. */
#include <pthread.h>
#include <stdatomic.h>

#include "core/clock.h"
#include "tests/unit/codecs/jpeg/jpeg_splice_fixture.h"

static void assert_refused(struct bytes encoded, struct image_shape shape, const char *sentence) {
    struct encode_options options = fixture_options();
    struct buf output;
    struct error err;
    buf_init(&output, 1 << 20);
    assert_int_equal(splice(encoded, shape, &options, NULL, &output, &err), ST_DEVICE);
    assert_int_equal(output.size, 0);
    if (!strstr(err.text, sentence)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, sentence);
    }
    buf_finish(&output);
}

static void test_every_cut(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct buf file = bare_file(shape);
    for (size_t size = 0; size < file.size; size++) {
        assert_refused((struct bytes){file.data, size}, shape, "lacks its first or last marker");
    }
    struct buf cut = bare_file(shape);
    size_t scan = marker_at(buf_bytes(&file), 0xDA);
    for (size_t size = 2; size < scan + 14; size++) {
        memcpy(cut.data, file.data, size);
        memcpy(cut.data + size, "\xFF\xD9", 2);
        assert_refused((struct bytes){cut.data, size + 2}, shape, "encoded JPEG");
    }
    buf_finish(&cut);
    buf_finish(&file);
}

static void test_ends(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    static const char sentence[] = "lacks its first or last marker";
    struct buf file = bare_file(shape);
    const size_t places[] = {0, 1, file.size - 2, file.size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        file.data[places[i]] ^= 1;
        assert_refused(buf_bytes(&file), shape, sentence);
        file.data[places[i]] ^= 1;
    }
    assert_int_equal(buf_append(&file, "", 1, NULL), ST_OK);
    assert_refused(buf_bytes(&file), shape, sentence);
    buf_finish(&file);
}

static void test_wrong_frame(void **state) {
    (void)state;
    static const struct {
        unsigned offset, value; /* behind the marker's 0xFF */
        const char *sentence;
    } cases[] = {
        {1, 0xC1, "segment c1"},
        {1, 0xC2, "segment c2"},
        {1, 0xCC, "segment cc"},
        {1, 0xDD, "has 0 frame headers"},
        {4, 12, "3 components of 8 bits"},
        {6, 31, "is 40 x 31 pixels instead of 40 x 30"},
        {7, 1, "is 296 x 30 pixels instead of 40 x 30"},
        {9, 1, "3 components of 8 bits"},
        {9, 4, "3 components of 8 bits"},
        {11, 0x21, "factors 21, 11, 11 instead of 22, 11, 11"},
        {14, 0x12, "factors 22, 12, 11 instead of 22, 11, 11"},
        {17, 0x00, "factors 22, 11, 0 instead of 22, 11, 11"},
    };
    struct image_shape shape = planar_shape(1, 1);
    struct buf file = bare_file(shape);
    size_t frame = marker_at(buf_bytes(&file), 0xC0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *at = file.data + frame + cases[i].offset, before = *at;
        *at = (uint8_t)cases[i].value;
        assert_refused(buf_bytes(&file), shape, cases[i].sentence);
        *at = before;
    }
    assert_refused(buf_bytes(&file), fixture_shape(PIXEL_GRAY, 8, 40, 30), "1 components of 8 bits");
    assert_refused(buf_bytes(&file), planar_shape(0, 0), "instead of 11, 11, 11");
    uint8_t second[19];
    memcpy(second, file.data + frame, sizeof second);
    fixture_insert(&file, frame, second, sizeof second);
    assert_refused(buf_bytes(&file), shape, "has 2 frame headers");
    buf_finish(&file);
}

static void test_damaged_header(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct buf file = bare_file(shape);
    size_t frame = marker_at(buf_bytes(&file), 0xC0);
    static const char *const odd[] = {"\xFF", "\0", "\xFF\xD8", "\xFF\xD9", "\xFF\x01"};
    static const size_t sizes[] = {1, 1, 2, 2, 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fixture_insert(&file, frame, odd[i], sizes[i]);
        assert_refused(buf_bytes(&file), shape, "is damaged at byte");
        cut_out(&file, frame, sizes[i]);
    }
    fixture_insert(&file, frame, "\xFF\xDD\0\1", 4);
    assert_refused(buf_bytes(&file), shape, "is damaged at byte");
    cut_out(&file, frame, 4);
    size_t scan = marker_at(buf_bytes(&file), 0xDA);
    file.data[scan + 2] = 0xFF;
    assert_refused(buf_bytes(&file), shape, "is damaged at byte");
    buf_finish(&file);
}

static void test_metadata_in_too_many_places(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct buf wanted = bare_file(shape), file = bare_file(shape);
    size_t frame = marker_at(buf_bytes(&file), 0xC0);
    for (unsigned i = 0; i < 15; i++) {
        fixture_insert(&wanted, frame, "\xFF\xDD\0\4\0\0", 6);
        fixture_insert(&file, frame, "\xFF\xDD\0\4\0\0\xFF\xE1\0\2", 10);
    }
    assert_becomes(buf_bytes(&file), shape, buf_bytes(&wanted));
    fixture_insert(&file, frame, "\xFF\xDD\0\4\0\0\xFF\xE1\0\2", 10);
    assert_refused(buf_bytes(&file), shape, "in more than 15 places");
    buf_finish(&file);
    buf_finish(&wanted);
}

/* With any value in any byte of the header, nothing is read or written outside. */
static void test_every_byte_of_the_header(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct encode_options options = fixture_options();
    struct buf file = bare_file(shape);
    size_t end = marker_at(buf_bytes(&file), 0xDA) + 14;
    for (size_t i = 0; i < end; i++) {
        for (unsigned change = 1; change < 256; change *= 2) {
            struct buf output;
            struct error err;
            buf_init(&output, 1 << 20);
            file.data[i] ^= (uint8_t)change;
            enum status status = splice(buf_bytes(&file), shape, &options, NULL, &output, &err);
            assert_true(status == ST_OK || (status == ST_DEVICE && output.size == 0));
            file.data[i] ^= (uint8_t)change;
            buf_finish(&output);
        }
    }
    buf_finish(&file);
}

static atomic_bool over;

static void *toggle(void *byte) {
    for (volatile uint8_t *at = byte; !atomic_load(&over);) {
        *at ^= 1;
    }
    return NULL;
}

/* The other process changes the frame's width meanwhile: what is written was checked. Goes on until the two
 * have run side by side for a while, where the machine lets them. */
static void test_a_header_that_changes(void **state) {
    (void)state;
    enum { TURNS = 2000, WIDTH = 8 /* the lower byte, behind the marker's 0xFF */ };
    struct image_shape shape = planar_shape(1, 1);
    struct encode_options options = fixture_options();
    struct buf file = bare_file(shape), output;
    struct bytes scans;
    struct error err;
    size_t frame = marker_at(buf_bytes(&file), 0xC0);
    const uint8_t right = file.data[frame + WIDTH];
    enum status last = ST_OK;
    pthread_t thread;
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, toggle, file.data + frame + WIDTH), 0);
    buf_init(&output, 1 << 20);
    int64_t start = clock_ns();
    for (unsigned turns = 0; turns < TURNS && clock_ns() - start < (int64_t)5 * CLOCK_NS_PER_S;) {
        enum status status =
            jpeg_splice(buf_bytes(&file), &shape, JPEG_SPLICE_MINOR, &options, NULL, &output, &scans, &err);
        turns += status != last;
        last = status;
        if (status == ST_OK) {
            assert_int_equal(output.data[marker_at(buf_bytes(&output), 0xC0) + WIDTH], right);
        }
        output.size = 0;
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    buf_finish(&output);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_wrong_frame),
        cmocka_unit_test(test_damaged_header),
        cmocka_unit_test(test_metadata_in_too_many_places),
        cmocka_unit_test(test_every_byte_of_the_header),
        cmocka_unit_test(test_a_header_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
