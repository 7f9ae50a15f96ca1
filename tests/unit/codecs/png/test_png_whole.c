/* SPDX-License-Identifier: MIT
 * The fast way to decode a PNG against libpng: the same pixels, and the same verdict on faults. */
#include "codecs/png/png_filter.h"

#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/codecs/png/png_ways_fixture.h"

/* Exactly as large as the rows are, so that a sanitizer sees every byte too many. Mask 0: few are not 0. */
static uint8_t *random_row(size_t size, uint8_t mask) {
    uint8_t *row = malloc(size);
    for (size_t i = 0; i < size; i++) {
        row[i] = mask ? random_byte() & mask : random_byte() < 3 ? random_byte() : 0;
    }
    return row;
}

static void check_unfilter(unsigned filter, unsigned pixel, size_t pixels, uint8_t mask) {
    size_t size = pixel * pixels;
    uint8_t *from = random_row(size, mask), *above = random_row(size, mask ? mask : 255);
    uint8_t *fast = random_row(size, 255), *plain = random_row(size, 255);
    assert_true(png_unfilter(filter, &(struct png_row){fast, from, above, size, pixel}));
    assert_true(png_unfilter_plain(filter, &(struct png_row){plain, from, above, size, pixel}));
    assert_memory_equal(fast, plain, size);
    free(from), free(above), free(fast), free(plain);
}

static void test_filters_are_undone_as_the_specification_says(void **state) {
    (void)state;
    static const unsigned pixels[] = {1, 2, 3, 4, 6, 8};
    static const size_t widths[] = {1, 2, 3, 5, 16, 17, 63, 2000};
    static const uint8_t masks[] = {255, 7, 1, 0}; /* small numbers meet Paeth's ties more often */
    for (unsigned filter = 0; filter < FILTER_COUNT; filter++) {
        for (size_t i = 0; i < sizeof(pixels) / sizeof(*pixels) * 8 * 4; i++) {
            check_unfilter(filter, pixels[i / 32], widths[i / 4 % 8], masks[i % 4]);
        }
    }
    uint8_t to = 0, from = 0, above = 0;
    assert_false(png_unfilter(FILTER_COUNT, &(struct png_row){&to, &from, &above, 1, 1}));
    assert_false(png_unfilter_plain(255, &(struct png_row){&to, &from, &above, 1, 1}));
}

static void test_two_rows_at_once(void **state) {
    (void)state;
    static const unsigned pixels[] = {1, 2, 3, 4, 6, 8};
    static const size_t widths[] = {1, 2, 3, 4, 17, 35, 640};
    for (size_t i = 0; i < 6 * 7 * 2; i++) {
        const unsigned pixel = pixels[i / 14];
        size_t size = pixel * widths[i / 2 % 7];
        uint8_t *from = random_row(size, i % 2 ? 255 : 0), *below = random_row(size, i % 2 ? 255 : 0);
        uint8_t *above = random_row(size, 255), *upper = random_row(size, 255);
        uint8_t *lower = random_row(size, 255), *plain = random_row(size, 255);
        png_unfilter_paeth_pair(&(struct png_row){upper, from, above, size, pixel},
                                &(struct png_row){lower, below, upper, size, pixel});
        assert_true(png_unfilter_plain(FILTER_PAETH, &(struct png_row){plain, from, above, size, pixel}));
        assert_memory_equal(upper, plain, size);
        assert_true(png_unfilter_plain(FILTER_PAETH, &(struct png_row){plain, below, upper, size, pixel}));
        assert_memory_equal(lower, plain, size);
        free(from), free(below), free(above), free(upper), free(lower), free(plain);
    }
}

/* A quarter of all neighbours that a byte can have, spread evenly: the left one is made by what is added to
 * it. */
static void test_paeth_is_exact(void **state) {
    (void)state;
    enum { SIDE = 256 };
    static uint8_t to[2 * SIDE], plain[2 * SIDE], from[2 * SIDE], above[2 * SIDE];
    for (unsigned corner = 0; corner < SIDE; corner++) {
        for (unsigned left = 0; left < SIDE; left++) {
            for (unsigned b = 0; b < SIDE; b++) {
                above[2 * b] = (uint8_t)corner, above[2 * b + 1] = (uint8_t)b;
                from[2 * b] = (uint8_t)(left - corner); /* of a first pixel: its left is 0 */
            }
            for (unsigned b = (corner + left) % 4; b < SIDE; b += 4) {
                struct png_row row = {to + 2 * b, from + 2 * b, above + 2 * b, 2, 1};
                assert_true(png_unfilter(FILTER_PAETH, &row));
                row.to = plain + 2 * b;
                assert_true(png_unfilter_plain(FILTER_PAETH, &row));
            }
            assert_memory_equal(to, plain, sizeof(to));
        }
    }
}

