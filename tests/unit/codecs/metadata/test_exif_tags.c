/* SPDX-License-Identifier: MIT
 * The tags of EXIF: each value that a sanitized copy takes over, and the forms that it refuses. */
#include "codecs/metadata/exif_tags.h"
#include "tests/unit/codecs/metadata/sanitize_fixture.h"

/* ---- a structure of one directory, or of one below the main one, with one entry and its value ---- */

enum { ONE_MAX = 1 << 16, INNER = 26, VALUE = 64 };

struct one {
    uint8_t data[ONE_MAX];
    size_t size;
};

static uint16_t pointer_to(unsigned directory) {
    return directory == EXIF_GPS ? 0x8825 : 0x8769;
}

/* A main directory; below it, unless the entry is its own, the directory that has the entry. The
 * interoperability directory is below the photo directory, which then is at the same place, with both
 * entries. */
static void make_one(struct one *one, bool little, unsigned directory, uint16_t tag, uint16_t type,
                     struct bytes value, uint32_t count) {
    struct exif_fixture head = {.little = little};
    memset(one, 0, sizeof(*one));
    memcpy(head.data, little ? "II*\0" : "MM\0*", 4);
    exif_put(&head, 4, 8, 4);
    exif_put(&head, 8, 1, 2);
    size_t at = 10;
    if (directory != EXIF_MAIN) {
        exif_entry(&head, 10, pointer_to(directory), 4, 1, INNER);
        exif_put(&head, INNER, directory == EXIF_INTEROP ? 2 : 1, 2);
        at = INNER + 2;
    }
    if (directory == EXIF_INTEROP) {
        exif_entry(&head, at, 0xA005, 4, 1, INNER); /* to the same place */
        at += 12;
    }
    exif_entry(&head, at, tag, type, count, VALUE);
    if (value.size <= 4) {
        memcpy(head.data + at + 8, "\0\0\0\0", 4);
        memcpy(head.data + at + 8, value.data, value.size);
    }
    memcpy(one->data, head.data, VALUE);
    memcpy(one->data + VALUE, value.data, value.size);
    one->size = VALUE + value.size;
}

static uint16_t natural_type(const struct exif_tag *row) {
    return row->form == EXIF_TEXT      ? 2
           : row->form == EXIF_TEXT16  ? 1
           : row->form == EXIF_COMMENT ? 7
           : row->form == EXIF_NUMBER  ? 3
           : row->form == EXIF_RATIO   ? 5
                                       : 7;
}

static bool is_copied(const struct exif_tag *row) {
    return row->form <= EXIF_BYTES;
}

static size_t unit_of(uint16_t type) {
    return type == 3 ? 2 : type == 5 ? 8 : 1;
}

/* The largest value that a row lets through, recognisable. */
static size_t make_value(const struct exif_tag *row, uint8_t value[static 8192]) {
    size_t size = row->most * unit_of(natural_type(row));
    for (size_t i = 0; i < size; i++) {
        value[i] = (uint8_t)("Canary: "[i % 8]);
    }
    if (row->form == EXIF_TEXT16) {
        for (size_t i = 1; i < size; i += 2) {
            value[i] = 0;
        }
    } else if (row->form == EXIF_COMMENT) {
        memcpy(value, "ASCII\0\0", 8);
    }
    return size;
}

static bool has_value(const struct buf *copy, const uint8_t *value, size_t size) {
    return copy->size > 0 && memmem(copy->data, copy->size, value, size) != NULL;
}

static bool passes(const struct exif_tag *row, bool little, uint16_t tag, uint16_t type, const uint8_t *value,
                   size_t size, uint32_t count) {
    static struct one one;
    make_one(&one, little, row->directory, tag, type, (struct bytes){value, size}, count);
    struct buf copy = sanitized((struct bytes){one.data, one.size}, true);
    bool passed = has_value(&copy, value, size);
    buf_finish(&copy);
    return passed;
}

/* Each row lets its own form through, up to its length, in both byte orders; and none lets another form, a
 * longer value, or the same value under another tag through. */
