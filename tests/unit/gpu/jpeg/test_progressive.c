/* SPDX-License-Identifier: MIT
 * The reader of progressive JPEGs on the fake driver: the values of the CPU's, and what is refused. */
#include "tests/unit/gpu/jpeg/progressive_fixture.h"

/* --- intact files ------------------------------------------------------------------------------- */
static void assert_read(const struct progressive_material *m, struct bytes file,
                        const struct reading *reading) {
    const struct image_shape shape = shape_of(m);
    bool same = false;
    enum status status = by_cpu(file, &shape, reading, &same);
    if (reading->verdict != PROGRESSIVE_INTACT || status != ST_OK || !same) {
        fail_msg(
            "%ux%u, content %d, factors %d %d, quality %d, %d scans of a script: verdict %u, CPU %d, same %d",
            m->width, m->height, m->content, m->h, m->v, m->quality, m->scripted, reading->verdict, status,
            same);
    }
}

static void test_every_kind(void **state) {
    (void)state;
    enum { FILES = 320, TOGETHER = 5 };
    for (size_t i = 0; i < FILES; i += TOGETHER) {
        struct progressive_material material[TOGETHER];
        struct buf file[TOGETHER];
        struct reading reading[TOGETHER];
        for (size_t k = 0; k < TOGETHER; k++) {
            material[k] = any_material(i + k);
            file[k] = make(&material[k]);
            const struct image_shape shape = shape_of(&material[k]);
            struct error err = {0};
            if (parse(buf_bytes(&file[k]), &shape, &reading[k], &err) != ST_OK) {
                fail_msg("file %zu: %s", i + k, err.text);
            }
        }
        run(reading, TOGETHER);
        for (size_t k = 0; k < TOGETHER; k++) {
            assert_read(&material[k], buf_bytes(&file[k]), &reading[k]);
            finish(&reading[k]);
            buf_finish(&file[k]);
        }
    }
}

static void test_larger_files(void **state) {
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct progressive_material material = any_material(i % 4 * 9);
        material.content = i % 2 ? MIXED : SMOOTH;
        material.quality = 60;
        material.width = 640;
        material.height = 401;
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        struct reading reading;
        struct error err = {0};
        assert_int_equal(parse(buf_bytes(&file), &shape, &reading, &err), ST_OK);
        run(&reading, 1);
        assert_read(&material, buf_bytes(&file), &reading);
        finish(&reading);
        buf_finish(&file);
    }
}

/* Frames that our encoders write, and others. */
static void test_plain_frames(void **state) {
    (void)state;
    struct progressive_material material = {
        .content = SMOOTH, .h = 2, .v = 2, .quality = 80, .width = 40, .height = 30};
    for (int alike = 0; alike < 2; alike++) {
        const struct image_shape shape = shape_of(&material);
        struct reading reading;
        struct error err = {0};
        material.alike = alike;
        struct buf file = make(&material);
        assert_int_equal(parse(buf_bytes(&file), &shape, &reading, &err), ST_OK);
        assert_int_equal(reading.source.plain, !alike);
        assert_true(reading.source.longest > 0 && reading.source.longest < 4 * file.size);
        finish(&reading);
        buf_finish(&file);
    }
}

/* --- refusals ----------------------------------------------------------------------------------- */
/* The n-th such marker. */
static size_t find(const struct buf *file, uint8_t marker, unsigned number) {
    for (size_t at = 2; at + 4 <= file->size;) {
        if (file->data[at] == 0xff && file->data[at + 1] == marker && number-- == 0) {
            return at;
        }
        bool segment = file->data[at] == 0xff && file->data[at + 1] >= 0xc0;
        at += segment ? 2 + bytes_be16(file->data + at + 2) : 1;
    }
    fail_msg("no marker %x", marker);
    return 0;
}

static void assert_refused(struct bytes file, const struct image_shape *shape, const char *sentence) {
    struct reading reading;
    struct error err = {0};
    assert_int_equal(parse(file, shape, &reading, &err), ST_UNSUPPORTED);
    if (!strstr(err.text, sentence)) {
        fail_msg("\"%s\", not \"%s\"", err.text, sentence);
    }
}