static void append(png_structp png, png_bytep data, size_t size) {
    assert_int_equal(buf_append(png_get_io_ptr(png), data, size, NULL), ST_OK);
}

static void flush(png_structp png) {
    (void)png;
}

/* libpng as the author of a file. `rough`: pixels at random, else slopes. */
static struct buf write_with_libpng(const struct image *image, int filters, int level, size_t chunk_size) {
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    struct buf file;
    buf_init(&file, 64 << 20);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &file, append, flush);
    png_set_compression_level(png, level);
    png_set_compression_buffer_size(png, chunk_size);
    png_set_filter(png, 0, filters);
    png_set_IHDR(png, info, image->width, image->height, image->depth, types[image->model],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_write_info(png, info);
    if (image->depth == 16 && png_is_little_endian()) {
        png_set_swap(png);
    }
    for (uint32_t y = 0; y < image->height; y++) {
        png_write_row(png, plane_row(&image->plane[0], y));
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

static void paint_at_random(struct image *image) {
    for (uint32_t y = 0; y < image->height; y++) {
        for (size_t i = 0; i < plane_row_bytes(&image->plane[0], image->depth); i++) {
            plane_row(&image->plane[0], y)[i] = random_byte();
        }
    }
}

static void check_shape(enum pixel_model model, unsigned depth, uint32_t width, uint32_t height) {
    static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                                  PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
    static const int levels[] = {0, 1, 6, 9};
    struct image image = fixture_painted(fixture_shape(model, depth, width, height));
    for (unsigned i = 0; i < 6 * 4 * 2; i++) {
        if (i == 6 * 4) {
            paint_at_random(&image);
        }
        struct buf file = write_with_libpng(&image, filters[i % 6], levels[i / 6 % 4], i % 5 ? 8192 : 333);
        bool done = false;
        struct outcome outcome = decode_by(WHOLE, buf_bytes(&file), &done);
        assert_true(done);
        assert_int_equal(outcome.status, ST_OK);
        assert_int_equal(fixture_difference(&image, &outcome.image), 0);
        fixture_image_free(&outcome.image);
        buf_finish(&file);
    }
    fixture_image_free(&image);
}

static void test_what_libpng_writes_decodes_alike(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {2, 3}, {21, 17}, {64, 64}, {20000, 1}};
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            check_shape((enum pixel_model)model, 8, sizes[s][0], sizes[s][1]);
            check_shape((enum pixel_model)model, 16, sizes[s][0], sizes[s][1]);
        }
    }
}

enum { SIDE = 23, ROW = 1 + 3 * SIDE, ROWS = ROW * SIDE };

/* Filtered rows of an RGB picture, every filter in turn. */
static void make_rows(uint8_t *rows) {
    random_state = 7;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i % ROW ? random_byte() & 15 : (uint8_t)(i / ROW % FILTER_COUNT);
    }
}

static struct buf small_file(size_t chunk_size) {
    uint8_t rows[ROWS], packed[2 * ROWS];
    make_rows(rows);
    uLongf size = sizeof(packed);
    assert_int_equal(compress(packed, &size, rows, ROWS), Z_OK);
    struct buf file = put_start(SIDE, SIDE, 8, 2, false);
    put_chunk(&file, "gAMA", "\0\0\xB1\x8F", 4);
    for (size_t at = 0; at < size; at += chunk_size) {
        put_chunk(&file, "IDAT", packed + at, at + chunk_size < size ? chunk_size : size - at);
    }
    put_chunk(&file, "IEND", NULL, 0);
    return file;
}

/* Makes the checksums of all whole chunks right again. */
static void repair(struct buf *file) {
    for (size_t at = 8; at + 12 <= file->size;) {
        size_t size = bytes_be32(file->data + at);
        if (size > file->size - at - 12) {
            return;
        }
        bytes_put_be32(file->data + at + 8 + size, (uint32_t)crc32(0, file->data + at + 4, (uInt)size + 4));
        at += size + 12;
    }
}

