/* SPDX-License-Identifier: MIT
 * Which bytes of a series are frames. Files are made up: the splitter looks at segments alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "core/bytes.h"
#include "server/series/mjpeg.h"

#include <cmocka.h>

enum { MOST = 1 << 16, FRAMES = 16 };

struct found {
    unsigned count, cut;
    bool foreign;
    size_t size[FRAMES];
    uint8_t frame[FRAMES][1 << 12];
};

static void keep(struct found *found, const uint8_t *data, size_t size) {
    size_t *used = &found->size[found->count - 1];
    assert_true(*used + size <= sizeof found->frame[0]);
    memcpy(found->frame[found->count - 1] + *used, data, size);
    *used += size;
}

static void note(struct found *found, enum mjpeg_event event, bool open) {
    found->foreign |= event == MJPEG_FOREIGN;
    if (event == MJPEG_CUT) {
        keep(found, mjpeg_end, sizeof mjpeg_end);
        found->cut++;
    }
    if (event == MJPEG_BEGIN || (event == MJPEG_CUT && open)) {
        assert_true(found->count < FRAMES);
        found->size[found->count++] = 0;
        keep(found, mjpeg_begin, sizeof mjpeg_begin);
    }
}

/* Splits the series, which comes in pieces of so many bytes. */
static void split(const uint8_t *data, size_t size, size_t piece, struct found *found) {
    struct mjpeg mjpeg = {0};
    memset(found, 0, sizeof *found);
    for (size_t at = 0; at < size && !found->foreign;) {
        size_t count = size - at < piece ? size - at : piece;
        struct mjpeg_piece read = mjpeg_read(&mjpeg, data + at, count);
        assert_true(read.kept <= read.read && read.read <= count);
        if (read.kept > 0) {
            keep(found, data + at, read.kept);
        }
        at += read.read;
        note(found, read.event, true);
    }
    if (!found->foreign) {
        note(found, mjpeg_finish(&mjpeg), false);
    }
}

struct text {
    size_t size;
    uint8_t data[MOST];
};

static void put(struct text *text, const char *data, size_t size) {
    memcpy(text->data + text->size, data, size);
    text->size += size;
}

#define PUT(text, literal) put(text, literal, sizeof(literal) - 1)

/* A frame's segments, with a scan that has stuffing and restart markers. */
static void put_frame(struct text *text, char mark, bool ends) {
    const char scan[] = {mark, '\xFF', 0, mark, '\xFF', '\xD3', mark, '\xFF', '\xFF', '\xD4', mark};
    PUT(text, "\xFF\xD8\xFF\xE0\0\6JFIF\xFF\xFF\xC0\0\3x\xFF\xDA\0\3s");
    put(text, scan, sizeof scan);
    if (ends) {
        PUT(text, "\xFF\xD9");
    }
}

static void check_frames(const struct text *text, const char *marks, unsigned cut) {
    static struct found found;
    for (size_t piece = 1; piece <= text->size; piece += piece < 40 ? 1 : text->size) {
        split(text->data, text->size, piece, &found);
        assert_false(found.foreign);
        assert_int_equal(found.count, strlen(marks));
        assert_int_equal(found.cut, cut);
        for (unsigned i = 0; i < found.count; i++) {
            assert_memory_equal(found.frame[i], "\xFF\xD8\xFF", 3);
            assert_memory_equal(found.frame[i] + found.size[i] - 2, "\xFF\xD9", 2);
            assert_non_null(memmem(found.frame[i], found.size[i], "\0\3s", 3));
            assert_true(memchr(found.frame[i], marks[i], found.size[i]) != NULL);
        }
    }
}

static void test_whole_frames(void **state) {
    static struct text text;
    (void)state;
    text.size = 0;
    put_frame(&text, 'a', true);
    put_frame(&text, 'b', true);
    PUT(&text, "junk \xFF\xFF\xD8 and \xFF\xD8\xFE more");
    put_frame(&text, 'c', true);
    PUT(&text, "\xFF\xD8");
    check_frames(&text, "abc", 0);
}

static void test_missing_ends(void **state) {
    static struct text text;
    (void)state;
    text.size = 0;
    put_frame(&text, 'a', false);
    put_frame(&text, 'b', true);
    put_frame(&text, 'c', false);
    PUT(&text, "\xFF");
    put_frame(&text, 'd', false);
    check_frames(&text, "abcd", 3);
}

static void test_markers_in_segments(void **state) {
    static struct text text;
    (void)state;
    text.size = 0;
    PUT(&text, "\xFF\xD8\xFF\xE1\0\x12"
               "Exif\xFF\xD8\xFF\xDA\0\2\xFF\xD9\xFF\xD8\xFF\xD9\xFF\xE2\0\2\xFF\xDA\0"
               "\3sa\xFF\xC4\0\4\xFF\xD9\xFF\xDA\0\3sa\xFF\xD9");
    check_frames(&text, "a", 0);
}

/* An index whose second entry says that a picture begins so many bytes behind the index's own header. */
static void put_index(struct text *text, uint8_t offset) {
    PUT(text, "\xFF\xD8\xFF\xE2\0\x48MPF\0MM\0*\0\0\0\x08\0\1\xB0\2\0\7\0\0\0\x20\0\0\0\x1A\0\0\0\0");
    for (unsigned i = 0; i < 32; i++) {
        text->data[text->size++] = i == 16 + 11 ? offset : 0;
    }
    PUT(text, "\0\0\0\0\0\0");
    PUT(text, "\xFF\xDA\0\3sa\xFF\xD9");
}

static void test_further_pictures(void **state) {
    static struct text text;
    (void)state;
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        text.size = 0;
        put_index(&text, 0);
        const uint8_t offset = (uint8_t)(text.size - 10 + wrong);
        text.size = 0;
        put_index(&text, offset);
        put_frame(&text, 'm', true);
        put_frame(&text, 'b', true);
        check_frames(&text, wrong ? "amb" : "ab", 0);
    }
}

static void test_what_is_no_series(void **state) {
    static const struct {
        const char *data;
        size_t size;
    } wrong[] = {
        {"x", 1},
        {"\xFF", 1},
        {"\x89PNG", 4},
        {"\xFF\xD8\xFF\xE0\0\1", 6},
        {"\xFF\xD8\xFF\xE0\0\7abc", 9},
        {"\xFF\xD8\xFF\xD8\xFF", 5},
    };
    static struct found found;
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (size_t piece = 1; piece <= wrong[i].size; piece++) {
            split((const uint8_t *)wrong[i].data, wrong[i].size, piece, &found);
            assert_true(found.foreign);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_frames),        cmocka_unit_test(test_missing_ends),
        cmocka_unit_test(test_markers_in_segments), cmocka_unit_test(test_further_pictures),
        cmocka_unit_test(test_what_is_no_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
