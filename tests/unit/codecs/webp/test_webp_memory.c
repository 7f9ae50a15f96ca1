/* SPDX-License-Identifier: MIT
 * The stated bounds of memory hold: children that may take no more encode and decode the worst pictures. */
#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/codecs/webp/webp_fixture.h"

enum { NOT_BUILT = 77 };

/* Noise, of which few bits are the same, is the worst for most parts of libwebp. */
static struct image noise(struct image_shape shape) {
    struct image image = fixture_image(shape);
    uint32_t state = 1;
    for (unsigned p = 0; p < image.plane_count; p++) {
        for (uint32_t y = 0; y < image.plane[p].height; y++) {
            for (size_t i = 0; i < plane_row_bytes(&image.plane[p], shape.depth); i++) {
                state ^= state << 13, state ^= state >> 17, state ^= state << 5;
                plane_row(&image.plane[p], y)[i] = (uint8_t)(state >> 11);
            }
        }
    }
    return image;
}

struct task {
    struct image *image;
    struct encode_options options;
    struct picture *picture;
    struct bytes file;
    struct buf *output;
    size_t bound;
};

static enum status encode(void *context) {
    struct task *task = context;
    limit_memory(task->bound);
    return codec_encode(CODEC_WEBP, task->image, &task->options, NULL, task->output, NULL);
}

static enum status decode(void *context) {
    struct task *task = context;
    struct codec_limits limits = fixture_limits();
    limit_memory(task->bound);
    return codec_decode(task->file, task->picture, &limits, task->image, NULL);
}

static void check(struct image_shape shape, uint8_t effort, bool lossless) {
    struct image image = noise(shape);
    struct buf output;
    struct task task = {.image = &image, .output = &output};
    task.options = (struct encode_options){.quality = 100, .effort = effort, .lossless = lossless};
    task.bound = codec_encode_bytes(CODEC_WEBP, &shape, &task.options);
    buf_init(&output, 8 << 20);
    assert_int_equal(buf_reserve(&output, 8 << 20, NULL), ST_OK);
    assert_int_equal(in_child(encode, &task), ST_OK);
    assert_int_equal(codec_encode(CODEC_WEBP, &image, &task.options, NULL, &output, NULL), ST_OK);
    struct picture picture = fixture_probe(buf_bytes(&output));
    struct image back = fixture_image(picture.pixels);
    task = (struct task){.image = &back, .picture = &picture, .file = buf_bytes(&output)};
    task.bound = codec_decode_bytes(&picture, output.size);
    assert_int_equal(in_child(decode, &task), ST_OK);
    fixture_image_free(&back);
    buf_finish(&output);
    fixture_image_free(&image);
}

static void test_bounds_hold(void **state) {
    (void)state;
    static const uint8_t efforts[] = {0, 1, 3, 5, 8};
    for (size_t e = 0; e < sizeof efforts; e++) {
        for (int model = PIXEL_GRAY; model <= PIXEL_YCBCR; model++) {
            struct image_shape shape = fixture_shape((enum pixel_model)model, 8, 300, 200);
            shape.chroma_shift_x = shape.chroma_shift_y = model == PIXEL_YCBCR;
            check(shape, efforts[e], false);
            check(shape, efforts[e], true);
            shape.depth = model == PIXEL_YCBCR ? 8 : 16;
            check(shape, efforts[e], false);
        }
    }
}

/* With less memory libwebp gives up, and says so. It is the picture that does not fit: when a small
 * allocation of the decoder fails, version 1.2.4 may crash. */
static void test_too_little_memory(void **state) {
    (void)state;
    enum { LITTLE = 2 << 20 };
    struct image image = noise(fixture_shape(PIXEL_RGBA, 8, 1000, 1000));
    struct buf output;
    buf_init(&output, 8 << 20);
    assert_int_equal(buf_reserve(&output, 8 << 20, NULL), ST_OK);
    for (int lossless = 0; lossless <= 1; lossless++) {
        struct task task = {.image = &image, .output = &output};
        task.options = (struct encode_options){.quality = 100, .lossless = lossless};
        assert_int_equal(in_child(encode, &task), ST_BUSY);
    }
    struct encode_options options = {.quality = 100, .lossless = true};
    assert_int_equal(codec_encode(CODEC_WEBP, &image, &options, NULL, &output, NULL), ST_OK);
    struct picture picture = fixture_probe(buf_bytes(&output));
    struct task task = {.image = &image, .picture = &picture, .file = buf_bytes(&output), .bound = LITTLE};
    assert_int_equal(in_child(decode, &task), ST_BUSY);
    buf_finish(&output);
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_too_little_memory),
    };
    if (!memory_is_limited()) {
        return WITHOUT_SANITIZER;
    }
    if (!codec_decodes(CODEC_WEBP)) {
        puts("built without libwebp");
        return NOT_BUILT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
