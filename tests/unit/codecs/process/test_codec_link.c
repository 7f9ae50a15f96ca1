/* SPDX-License-Identifier: MIT
 * Isolated codecs in processes of their own give the same results as in this process. */
#include "tests/unit/codecs/process/codec_link_fixture.h"

#include <pthread.h>

enum { LINKS = 8, ROUNDS = 60 };

static void assert_bytes(struct bytes got, struct bytes want) {
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
}

static void assert_same_metadata(const struct metadata *got, const struct metadata *want) {
    assert_int_equal(got->orientation, want->orientation);
    assert_true(got->upright);
    assert_memory_equal(&got->density, &want->density, sizeof want->density);
    assert_bytes(got->exif, want->exif);
    assert_bytes(got->xmp, want->xmp);
    assert_int_equal(got->photoshop.size, 0);
    assert_int_equal(got->chunk_count, want->chunk_count);
    for (unsigned i = 0; i < want->chunk_count; i++) {
        assert_int_equal(got->chunk[i].kind, want->chunk[i].kind);
        assert_int_equal(got->chunk[i].tag, want->chunk[i].tag);
        assert_bytes(got->chunk[i].data, want->chunk[i].data);
    }
}

static void test_same_as_here(void **state) {
    struct lab lab;
    struct codec_limits limits = fixture_limits();
    struct picture here = {.metadata.orientation = 1};
    struct buf output, wanted;
    (void)state;
    open_lab(&lab);
    for (unsigned round = 0; round < 3; round++) {
        assert_works(&lab);
        assert_int_equal(fake_probe(lab.file, &limits, &here, &lab.err), ST_OK);
        assert_memory_equal(&lab.picture.pixels, &here.pixels, sizeof here.pixels);
        assert_memory_equal(&lab.picture.native, &here.native, sizeof here.native);
        assert_true(lab.picture.progressive);
        assert_true(lab.picture.metadata.losses != (unsigned)getpid());
        assert_same_metadata(&lab.picture.metadata, &here.metadata);
        assert_ptr_equal(lab.picture.metadata.exif.data, here.metadata.exif.data);
        struct image image = fixture_image(lab.picture.pixels);
        assert_int_equal(fake_decode(lab.file, NULL, &limits, &image, &lab.err), ST_OK);
        for (uint32_t y = 0; y < image.height; y++) {
            assert_memory_equal(plane_row(&lab.image.plane[0], y), plane_row(&image.plane[0], y),
                                plane_row_bytes(&image.plane[0], 8));
        }
        buf_init(&wanted, OUTPUT_MAX);
        assert_int_equal(fake_encode(&image, &(struct encode_options){0}, &here.metadata, &wanted, &lab.err),
                         ST_OK);
        assert_int_equal(encode(&lab, FAKE_WORKS, OUTPUT_MAX, &output), ST_OK);
        assert_bytes(buf_bytes(&output), buf_bytes(&wanted));
        buf_finish(&output);
        buf_finish(&wanted);
        buf_finish(&here.metadata.store);
        fixture_image_free(&image);
    }
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
    assert_int_equal(count_processes(), 0);
}