static void test_every_row(void **state) {
    (void)state;
    size_t count, most = 8;
    const struct exif_tag *rows = exif_tags(&count);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct exif_tag *row = &rows[i / 2];
        uint8_t value[8192 + 8] = {0};
        uint16_t type = natural_type(row);
        bool little = i % 2;
        if (!is_copied(row)) {
            continue;
        }
        size_t size = make_value(row, value);
        uint32_t elements = row->most;
        assert_true(passes(row, little, row->tag, type, value, size, elements));
        bool shared = row->directory == EXIF_INTEROP; /* with another, where the tag is unknown */
        assert_int_equal(losses, shared ? LOSS_EXIF : 0);
        assert_false(passes(row, little, row->tag, 12, value, 8, 1)); /* DOUBLE */
        assert_int_equal(losses, LOSS_EXIF);
        assert_false(passes(row, little, row->tag, type, value, size + unit_of(type), elements + 1));
        assert_false(passes(row, little, 0xFEFE, type, value, size, elements));
        assert_int_equal(losses, LOSS_EXIF);
        most += i % 2 ? bytes_align_up(size, 2) + 12 : 0;
    }
    assert_in_range(most + EXIF_DIRECTORIES * 6 + 10 * 20, 1, EXIF_SIZE_MAX); /* all at once */
}

static void test_rows_are_in_order(void **state) {
    (void)state;
    size_t count;
    const struct exif_tag *rows = exif_tags(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(exif_tag_find(rows[i].directory, rows[i].tag), &rows[i]);
        assert_true(i == 0 || rows[i - 1].directory < rows[i].directory || rows[i - 1].tag < rows[i].tag);
    }
    assert_null(exif_tag_find(EXIF_MAIN, 0x02BC));
}

/* Places where programs put a preview, IPTC with one (2:202) or XMP with one, and private tags. */
static void test_hidden_pictures_are_dropped(void **state) {
    (void)state;
    static const struct {
        uint16_t tag;
        unsigned loss;
    } places[] = {{0x83BB, LOSS_IPTC},
                  {0x8649, LOSS_IPTC},
                  {0x02BC, LOSS_XMP},
                  {0xC68C, LOSS_EXIF},
                  {0x002E, LOSS_THUMBNAIL},
                  {0x014A, LOSS_THUMBNAIL},
                  {0x0201, LOSS_THUMBNAIL},
                  {0x927C, LOSS_MAKER_NOTE},
                  {0xC634, LOSS_MAKER_NOTE},
                  {0xFDE8, LOSS_EXIF},
                  {0xEA1C, 0}};
    static const uint8_t canary[] = "\xFF\xD8\xFF canary of a preview";
    static const uint16_t types[] = {1, 2, 7};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places) * 3 * 2; i++) {
        for (uint8_t directory = EXIF_MAIN; directory <= EXIF_GPS; directory++) {
            const struct exif_tag row = {.directory = directory};
            size_t place = i / 6;
            assert_false(passes(&row, i % 2, places[place].tag, types[i / 2 % 3], canary, sizeof(canary),
                                sizeof(canary)));
            assert_int_equal(losses, places[place].loss);
        }
    }
}

/* A picture written down as text in a tag for text. */
static void test_data_in_texts_is_dropped(void **state) {
    (void)state;
    static const char *const values[] = {
        "\xFF\xD8\xFF\xE0\x10JFIF", "data:image/jpeg,%FF%D8%FF%E0", "see base64,AAAA",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkM"};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        const struct exif_tag row = {.directory = EXIF_MAIN};
        size_t size = strlen(values[i]) + 1;
        assert_false(passes(&row, true, 0x010E, 2, (const uint8_t *)values[i], size, (uint32_t)size));
        assert_int_equal(losses, LOSS_EXIF);
    }
}

