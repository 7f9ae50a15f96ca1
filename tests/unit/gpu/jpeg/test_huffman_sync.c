/* SPDX-License-Identifier: MIT
 * The walk over a JPEG's scan, with the fake driver, over undamaged files: it calls them whole. */
#include "tests/unit/gpu/jpeg/huffman_sync_fixture.h"

enum { PIXELS_MAX = 20000000 };

/* --- whole files ------------------------------------------------------------------------------- */
static void test_whole_files(void **state) {
    (void)state;
    enum { FILES = 1200 };
    for (size_t i = 0; i < FILES; i++) {
        struct material material = any_material(i);
        struct buf file = make(&material);
        assert_whole(&material, &file);
        buf_finish(&file);
    }
    print_message("%d files of every kind are whole\n", (int)FILES);
}

static void test_large_files(void **state) {
    (void)state;
    for (size_t i = 0; i < 4 * CONTENTS; i++) {
        struct material material = {.content = i % CONTENTS,
                                    .h = factors[i / CONTENTS][0],
                                    .v = factors[i / CONTENTS][1],
                                    .quality = 85,
                                    .optimised = i % 2,
                                    .alike = i % 3 == 0,
                                    .restart = i % 5 == 0 ? 120 : 0,
                                    .width = 1920,
                                    .height = 1080};
        struct buf file = make(&material);
        assert_whole(&material, &file);
        buf_finish(&file);
    }
}

/* Markers of another number, or one too many: libjpeg takes some of them. */
static void test_restart_markers(void **state) {
    (void)state;
    struct material material = {
        .content = MIXED, .h = 2, .v = 2, .quality = 80, .restart = 2, .width = 200, .height = 150};
    struct buf file = make(&material);
    for (size_t at = scan_of(&file); at + 4 < file.size; at++) {
        uint8_t number = file.data[at + 1];
        if (file.data[at] != 0xff || number < 0xd0 || number > 0xd7) {
            continue;
        }
        file.data[at + 1] = (uint8_t)(0xd0 + (number + 1) % 8);
        assert_int_not_equal(compare(&file, "another number"), ST_OK);
        file.data[at + 1] = 0xd8;
        assert_int_not_equal(compare(&file, "another marker"), ST_OK);
        file.data[at + 1] = number;
    }
    assert_int_equal(compare(&file, "restored"), ST_OK);
    fixture_insert(&file, file.size - 2, "\xff\xd0", 2);
    assert_int_not_equal(compare(&file, "one too many"), ST_OK);
    report("restart markers");
    buf_finish(&file);
}