/* A byte behind a marker that changes. */
static const struct {
    uint8_t marker, number, at, value;
    const char *sentence;
} changes[] = {
    {0xe0, 0, 0, 0, "its header is damaged"},
    {0xe0, 0, 3, 1, "its header is damaged"},
    {0xe0, 0, 1, 0xc9, "it is not progressive, or has an unusual marker"},
    {0xc2, 0, 1, 0xc0, "it is not progressive, or has an unusual marker"},
    {0xc2, 0, 1, 0xca, "it is not progressive, or has an unusual marker"},
    {0xc2, 0, 1, 0xe5, "a scan's header is damaged"},
    {0xc2, 0, 4, 12, "its frame is not one of 8 bits and 1 or 3 components"},
    {0xc2, 0, 9, 4, "its frame is not one of 8 bits and 1 or 3 components"},
    {0xc2, 0, 11, 0x02, "its frame is damaged"},
    {0xc2, 0, 11, 0x52, "its frame is damaged"},
    {0xc2, 0, 12, 4, "its frame is damaged"},
    {0xc2, 0, 13, 1, "its frame is damaged"},
    {0xc2, 0, 12, 3, "a component of a scan is unknown or lacks a table"},
    {0xc2, 0, 8, 32, "its frame is not of the shape that was found before"},
    {0xc2, 0, 11, 0x21, "its frame is not of the shape that was found before"},
    {0xc2, 0, 14, 0x21, "its frame is not of the shape that was found before"},
    {0xdb, 0, 4, 0x20, "a quantisation table is damaged"},
    {0xdb, 0, 4, 4, "a quantisation table is damaged"},
    {0xdb, 0, 20, 0, "a quantisation table has a step of 0"},
    {0xc4, 0, 4, 0x20, "a Huffman table is damaged"},
    {0xc4, 0, 4, 4, "a Huffman table is damaged"},
    {0xc4, 0, 12, 200, "a Huffman table is damaged"},
    {0xc4, 0, 21, 16, "a Huffman table is damaged"},
    {0xc4, 0, 4, 2, "a component of a scan is unknown or lacks a table"},
    {0xda, 0, 4, 2, "a scan's header is damaged"},
    {0xda, 0, 5, 9, "a component of a scan is unknown or lacks a table"},
    {0xda, 0, 5, 2, "a component of a scan is unknown or lacks a table"},
    {0xda, 0, 6, 0x40, "a component of a scan is unknown or lacks a table"},
    {0xda, 0, 11, 1, "a scan has coefficients that it may not have"},
    {0xda, 0, 12, 1, "a scan has coefficients that it may not have"},
    {0xda, 0, 13, 0x31, "a scan has coefficients that it may not have"},
    {0xda, 0, 13, 0x0e, "a scan has coefficients that it may not have"},
    {0xda, 0, 13, 0x21, "its scans are not in order"},
    {0xda, 1, 7, 0, "a scan has coefficients that it may not have"},
    {0xda, 1, 7, 6, "a scan has coefficients that it may not have"},
    {0xda, 1, 8, 64, "a scan has coefficients that it may not have"},
    {0xda, 1, 8, 6, "its scans are not in order"},
    {0xda, 9, 7, 2, "it is incomplete"},
};

static struct progressive_material refused_material(void) {
    return (struct progressive_material){
        .content = SMOOTH, .h = 2, .v = 2, .quality = 80, .width = 33, .height = 20};
}

static void test_refused_headers(void **state) {
    (void)state;
    const struct progressive_material material = refused_material();
    const struct image_shape shape = shape_of(&material);
    struct buf file = make(&material);
    for (size_t i = 0; i < COUNT(changes); i++) {
        uint8_t *byte = file.data + find(&file, changes[i].marker, changes[i].number) + changes[i].at,
                before = *byte;
        *byte = changes[i].value;
        assert_refused(buf_bytes(&file), &shape, changes[i].sentence);
        *byte = before;
    }
    file.data[0] = 0;
    assert_refused(buf_bytes(&file), &shape, "the file is not a JPEG");
    file.data[0] = 0xff;
    assert_refused((struct bytes){file.data, 1}, &shape, "the file is not a JPEG");
    assert_refused((struct bytes){file.data, file.size - 1}, &shape, "it does not end with an end marker");
    assert_refused((struct bytes){file.data, file.size - 2}, &shape, "it does not end with an end marker");
    buf_finish(&file);
}

