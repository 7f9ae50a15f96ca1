/* SPDX-License-Identifier: MIT
 * AVIF sequences, written and read: their frames, times, metadata and edit lists, and the memory they take.
 */
#include "codecs/avif/avif_movie.h"
#include "codecs/frames.h"
#include "tests/unit/codecs/avif/avif_fixture.h"
#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"

enum { WIDTH = 45, HEIGHT = 31, FRAMES = 5, FILE_MOST = 8 << 20 };

static const struct frame times[FRAMES] = {{.delay = 1001, .scale = 30000},
                                           {.delay = 1001, .scale = 30000},
                                           {.delay = 0, .scale = 30000},
                                           {.delay = 2, .scale = 1},
                                           {.delay = 30, .scale = 30000}};

/* Slopes that move by a pixel with each frame. */
static struct image frame_at(struct image_shape shape, uint32_t index) {
    const struct image_shape wide =
        fixture_shape(shape.model, shape.depth, shape.width + FRAMES, shape.height);
    struct image image = fixture_image(shape), all = fixture_painted(wide);
    const size_t pixel = (size_t)image.plane[0].channels * (shape.depth / 8u);
    for (uint32_t y = 0; y < shape.height; y++) {
        memcpy(plane_row(&image.plane[0], y), plane_row(&all.plane[0], y) + index % FRAMES * pixel,
               pixel * shape.width);
    }
    fixture_image_free(&all);
    return image;
}

static enum status write_frames(struct image_shape shape, uint32_t frames, uint32_t plays,
                                const struct metadata *metadata, struct buf *file, struct error *err) {
    const struct animation animation = {.frames = frames, .plays = plays};
    const struct encode_options options = {.quality = 95, .keep_metadata = true, .effort = 9};
    struct frames_writer writer = {0};
    enum status status = ST_OK;
    assert_int_equal(frames_writer_bytes(CODEC_AVIF, &shape), 0);
    frames_writer_open(&writer, CODEC_AVIF, &shape, &animation, &options, metadata, file, NULL);
    for (uint32_t i = 0; i < frames && status == ST_OK; i++) {
        struct image image = frame_at(shape, i);
        status = frames_writer_add(&writer, &image, &times[i % FRAMES], err);
        fixture_image_free(&image);
    }
    status = status == ST_OK ? frames_writer_end(&writer, err) : status;
    frames_writer_close(&writer);
    return status;
}

static struct buf write_file(struct image_shape shape, uint32_t plays, const struct metadata *metadata) {
    struct error err = {0};
    struct buf file;
    buf_init(&file, FILE_MOST);
    if (write_frames(shape, FRAMES, plays, metadata, &file, &err) != ST_OK) {
        fail_msg("write: %s", err.text);
    }
    return file;
}

static struct picture probe_file(const struct buf *file) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    limits.first_frame = true;
    if (codec_probe(buf_bytes(file), &limits, &picture, &err) != ST_OK) {
        fail_msg("probe: %s", err.text);
    }
    return picture;
}

/* The sum of absolute differences, in a sample. */
static unsigned difference(const struct image *a, const struct image *b, unsigned channels) {
    uint64_t sum = 0, count = 0;
    for (uint32_t y = 0; y < a->height; y++) {
        const uint8_t *l = plane_row(&a->plane[0], y), *r = plane_row(&b->plane[0], y);
        for (size_t x = 0; x < (size_t)a->width * channels; x++) {
            const size_t i = a->depth == 16 ? 2 * x + 1 : x; /* the high bytes */
            sum += (uint64_t)(l[i] > r[i] ? l[i] - r[i] : r[i] - l[i]);
            count++;
        }
    }
    return (unsigned)(sum / count);
}

