/* SPDX-License-Identifier: MIT
 * Searches for faces in JPEGs by a transcoder: the candidates are those of the decoded picture. */
#include "gpu/detect/detect.h"
#include "gpu/engine/transcoder.h"
#include "gpu/filters/gpu_chain.h"
#include "tests/filters/network_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"
#include "tests/unit/gpu/engine/submitter_fixture.h"

static struct candidates expected;
static _Alignas(IMAGE_ALIGNMENT) struct candidates got;

static const struct jpeg_recipe large = {.luma = {2, 2}, .width = 200, .height = 150};

/* By pixels. */
static void search_pixels(const struct buf *file, const struct chain *chain) {
    struct error err = {0};
    struct lane_timing timing;
    struct jpeg_stream pixels = {0};
    struct image source = fixture_decode(buf_bytes(file), true);
    struct image target;
    struct image_shape shape = detect_shape();
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&target, &shape));
    image_place(&target, memory);
    const struct chain_run run = {.chain = chain, .source = &source, .target = &target};
    assert_int_equal(jpeg_stream_init(&pixels, &device, &err), ST_OK);
    assert_int_equal(gpu_chain_run(&pixels.stream, &run, &timing, &err), ST_OK);
    memcpy(&expected, memory, sizeof expected);
    jpeg_stream_finish(&pixels);
    free(memory);
    free(source.plane[0].data);
}

static void search(const struct jpeg_recipe *recipe, double threshold) {
    struct error err = {0};
    struct lane_timing timing;
    struct gpu_transcoder *transcoder;
    struct buf file = recipe_file(recipe);
    struct image_shape shape = plain_shape;
    shape.width = (uint32_t)recipe->width, shape.height = (uint32_t)recipe->height;
    struct chain chain = {0};
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {threshold}};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &shape, &err), ST_OK);
    search_pixels(&file, &chain);
    struct transcode job = make_job(&file, &shape, &(struct chain){0});
    job.chain = &chain;
    job.output = (uint8_t *)&got;
    job.room = sizeof got;
    size_t size;
    assert_int_equal(gpu_transcoder_create(&transcoder, &device, 1, &err), ST_OK);
    for (int i = 0; i < 2; i++) {
        memset(&got, 0xa5, sizeof got);
        assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
        assert_int_equal(got.count, expected.count);
        assert_int_equal(size, sizeof got.count + got.count * sizeof got.candidate[0]);
        assert_memory_equal(got.candidate, expected.candidate, got.count * sizeof got.candidate[0]);
    }
    gpu_transcoder_destroy(transcoder);
    buf_finish(&file);
}

/* All cells of the large picture are more than what is downloaded at once. */
static void test_candidates(void **state) {
    (void)state;
    search(&plain, 0);
    assert_int_equal(got.count, 24 * 16);
    search(&large, 0);
    assert_int_equal(got.count, 56 * 40);
    search(&plain, 1);
    assert_int_equal(got.count, 0);
}

static void test_without_model(void **state) {
    (void)state;
    struct gpu_network *networks = device.networks;
    struct error err = {0};
    struct lane_timing timing;
    struct gpu_transcoder *transcoder;
    struct buf file = recipe_file(&plain);
    struct chain chain = {0};
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {0.5}};
    size_t size;
    assert_int_equal(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &plain_shape, &err), ST_OK);
    struct transcode job = make_job(&file, &plain_shape, &(struct chain){0});
    job.chain = &chain;
    job.output = (uint8_t *)&got;
    job.room = sizeof got;
    device.networks = NULL;
    assert_int_equal(gpu_transcoder_create(&transcoder, &device, 1, &err), ST_OK);
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_UNSUPPORTED);
    gpu_transcoder_destroy(transcoder);
    device.networks = networks;
    buf_finish(&file);
}

/* ---- the picture that a search leaves ---- */

enum { PLACES = 2 };

static struct {
    struct gpu_transcoder *transcoder;
    struct buf file, damaged; /* of the same size */
    struct chain search, blur;
    uint8_t expected[ROOM];
    size_t expected_size;
} scene;

static enum status find(uint64_t *picture) {
    struct transcode job = make_job(&scene.file, &plain_shape, &(struct chain){0});
    struct lane_timing timing;
    struct error err = {0};
    size_t size;
    job.chain = &scene.search;
    job.output = (uint8_t *)&got;
    job.room = sizeof got;
    job.picture = picture;
    return gpu_transcoder_run(scene.transcoder, &job, &size, &timing, &err);
}