static void test_refused_files(void **state) {
    (void)state;
    struct progressive_material material = refused_material();
    struct image_shape shape = shape_of(&material);
    struct buf file = make(&material);
    assert_int_equal(buf_append(&file, "", 1, NULL), ST_OK);
    assert_refused(buf_bytes(&file), &shape, "there is data behind its end marker");
    shape.model = PIXEL_RGB;
    assert_refused(buf_bytes(&file), &shape, "it is not grey or YCbCr, or too large");
    shape = shape_of(&material);
    file.size--;
    uint8_t again[32];
    size_t end = find(&file, 0xda, 9);
    memcpy(file.data + end, "\xff\xd9", 2);
    assert_refused((struct bytes){file.data, end + 2}, &shape, "it is incomplete");
    buf_finish(&file);

    file = make(&material); /* the second scan's header again */
    size_t first = find(&file, 0xda, 1), size = 2 + bytes_be16(file.data + first + 2);
    assert_true(size <= sizeof again);
    memcpy(again, file.data + first, size);
    fixture_insert(&file, first, again, size);
    assert_refused(buf_bytes(&file), &shape, "its scans are not in order");
    buf_finish(&file);

    material.restart = 2;
    file = make(&material);
    assert_refused(buf_bytes(&file), &shape, "it has a restart interval");
    buf_finish(&file);

    material = (struct progressive_material){
        .content = NOISE, .h = 1, .v = 1, .quality = 100, .width = 800, .height = 700};
    shape = shape_of(&material);
    file = make(&material);
    assert_refused(buf_bytes(&file), &shape, "it has more than 1 MiB");
    buf_finish(&file);
}

/* Many bands. */
static void test_too_many_scans(void **state) {
    (void)state;
    for (int bands = 31; bands <= 32; bands++) {
        jpeg_scan_info script[33] = {{1, {0}, 0, 0, 0, 0}};
        for (int i = 0; i < bands; i++) {
            script[1 + i] = (jpeg_scan_info){1, {0}, i + 1, i + 1 < bands ? i + 1 : 63, 0, 0};
        }
        const struct progressive_material material = {.content = NOISE,
                                                      .quality = 80,
                                                      .script = script,
                                                      .scripted = bands + 1,
                                                      .width = 33,
                                                      .height = 40};
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        if (bands == 32) {
            assert_refused(buf_bytes(&file), &shape, "it has more than 32 scans");
        } else {
            struct reading reading;
            struct error err = {0};
            assert_int_equal(parse(buf_bytes(&file), &shape, &reading, &err), ST_OK);
            run(&reading, 1);
            assert_read(&material, buf_bytes(&file), &reading);
            finish(&reading);
        }
        buf_finish(&file);
    }
}

/* A refinement of 15 bands at once, which needs the masks of all of them. */
static void test_many_sources(void **state) {
    (void)state;
    enum { BANDS = 15 };
    jpeg_scan_info script[BANDS + 2] = {{1, {0}, 0, 0, 0, 0}};
    for (int i = 0; i < BANDS; i++) {
        script[1 + i] = (jpeg_scan_info){1, {0}, 1 + 4 * i, i + 1 < BANDS ? 4 + 4 * i : 63, 0, 1};
    }
    script[BANDS + 1] = (jpeg_scan_info){1, {0}, 1, 63, 1, 0};
    const struct progressive_material material = {.content = NOISE,
                                                  .quality = 95,
                                                  .script = script,
                                                  .scripted = BANDS + 2,
                                                  .width = 133,
                                                  .height = 140};
    const struct image_shape shape = shape_of(&material);
    struct buf file = make(&material);
    struct reading reading;
    struct error err = {0};
    assert_int_equal(parse(buf_bytes(&file), &shape, &reading, &err), ST_OK);
    run(&reading, 1);
    assert_read(&material, buf_bytes(&file), &reading);
    finish(&reading);
    buf_finish(&file);
}

static void test_small_rooms(void **state) {
    (void)state;
    const struct progressive_material material = refused_material();
    const struct image_shape shape = shape_of(&material);
    struct progressive_source source;
    struct error err = {0};
    struct buf file = make(&material);
    uint8_t *room = aligned_alloc(256, progressive_room());
    assert_int_equal(progressive_parse(buf_bytes(&file), &shape, room, progressive_room(), &source, &err),
                     ST_OK);
    for (size_t size = 0; size < source.input; size += size < 4000 ? 1000 : 1) {
        struct progressive_source other;
        struct fence small = fence_make(bytes_align_up(size, 16));
        assert_int_equal(progressive_parse(buf_bytes(&file), &shape, small.memory, size, &other, &err),
                         ST_UNSUPPORTED);
        assert_non_null(strstr(err.text, "there is no room for it"));
        fence_free(&small);
    }
    assert_true(progressive_room() % 256 == 0 && progressive_room() > PROGRESSIVE_FILE_MAX);
    free(room);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),    cmocka_unit_test(test_larger_files),
        cmocka_unit_test(test_plain_frames),  cmocka_unit_test(test_refused_headers),
        cmocka_unit_test(test_refused_files), cmocka_unit_test(test_too_many_scans),
        cmocka_unit_test(test_many_sources),  cmocka_unit_test(test_small_rooms),
    };
    return cmocka_run_group_tests(tests, open_stream, close_stream);
}