static void assert_frames(const struct buf *file, struct image_shape shape) {
    static const uint32_t parts[FRAMES] = {1001, 1001, 1, 60000, 30};
    struct picture picture = probe_file(file);
    struct codec_limits limits = fixture_limits();
    struct animation animation;
    struct frames_reader reader = {0};
    struct error err = {0};
    limits.max_frames = FRAMES;
    limits.max_animation = FRAMES * WIDTH * HEIGHT;
    limits.first_frame = true;
    assert_int_equal(frames_scan(&picture, buf_bytes(file), &limits, &animation, &err), ST_OK);
    assert_int_equal(animation.frames, FRAMES);
    assert_int_equal(picture.pixels.model, shape.model);
    assert_int_equal(picture.pixels.depth, shape.depth);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, frames_reader_bytes(&animation, shape.depth));
    frames_reader_open(&reader, buf_bytes(file), &animation, &limits, shape.depth, memory);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct image want = frame_at(shape, i), got = fixture_image(shape);
        assert_int_equal(frames_reader_next(&reader, &err), ST_OK);
        assert_int_equal(reader.frame.delay, parts[i]);
        assert_int_equal(reader.frame.scale, 30000);
        frames_show(&reader.canvas, &got);
        assert_in_range(difference(&got, &want, want.plane[0].channels), 0, 5);
        fixture_image_free(&want);
        fixture_image_free(&got);
    }
    frames_reader_close(&reader);
    codec_picture_finish(&picture);
    free(memory);
}

static void test_frames_of_all_kinds(void **state) {
    static const enum pixel_model models[] = {PIXEL_GRAY, PIXEL_GRAY_ALPHA, PIXEL_RGB, PIXEL_RGBA};
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const struct image_shape shape = fixture_shape(models[i / 2], 8u << i % 2, WIDTH, HEIGHT);
        struct buf file = write_file(shape, 0, NULL);
        assert_frames(&file, shape);
        buf_finish(&file);
    }
}

/* Items of metadata lie behind the tracks, to which edit lists were added. */
static void test_metadata_are_those_of_the_file(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 1);
    const struct metadata metadata = {.orientation = 1, .exif = {exif.data, sizeof exif.data}};
    struct buf file = write_file(fixture_shape(PIXEL_RGBA, 8, WIDTH, HEIGHT), 3, &metadata);
    struct picture picture = probe_file(&file);
    assert_true(picture.metadata.exif.size > 0);
    assert_memory_equal(picture.metadata.exif.data, "II*", 4);
    codec_picture_finish(&picture);
    assert_frames(&file, fixture_shape(PIXEL_RGBA, 8, WIDTH, HEIGHT));
    buf_finish(&file);
}

static uint64_t number(const uint8_t *p) {
    return (uint64_t)bytes_be32(p) << 32 | bytes_be32(p + 4);
}

/* As libavif from 1.0 on writes and reads them: the track lasts as long as all plays of its media. */
static void assert_played(struct buf *file, uint32_t plays, unsigned tracks) {
    const uint64_t media = 2 * 1001 + 1 + 60000 + 30, all = plays ? plays * media : UINT64_MAX;
    struct buf rest = {.data = file->data, .size = file->size};
    assert_int_equal(number(find_box(file, "mvhd") + 24), all);
    for (unsigned i = 0; i < tracks; i++) {
        uint8_t *track = find_box(&rest, "tkhd"), *list = find_box(&rest, "elst");
        uint8_t *header = find_box(&rest, "mdhd");
        assert_true(track && list && header);
        assert_int_equal(number(track + 28), all);
        assert_int_equal(number(header + 24), media);
        assert_int_equal(bytes_be32(list), 0x01000000 | (plays != 1)); /* version 1, repeats */
        assert_int_equal(bytes_be32(list + 4), 1);
        assert_int_equal(number(list + 8), media);
        assert_int_equal(number(list + 16), 0);
        assert_int_equal(bytes_be32(list + 24), 0x10000);
        for (unsigned j = 4; j < 20; j++) { /* when the file was made */
            assert_int_equal(track[j] | header[j], 0);
        }
        rest.size -= (size_t)(header - rest.data);
        rest.data = header;
    }
    assert_null(find_box(&rest, "elst"));
}

static void test_how_often_frames_are_played(void **state) {
    static const uint32_t plays[] = {0, 1, 2, 70000, UINT32_MAX};
    (void)state;
    for (unsigned i = 0; i < sizeof plays / sizeof *plays; i++) {
        for (unsigned alpha = 0; alpha < 2; alpha++) {
            const enum pixel_model model = alpha ? PIXEL_RGBA : PIXEL_RGB;
            struct buf file = write_file(fixture_shape(model, 8, WIDTH, HEIGHT), plays[i], NULL);
            assert_played(&file, plays[i], 1 + alpha);
            buf_finish(&file);
        }
    }
}