static void test_options(void **state) {
    struct lab lab;
    struct buf output;
    unsigned losses = 0x3;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    const struct encode_options options = {.losses = &losses};
    buf_init(&output, OUTPUT_MAX);
    assert_int_equal(buf_append(&output, "abc", 3, &lab.err), ST_OK);
    assert_int_equal(
        codec_link_encode(lab.link, CODEC_WEBP, &lab.image, &options, 0, NULL, &output, &lab.err), ST_OK);
    assert_int_equal(losses, 0x503);
    assert_int_equal(output.size, 3 + 150 * 90 * 3);
    assert_memory_equal(output.data, "abc", 3);
    buf_finish(&output);
    assert_int_equal(encode(&lab, FAKE_WORKS, 1000, &output), ST_LIMIT); /* too small a buffer */
    buf_finish(&output);
    assert_works(&lab);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

static void test_slots_change(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    struct slot *body = lab.body, *work = lab.work;
    lab.body = acquire(pool);
    lab.work = acquire(pool);
    assert_works(&lab);
    assert_non_null(slot_take(lab.body, 3 * MIB, &lab.err)); /* grows */
    struct fake_file file = fake_file(FAKE_WORKS, 0);
    uint8_t *memory = slot_take(lab.body, sizeof file, &lab.err);
    memcpy(memory, &file, sizeof file);
    lab.file.data = memory;
    assert_int_equal(probe(&lab), ST_OK);
    slot_give_back(body);
    slot_give_back(work);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

/* Neither during a request nor after it, and what the process was lent holds nothing when the request ends.
 */
static void test_slots_stay_private(void **state) {
    struct lab lab;
    struct buf output;
    (void)state;
    open_lab(&lab);
    for (unsigned round = 0; round < 3; round++) {
        assert_works(&lab);
        assert_int_equal(encode(&lab, FAKE_WORKS, OUTPUT_MAX, &output), ST_OK);
        buf_finish(&output);
        assert_false(maps_slot(lab.picture.metadata.losses, lab.body));
        assert_false(maps_slot(lab.picture.metadata.losses, lab.work));
        assert_true(slot_pool_held(pool, SLOT_EXCHANGE) > 0);
        codec_link_clear(lab.link);
        assert_int_equal(slot_pool_held(pool, SLOT_EXCHANGE), 0);
    }
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

/* The padding of rows may hold what another client's picture left there. */
static void test_padding_stays_private(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_WORKS, 0);
    const struct plane *plane = &lab.image.plane[0];
    size_t row = plane_row_bytes(plane, 8);
    assert_true(row < plane->stride);
    for (uint32_t y = 0; y < plane->height; y++) {
        memset(plane_row(plane, y), 0x5a, plane->stride);
    }
    assert_int_equal(decode(&lab), ST_OK);
    for (uint32_t y = 0; y + 1 < plane->height; y++) {
        assert_int_equal(plane_row(plane, y)[row], 0x5a);
        assert_int_equal(plane_row(plane, y)[row - 1], (uint8_t)((row - 1) * 3 + y * 5 + 7));
    }
    close_lab(&lab);
}

static void test_errors_of_the_codec(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    load(&lab, FAKE_IS_DAMAGED, 0);
    assert_int_equal(decode(&lab), ST_CORRUPT);
    assert_string_equal(lab.err.text, "row 7 is damaged");
    lab.file.size = 5;
    assert_int_equal(probe(&lab), ST_CORRUPT);
    assert_string_equal(lab.err.text, "the file is cut short");
    assert_works(&lab);
    assert_int_equal(count_processes(), 1);
    close_lab(&lab);
}

static void test_a_large_process_ends(void **state) {
    struct lab lab;
    (void)state;
    open_lab(&lab);
    assert_works(&lab);
    load(&lab, FAKE_GROWS, 18 * MIB);
    assert_int_equal(decode(&lab), ST_OK);
    unsigned process = lab.picture.metadata.losses;
    assert_works(&lab);
    assert_int_equal(lab.picture.metadata.losses, process);
    load(&lab, FAKE_GROWS, 18 * MIB); /* beyond the limit, with the one before */
    assert_int_equal(decode(&lab), ST_OK);
    assert_int_equal(count_processes(), 0);
    assert_works(&lab);
    close_lab(&lab);
}

static void *work_hard(void *argument) {
    struct lab *lab = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % 7 == 3) {
            load(lab, FAKE_CRASHES, 0);
            assert_int_equal(decode(lab), ST_CORRUPT);
        }
        assert_works(lab);
    }
    return NULL;
}

static void test_many_links(void **state) {
    static struct lab labs[LINKS];
    pthread_t threads[LINKS];
    (void)state;
    for (unsigned i = 0; i < LINKS; i++) {
        open_lab(&labs[i]);
    }
    for (unsigned i = 0; i < LINKS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work_hard, &labs[i]), 0);
    }
    for (unsigned i = 0; i < LINKS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(count_processes(), LINKS);
    for (unsigned i = 0; i < LINKS; i++) {
        close_lab(&labs[i]);
    }
    assert_int_equal(count_processes(), 0);
}

static const struct codec *no_codec(enum codec_id id) {
    static const struct codec missing = {.title = "Missing", .isolated = true};
    (void)id;
    return &missing;
}

static void test_no_spawner_is_needed(void **state) {
    const struct codec_process_options options = {.codec = no_codec};
    struct codec_spawner *none = spawner;
    struct error err = {0};
    (void)state;
    assert_int_equal(codec_spawner_fork(&none, &options, &err), ST_OK);
    assert_null(none);
    codec_spawner_end(NULL);
    codec_link_destroy(NULL);
    codec_link_clear(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_here),         cmocka_unit_test(test_options),
        cmocka_unit_test(test_slots_change),         cmocka_unit_test(test_errors_of_the_codec),
        cmocka_unit_test(test_slots_stay_private),   cmocka_unit_test(test_padding_stays_private),
        cmocka_unit_test(test_a_large_process_ends), cmocka_unit_test(test_many_links),
        cmocka_unit_test(test_no_spawner_is_needed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