static bool comment_passes(const char *text, size_t size) {
    const struct exif_tag photo = {.directory = EXIF_PHOTO};
    uint8_t comment[64] = "UNICODE";
    memcpy(comment + 8, text, size);
    return passes(&photo, true, 0x9286, 7, comment, 8 + size, (uint32_t)(8 + size));
}

/* Bytes that are no characters of UTF-16 in either byte order. */
static void test_data_in_wide_texts_is_dropped(void **state) {
    (void)state;
    assert_true(comment_passes("c\0a\0f\0\xE9\0", 8));
    assert_true(comment_passes("\0c\0a\0f\0\xE9", 8));
    assert_true(comment_passes("\xD8\xD8\xDE\xDE", 4));          /* a pair of surrogates */
    assert_false(comment_passes("\xD8\xD8\xD8\xD8\xDE\xDE", 6)); /* one too many */
    assert_false(comment_passes("\xDE\xDE\xD8\xD8", 4));         /* the wrong way round */
    assert_false(comment_passes("\xD8\xD8", 2));                 /* alone, at the end */
    assert_false(comment_passes("\xE5\xE5", 2));                 /* private */
    assert_false(comment_passes("\xFF\xFF", 2));
    assert_false(comment_passes("abc", 3));
}

/* A value that is said to be larger than all there is. */
static void test_lying_counts(void **state) {
    (void)state;
    size_t count;
    const struct exif_tag *rows = exif_tags(&count);
    for (size_t i = 0; i < count; i++) {
        static struct one one;
        uint16_t type = natural_type(&rows[i]);
        if (!is_copied(&rows[i]) || rows[i].most * unit_of(type) <= 4) {
            continue;
        }
        make_one(&one, true, rows[i].directory, rows[i].tag, type,
                 (struct bytes){(const uint8_t *)"CANARY", 6}, rows[i].most);
        for (size_t size = one.size; size >= 60; size--) {
            uint8_t *exact = malloc(size);
            memcpy(exact, one.data, size);
            struct buf copy = sanitized((struct bytes){exact, size}, true);
            bool whole = size - VALUE >= rows[i].most * unit_of(type) && size >= VALUE;
            assert_true(whole || !fixture_contains(buf_bytes(&copy), "CANARY"));
            buf_finish(&copy);
            free(exact);
        }
    }
}

static void test_the_size_is_the_result_s(void **state) {
    (void)state;
    static struct one one;
    uint8_t old[4] = {0, 0, 0x10, 0};
    for (uint16_t tag = 0xA002; tag <= 0xA003; tag++) {
        make_one(&one, false, EXIF_PHOTO, tag, 4, (struct bytes){old, 4}, 1);
        struct buf copy = sanitized((struct bytes){one.data, one.size}, false);
        assert_true(has_value(
            &copy, tag == 0xA002 ? (const uint8_t *)"\0\0\x04\xD2" : (const uint8_t *)"\0\0\x02\x37", 4));
        assert_false(has_value(&copy, old, 4));
        buf_finish(&copy);
    }
}

/* The interoperability pointer leads back to the directory that it stands in, or to the main one. */
static void test_directories_are_read_once(void **state) {
    (void)state;
    static struct one one;
    static const uint8_t text[] = "Canary";
    for (uint32_t target = 8; target <= INNER; target += INNER - 8) {
        make_one(&one, false, EXIF_INTEROP, 0x8824, 2, (struct bytes){text, sizeof(text)}, sizeof(text));
        bytes_put_be32(one.data + INNER + 2 + 8, target);
        struct buf copy = sanitized((struct bytes){one.data, one.size}, true);
        assert_true(has_value(&copy, text, sizeof(text)));
        assert_in_range(copy.size, 1, 100);
        buf_finish(&copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_rows_are_in_order),
        cmocka_unit_test(test_hidden_pictures_are_dropped),
        cmocka_unit_test(test_data_in_texts_is_dropped),
        cmocka_unit_test(test_data_in_wide_texts_is_dropped),
        cmocka_unit_test(test_lying_counts),
        cmocka_unit_test(test_the_size_is_the_result_s),
        cmocka_unit_test(test_directories_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