/* Versions of libavif that write edit lists themselves; nothing moves then. */
static void test_edit_lists_that_are_there(void **state) {
    (void)state;
    const struct image_shape shape = fixture_shape(PIXEL_RGBA, 8, WIDTH, HEIGHT);
    struct buf file = write_file(shape, 1, NULL), again;
    struct error err = {0};
    buf_init(&again, FILE_MOST);
    assert_int_equal(buf_append(&again, "before", 6, &err), ST_OK);
    assert_int_equal(avif_movie_write(buf_bytes(&file), 9, &again, &err), ST_OK);
    assert_int_equal(again.size, file.size + 6);
    struct buf moved = {.data = again.data + 6, .size = file.size};
    assert_played(&moved, 9, 2);
    assert_frames(&moved, shape);
    buf_finish(&again);
    buf_finish(&file);
}

/* A file that ends within its tracks, or has numbers of another form, is refused, from memory of its size. */
static void test_unknown_forms_are_refused(void **state) {
    (void)state;
    struct buf file = write_file(fixture_shape(PIXEL_GRAY, 8, WIDTH, HEIGHT), 1, NULL), output;
    struct error err = {0};
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *cut = malloc(size + 1);
        memcpy(cut, file.data, size);
        buf_init(&output, FILE_MOST);
        const enum status status = avif_movie_write((struct bytes){cut, size}, 1, &output, &err);
        assert_true(status == ST_INTERNAL || file.data + size == find_box(&file, "mdat") - 8);
        buf_finish(&output);
        free(cut);
    }
    static const char *const boxes[] = {"iloc", "mvhd", "tkhd", "mdhd", "stco", "elst", "trak", "moov"};
    memcpy(find_box(&file, "edts") - 4, "free", 4); /* so that data would move */
    for (unsigned i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        uint8_t *box = find_box(&file, boxes[i]), old = box[-4];
        box[-4] = 'X';
        buf_init(&output, FILE_MOST);
        const enum status wanted = strcmp(boxes[i], "elst") == 0 ? ST_OK : ST_INTERNAL;
        assert_int_equal(avif_movie_write(buf_bytes(&file), 1, &output, &err),
                         strcmp(boxes[i], "trak") == 0 ? ST_INTERNAL : wanted);
        buf_finish(&output);
        box[-4] = old;
    }
    buf_finish(&file);
}

static enum status write_limited(void *context) {
    const struct image_shape *shape = context;
    const struct encode_options options = {.quality = 95, .effort = 9, .pictures = 12};
    struct error err = {0};
    struct buf file;
    buf_init(&file, 1 << 20);
    limit_memory(codec_encode_bytes(CODEC_AVIF, shape, &options) +
                 frames_writer_file_bytes(CODEC_AVIF, file.maximum) + file.maximum +
                 3 * (size_t)shape->width * shape->height * 8); /* pictures of the test */
    return write_frames(*shape, 12, 0, NULL, &file, &err);
}

/* Without memory libavif ends the process. */
static void test_memory_is_predicted(void **state) {
    static const enum pixel_model models[] = {PIXEL_GRAY_ALPHA, PIXEL_RGB, PIXEL_RGBA};
    (void)state;
    if (!memory_is_limited()) {
        skip();
    }
    for (unsigned i = 0; i < 6; i++) {
        struct image_shape shape = fixture_shape(models[i / 2], 8u << i % 2, 900, 600);
        assert_int_equal(in_child(write_limited, &shape), ST_OK);
    }
}

static void test_wide_pictures(void **state) {
    (void)state;
    struct error err = {0};
    struct buf file;
    buf_init(&file, FILE_MOST);
    assert_int_equal(write_frames(fixture_shape(PIXEL_GRAY, 8, 65536, 1), 2, 0, NULL, &file, &err), ST_LIMIT);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_all_kinds),
        cmocka_unit_test(test_metadata_are_those_of_the_file),
        cmocka_unit_test(test_how_often_frames_are_played),
        cmocka_unit_test(test_edit_lists_that_are_there),
        cmocka_unit_test(test_unknown_forms_are_refused),
        cmocka_unit_test(test_memory_is_predicted),
        cmocka_unit_test(test_wide_pictures),
    };
    if (!codec_decodes(CODEC_AVIF)) {
        printf("this build has no AVIF\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