static void test_every_damaged_byte_is_judged_as_libpng_does(void **state) {
    (void)state;
    for (unsigned repaired = 0; repaired <= 1; repaired++) {
        struct buf file = small_file(500);
        assert_true(is_decoded_whole(buf_bytes(&file)));
        for (size_t i = 8; i < file.size; i++) {
            struct buf copy = small_file(500);
            copy.data[i] ^= (uint8_t)(1u << random_byte() % 8);
            if (repaired) {
                repair(&copy);
            }
            check_agreement(buf_bytes(&copy));
            buf_finish(&copy);
        }
        buf_finish(&file);
    }
}

static void test_every_truncation_is_judged_as_libpng_does(void **state) {
    (void)state;
    struct buf file = small_file(100);
    for (size_t size = 8; size < file.size; size++) {
        uint8_t *exact = malloc(size);
        memcpy(exact, file.data, size);
        check_agreement((struct bytes){exact, size});
        free(exact);
    }
    buf_finish(&file);
}

/* A change of the data of an otherwise good file. */
struct damage {
    const char *what;
    int rows;               /* rows more or less than the picture has */
    int tail;               /* bytes added behind the stream, or taken from its end */
    uint8_t checksum;       /* changes that of the stream */
    uint8_t filter;         /* of the third row, if not 0 */
    uint8_t window;         /* of the stream's header, if not 0: its logarithm less 8 */
    const char *between[2]; /* chunks put before the first and the second half of the data */
    bool whole;             /* decoded without libpng */
    enum status status;
};

static const struct damage damages[] = {
    {.what = "nothing", .whole = true},
    {.what = "a row missing", .rows = -1, .status = ST_CORRUPT},
    {.what = "a row too many", .rows = 1},
    {.what = "two bytes behind the stream", .tail = 2},
    {.what = "checksum cut off", .tail = -4, .status = ST_CORRUPT},
    {.what = "stream cut off", .tail = -30, .status = ST_CORRUPT},
    {.what = "wrong checksum of the stream", .checksum = 1, .status = ST_CORRUPT},
    {.what = "no such filter", .filter = 5, .status = ST_CORRUPT},
    {.what = "no such filter at all", .filter = 255, .status = ST_CORRUPT},
    {.what = "window smaller than the picture", .window = 1, .status = ST_CORRUPT},
    {.what = "window as large as the picture", .window = 3, .whole = true},
    {.what = "an empty data chunk", .between = {NULL, "IDAT"}, .whole = true},
    {.what = "a chunk between the data", .between = {NULL, "teSt"}, .status = ST_CORRUPT},
    {.what = "an unknown chunk before", .between = {"teSt", NULL}, .whole = true},
    {.what = "an unknown critical chunk before", .between = {"TeSt", NULL}, .status = ST_CORRUPT},
    {.what = "a chunk without a name before", .between = {"te t", NULL}, .status = ST_CORRUPT},
    {.what = "an empty palette before", .between = {"PLTE", NULL}, .status = ST_CORRUPT},
    {.what = "an end before", .between = {"IEND", NULL}, .status = ST_CORRUPT},
};

static struct buf damaged_file(const struct damage *damage) {
    uint8_t rows[ROWS + ROW] = {0}, packed[2 * (ROWS + ROW)] = {0};
    make_rows(rows);
    if (damage->filter) {
        rows[2 * ROW] = damage->filter;
    }
    uLongf size = sizeof(packed);
    assert_int_equal(compress(packed, &size, rows, (uLong)(ROWS + damage->rows * ROW)), Z_OK);
    if (damage->window) {
        packed[0] = (uint8_t)(damage->window << 4 | 8);
        packed[1] = (uint8_t)(31 - packed[0] * 256 % 31);
    }
    packed[size - 1] ^= damage->checksum;
    size = (uLongf)((long)size + damage->tail);
    struct buf file = put_start(SIDE, SIDE, 8, 2, false);
    for (unsigned half = 0; half < 2; half++) {
        if (damage->between[half]) {
            put_chunk(&file, damage->between[half], NULL, 0);
        }
        put_chunk(&file, "IDAT", packed + half * (size / 2), half ? size - size / 2 : size / 2);
    }
    put_chunk(&file, "IEND", NULL, 0);
    return file;
}

static void test_damage_is_judged_as_libpng_does(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        struct buf file = damaged_file(&damages[i]);
        enum status status = check_agreement(buf_bytes(&file));
        if (status != damages[i].status || is_decoded_whole(buf_bytes(&file)) != damages[i].whole) {
            fail_msg("%s: status %d", damages[i].what, status);
        }
        buf_finish(&file);
    }
}