/* The GPU gives up after a limit, and does not report damage then. */
static void test_walks_that_never_meet(void **state) {
    (void)state;
    struct material material = {
        .content = NOISE, .h = 2, .v = 2, .quality = 100, .optimised = true, .width = 1800, .height = 1200};
    struct buf file = make(&material);
    struct image_shape shape = fixture_probe(buf_bytes(&file)).native;
    struct error err = {0};
    assert_int_equal(walk(buf_bytes(&file), &shape, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "whether the JPEG's data is whole takes too long to find out");
    buf_finish(&file);
}

static void test_another_shape(void **state) {
    (void)state;
    struct material material = {.content = SMOOTH, .h = 2, .v = 1, .quality = 80, .width = 33, .height = 20};
    struct buf file = make(&material);
    struct image_shape shape = fixture_probe(buf_bytes(&file)).native;
    struct error err = {0};
    assert_int_equal(walk(buf_bytes(&file), &shape, &err), ST_OK);
    shape.height++;
    assert_int_equal(walk(buf_bytes(&file), &shape, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "the JPEG's frame is not of the shape that was found before");
    buf_finish(&file);
}

/* A changed byte in the header behind the first such marker, and the expected error. */
static const struct {
    uint8_t marker, at, value;
    const char *sentence;
} changes[] = {
    {0xd8, 0, 0, "the file is not a JPEG"},
    {0xe0, 0, 0, "its header is damaged"},
    {0xe0, 3, 1, "its header is damaged"},
    {0xe0, 1, 0xc8, "it is not baseline, or has an unusual marker"},
    {0xc0, 1, 0xc2, "it is not baseline, or has an unusual marker"},
    {0xc0, 1, 0xe5, "it is not one scan of all components"},
    {0xc0, 4, 12, "its frame is not one of 8 bits and 1 or 3 components"},
    {0xc0, 9, 4, "its frame is not one of 8 bits and 1 or 3 components"},
    {0xc0, 9, 1, "its frame is not one of 8 bits and 1 or 3 components"},
    {0xc0, 8, 0, "its frame has no size"},
    {0xc0, 11, 0x02, "its frame is damaged"},
    {0xc0, 11, 0x52, "its frame is damaged"},
    {0xc0, 12, 4, "its frame is damaged"},
    {0xc0, 13, 1, "its frame is damaged"},
    {0xc0, 12, 3, "a component of the scan is unknown or lacks a table"},
    {0xc0, 11, 0x32, "its sampling factors are unusual"},
    {0xc0, 14, 0x21, "its sampling factors are unusual"},
    {0xc0, 11, 0x44, "its sampling factors are unusual"},
    {0xdb, 4, 0x10, "a quantisation table is damaged"},
    {0xdb, 4, 4, "a quantisation table is damaged"},
    {0xdb, 20, 0, "a quantisation table has a step of 0"},
    {0xc4, 4, 0x20, "a Huffman table is damaged"},
    {0xc4, 4, 2, "a Huffman table is damaged"},
    {0xc4, 12, 200, "a Huffman table is damaged"},
    {0xc4, 4, 1, "a component of the scan is unknown or lacks a table"},
    {0xc4, 5, 2, "a Huffman table is damaged"},
    {0xc4, 21, 12, "a Huffman table is not for 8 bits"},
    {0xdd, 3, 3, "the restart interval is damaged"},
    {0xda, 4, 1, "it is not one scan of all components"},
    {0xda, 5, 9, "a component of the scan is unknown or lacks a table"},
    {0xda, 6, 0x20, "a component of the scan is unknown or lacks a table"},
    {0xda, 6, 0x02, "a component of the scan is unknown or lacks a table"},
};

static size_t find_marker(const struct buf *file, uint8_t marker) {
    size_t at = marker == 0xd8 ? 0 : 2;
    while (file->data[at + 1] != marker) {
        at += 2 + bytes_be16(file->data + at + 2);
    }
    return at;
}

static void assert_not_taken(struct bytes file, const char *sentence) {
    struct jpeg_header scan;
    struct scan_tables tables = {0};
    struct error err = {0};
    assert_int_equal(jpeg_header_parse(file, &scan, &tables, &err), ST_UNSUPPORTED);
    if (!strstr(err.text, sentence)) {
        fail_msg("\"%s\", not \"%s\"", err.text, sentence);
    }
}

static void test_headers_that_are_not_taken(void **state) {
    (void)state;
    struct material material = {
        .content = SMOOTH, .h = 2, .v = 2, .quality = 80, .restart = 3, .width = 33, .height = 20};
    struct buf file = make(&material);
    for (size_t i = 0; i < COUNT(changes); i++) {
        uint8_t *byte = file.data + find_marker(&file, changes[i].marker) + changes[i].at, before = *byte;
        *byte = changes[i].value;
        assert_not_taken(buf_bytes(&file), changes[i].sentence);
        *byte = before;
    }
    assert_not_taken((struct bytes){file.data, file.size - 1}, "it does not end with an end marker");
    assert_not_taken((struct bytes){NULL, 0}, "the file is not a JPEG");
    size_t frame = find_marker(&file, 0xc0), length = bytes_be16(file.data + frame + 2) - 2;
    uint8_t again[32], size[4];
    memcpy(size, file.data + frame + 5, sizeof size);
    memset(file.data + frame + 5, 0xff, sizeof size);
    assert_not_taken(buf_bytes(&file), "its frame is too large");
    memcpy(file.data + frame + 5, size, sizeof size);
    memcpy(again, file.data + frame + 4, length);
    fixture_segment(&file, 0xc0, again, length);
    assert_not_taken(buf_bytes(&file), "its frame is not one of 8 bits and 1 or 3 components");
    buf_finish(&file);
}

/* Files of phones: complete, with data behind their end marker. */
static void test_more_behind_the_end(void **state) {
    (void)state;
    static const uint8_t text[] = "behind", index[] = "MPF", markers[] = {0xff, 0xd8, 0xff, 0xe1, 0xff, 0xd9};
    static const struct {
        const void *more;
        size_t size;
        bool several, taken;
    } cases[] = {
        {text, sizeof text, false, true},
        {text, sizeof text, true, true},
        {markers, 1, false, true},
        {markers, sizeof markers, true, true}, /* other pictures, as the index says */
        {NULL, 0, true, true},
        {markers, sizeof markers, false, false}, /* without it they seem to be of the scan */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct material material = {
            .content = NOISE, .h = 2, .v = 2, .quality = 95, .restart = 2, .width = 70, .height = 50};
        struct image_shape shape = {.model = PIXEL_YCBCR,
                                    .depth = 8,
                                    .chroma_shift_x = 1,
                                    .chroma_shift_y = 1,
                                    .width = 70,
                                    .height = 50};
        struct buf file = make(&material);
        struct error err = {0};
        if (cases[i].several) { /* the index comes first, then another segment of its marker */
            fixture_segment(&file, 0xe2, "ICC_PROFILE", 12);
            fixture_segment(&file, 0xe2, index, sizeof index);
        }
        size_t scan = file.size - 2 - scan_of(&file);
        assert_int_equal(buf_append(&file, cases[i].more, cases[i].size, NULL), ST_OK);
        assert_int_equal(huffman_sync_parse(&lane.sync, &lane.stream, buf_bytes(&file), &shape, &err), ST_OK);
        assert_int_equal(lane.sync.header.size, cases[i].taken ? scan : scan + cases[i].size);
        assert_int_equal(walk(buf_bytes(&file), &shape, &err), cases[i].taken ? ST_OK : ST_UNSUPPORTED);
        file.size = scan_of(&file) + scan; /* its end marker is gone */
        assert_int_equal(buf_append(&file, text, sizeof text, NULL), ST_OK);
        assert_not_taken(buf_bytes(&file), "it does not end with an end marker");
        buf_finish(&file);
    }
}

/* A code for each pattern of bits is one too many: padding would be one. */
static void test_a_code_of_ones(void **state) {
    (void)state;
    struct material material = {.content = SMOOTH, .quality = 80, .width = 33, .height = 20};
    struct buf file = make(&material);
    uint8_t table[1 + 16 + 2] = {0, 2}; /* two codes of one bit */
    size_t at = find_marker(&file, 0xda);
    const uint8_t head[] = {0xff, 0xc4, 0, sizeof table + 2};
    fixture_insert(&file, at, table, sizeof table);
    fixture_insert(&file, at, head, sizeof head);
    assert_not_taken(buf_bytes(&file), "a Huffman table has codes that may not be");
    buf_finish(&file);
}

/* --- the corpus -------------------------------------------------------------------------------- */
static unsigned corpus_whole, corpus_not_taken, corpus_damaged, corpus_stricter, corpus_wrong;

/* Damage that libjpeg passes over, and padding of zeros: gpu/jpeg/huffman_sync.h. */
static bool may_be_stricter(const char *path) {
    return strstr(path, "/hostile/") || strstr(path, "/mpo_frozenpond_");
}

static void visit(const char *path, const struct buf *file, const struct picture *picture) {
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    bool good = fixture_try(buf_bytes(file), &limits, &err) == ST_OK;
    enum status parsed =
        huffman_sync_parse(&lane.sync, &lane.stream, buf_bytes(file), &picture->native, &err);
    bool whole = parsed == ST_OK && walk(buf_bytes(file), &picture->native, &err) == ST_OK;
    corpus_whole += whole && good;
    corpus_not_taken += parsed != ST_OK;
    corpus_damaged += parsed == ST_OK && !whole && !good;
    bool stricter = parsed == ST_OK && good && !whole, wrong = whole && !good;
    corpus_stricter += stricter;
    corpus_wrong += wrong || (stricter && !may_be_stricter(path));
    if (good && !whole) {
        print_message("  %s: %s\n", path, err.text);
    }
}

static void test_corpus(void **state) {
    (void)state;
    visit_corpus(PIXELS_MAX, visit);
    print_message("corpus: %u whole, %u not taken by their header, %u damaged, %u for the walk alone; %u "
                  "wrong\n",
                  corpus_whole, corpus_not_taken, corpus_damaged, corpus_stricter, corpus_wrong);
    assert_int_equal(corpus_wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_files),     cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_restart_markers), cmocka_unit_test(test_walks_that_never_meet),
        cmocka_unit_test(test_another_shape),   cmocka_unit_test(test_headers_that_are_not_taken),
        cmocka_unit_test(test_a_code_of_ones),  cmocka_unit_test(test_more_behind_the_end),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