/* Of the damaged file: succeeds only with a picture that was decoded before. */
static enum status blur_again(uint64_t *picture, const struct image_shape *shape) {
    struct chain chain;
    struct transcode job = make_job(&scene.damaged, shape, &chain);
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    job.picture = picture;
    enum status status = gpu_transcoder_run(scene.transcoder, &job, &size, &timing, &err);
    if (status == ST_OK) {
        assert_int_equal(size, scene.expected_size);
        assert_memory_equal(desk.output, scene.expected, size);
    }
    return status;
}

static void expect(void) {
    struct transcode job = make_job(&scene.file, &plain_shape, &scene.blur);
    struct lane_timing timing;
    struct error err = {0};
    assert_int_equal(gpu_transcoder_run(scene.transcoder, &job, &scene.expected_size, &timing, &err), ST_OK);
    memcpy(scene.expected, desk.output, scene.expected_size);
}

static int open_scene(void **state) {
    (void)state;
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {0}};
    struct error err = {0};
    scene.file = recipe_file(&plain);
    scene.damaged = recipe_file(&plain);
    memset(scene.damaged.data + scene.damaged.size - 60, 0xff, 50);
    scene.search.count = 0;
    chain_append(&scene.search, filter_get(FILTER_DETECT), &arguments, &plain_shape, &err);
    bool good = gpu_transcoder_create(&scene.transcoder, &device, PLACES, &err) == ST_OK;
    if (good) {
        expect();
    }
    return good ? 0 : -1;
}

static int close_scene(void **state) {
    (void)state;
    gpu_transcoder_destroy(scene.transcoder);
    buf_finish(&scene.file);
    buf_finish(&scene.damaged);
    return 0;
}

static void test_a_kept_picture(void **state) {
    (void)state;
    uint64_t first = 1, second = 2, none = 0, unknown = 7;
    struct image_shape other = plain_shape;
    assert_int_equal(find(&first), ST_OK);
    assert_int_equal(find(&second), ST_OK);
    assert_int_equal(blur_again(&none, &plain_shape), ST_UNSUPPORTED); /* took a stream with a picture */
    assert_int_equal(find(&first), ST_OK);
    assert_int_equal(find(&second), ST_OK);
    assert_int_equal(blur_again(&first, &plain_shape), ST_OK);
    assert_int_equal(blur_again(&first, &plain_shape), ST_UNSUPPORTED); /* used up; takes the idle stream */
    assert_int_equal(blur_again(&unknown, &plain_shape), ST_UNSUPPORTED);
    assert_int_equal(blur_again(&second, &plain_shape), ST_OK);
    assert_int_equal(find(&first), ST_OK);
    other.width--;
    assert_int_equal(blur_again(&first, &other), ST_UNSUPPORTED);
}

/* A stream that frees its memory has no picture any more, and a search of a damaged file leaves none. */
static void test_a_lost_picture(void **state) {
    (void)state;
    uint64_t picture = 3;
    size_t share = device.memory_share;
    device.memory_share = 0;
    assert_int_equal(find(&picture), ST_OK);
    device.memory_share = share;
    assert_int_equal(blur_again(&picture, &plain_shape), ST_UNSUPPORTED);
    struct buf whole = scene.file;
    scene.file = scene.damaged;
    assert_int_equal(find(&picture), ST_UNSUPPORTED);
    scene.file = whole;
    assert_int_equal(blur_again(&picture, &plain_shape), ST_UNSUPPORTED);
    assert_int_equal(find(&picture), ST_OK);
    assert_int_equal(blur_again(&picture, &plain_shape), ST_OK);
}

static struct network_fixture fixture;
static struct model model = {
    .detector = &detector_faces, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};

static int open_all(void **state) {
    network_fixture_make(&fixture, &detector_faces);
    model.weights = fixture.weights;
    return open_device(state) == 0 && gpu_detect_open(&device, DETECTOR_FACES, &model, NULL) == ST_OK ? 0
                                                                                                      : -1;
}

static int close_all(void **state) {
    gpu_detect_close(&device);
    network_fixture_free(&fixture);
    return close_device(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates), cmocka_unit_test(test_without_model),
        cmocka_unit_test_setup_teardown(test_a_kept_picture, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(test_a_lost_picture, open_scene, close_scene)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