struct memory_task {
    struct bytes file;
    bool lent; /* the memory that joins the data */
};

static enum status decode_within_bounds(void *context) {
    const struct memory_task *task = context;
    struct codec_limits limits = fixture_limits();
    struct picture picture = fixture_probe(task->file);
    struct image image = fixture_image(picture.pixels);
    const size_t spare = codec_decode_spare(&picture, task->file.size);
    bool done = false;
    if (task->lent) {
        limits.spare = malloc(spare);
        limits.spare_size = spare;
        limits.max_memory = 1 << 20;
    }
    limit_memory(codec_decode_bytes(&picture, task->file.size) - (task->lent ? spare : 0));
    enum status status = png_decode_whole(task->file, &limits, &image, &done, NULL);
    return done ? status : ST_INTERNAL;
}

/* The rows take none: they are inflated in the picture's own memory. */
static void test_memory_is_that_of_the_file(void **state) {
    (void)state;
    struct image image = fixture_image(fixture_shape(PIXEL_RGBA, 8, 1000, 1000));
    paint_at_random(&image);
    struct buf file = write_with_libpng(&image, PNG_FILTER_SUB, 1, 8192);
    struct memory_task task = {.file = buf_bytes(&file)};
    struct picture picture = fixture_probe(task.file);
    assert_in_range(codec_decode_bytes(&picture, file.size), file.size, file.size + (1 << 20));
    if (memory_is_limited()) {
        assert_int_equal(in_child(decode_within_bounds, &task), ST_OK);
        task.lent = true;
        assert_int_equal(in_child(decode_within_bounds, &task), ST_OK);
    }
    codec_picture_finish(&picture);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_without_room_libpng_decodes(void **state) {
    (void)state;
    struct buf file = small_file(100);
    struct picture picture = fixture_probe(buf_bytes(&file));
    const struct codec_limits limits = fixture_limits();
    struct image image = fixture_image(picture.pixels);
    struct error err = {0};
    bool done = true;
    image.room = 0;
    assert_int_equal(png_decode_whole(buf_bytes(&file), &limits, &image, &done, &err), ST_OK);
    assert_false(done);
    assert_int_equal(png_decode(buf_bytes(&file), &picture, &limits, &image, &err), ST_OK);
    fixture_image_free(&image);
    buf_finish(&file);
}

/* Inflating is one call, which no deadline ends. */
static void test_large_pictures_have_no_room(void **state) {
    (void)state;
    struct picture picture = {.codec = CODEC_PNG, .pixels = fixture_shape(PIXEL_RGBA, 8, 4000, 8000)};
    assert_in_range(codec_decode_room(CODEC_PNG, &picture.pixels), 1, 6 * 16000 + 8000);
    assert_int_equal(codec_decode_spare(&picture, 1 << 20), 1 << 20);
    picture.pixels.height = 9000;
    assert_int_equal(codec_decode_room(CODEC_PNG, &picture.pixels), 0);
    assert_int_equal(codec_decode_spare(&picture, 1 << 20), 0);
    picture.pixels.height = 0; /* as a header may say */
    codec_decode_room(CODEC_PNG, &picture.pixels);
}

static void test_limits_hold(void **state) {
    (void)state;
    struct buf file = small_file(100);
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct image image = fixture_image(picture.pixels);
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    bool done = true;
    limits.max_memory = 100;
    assert_int_equal(png_decode_whole(buf_bytes(&file), &limits, &image, &done, &err), ST_OK);
    assert_false(done);
    limits = fixture_limits();
    limits.deadline_ns = 1;
    assert_int_equal(png_decode_whole(buf_bytes(&file), &limits, &image, &done, &err), ST_LIMIT);
    assert_true(done);
    fixture_image_free(&image);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters_are_undone_as_the_specification_says),
        cmocka_unit_test(test_two_rows_at_once),
        cmocka_unit_test(test_paeth_is_exact),
        cmocka_unit_test(test_what_libpng_writes_decodes_alike),
        cmocka_unit_test(test_every_damaged_byte_is_judged_as_libpng_does),
        cmocka_unit_test(test_every_truncation_is_judged_as_libpng_does),
        cmocka_unit_test(test_damage_is_judged_as_libpng_does),
        cmocka_unit_test(test_memory_is_that_of_the_file),
        cmocka_unit_test(test_without_room_libpng_decodes),
        cmocka_unit_test(test_large_pictures_have_no_room),
        cmocka_unit_test(test_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
