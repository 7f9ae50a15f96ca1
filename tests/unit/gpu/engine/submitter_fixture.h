/* SPDX-License-Identifier: MIT
 * JPEG to JPEG on the GPU, with the fake driver: a lane, a desk with a submitter, and calls that fail when
 * they are told to. One program, one desk. */
#ifndef BLURD_TESTS_PUMP_FIXTURE_H
#define BLURD_TESTS_PUMP_FIXTURE_H

#include "gpu/engine/submitter.h"

#include <limits.h>
#include <unistd.h>

#include "filters/filter.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/gpu/engine/lane_fixture.h"

enum { WIDTH = 70, HEIGHT = 50, ROOM = 1 << 18, QUALITY = 80 };

static char fault_path[PATH_MAX];

/* The objects that a test needs to run pictures. */
static struct {
    struct submitter *submitter;
    uint8_t output[ROOM];
    size_t size;  /* of the last result */
    bool optimal; /* jobs have codes of their own */
} desk;

static const struct jpeg_recipe plain = {.luma = {2, 2}, .width = WIDTH, .height = HEIGHT};
static const struct image_shape plain_shape = {.model = PIXEL_YCBCR,
                                               .depth = 8,
                                               .chroma_shift_x = 1,
                                               .chroma_shift_y = 1,
                                               .width = WIDTH,
                                               .height = HEIGHT};

/* --- device and desk: set-up and tear-down of the group and of each test -------------------- */
static inline int open_device(void **state) {
    (void)state;
    snprintf(fault_path, sizeof fault_path, "/tmp/blurd-test-submitter-%d", (int)getpid());
    setenv("FAKE_CUDA_FAULT_FILE", fault_path, 1);
    return fixture_open_device();
}

static inline int close_device(void **state) {
    (void)state;
    gpu_device_close(&device);
    unlink(fault_path);
    return 0;
}

/* The device has no history. */
static inline enum status open_desk(struct error *err) {
    device.detector = (struct hang_detector){0};
    enum status status = jpeg_stream_init(&lane, &device, err);
    return status == ST_OK ? submitter_create(&desk.submitter, &device, err) : status;
}

static inline void close_desk(void) {
    submitter_destroy(desk.submitter);
    desk.submitter = NULL;
    jpeg_stream_finish(&lane);
}

static inline int open_test(void **state) {
    (void)state;
    struct error err = {0};
    return open_desk(&err) == ST_OK ? 0 : -1;
}

static inline int close_test(void **state) {
    (void)state;
    close_desk();
    return 0;
}

/* --- calls that fail, pictures ----------------------------------------------------------------- */
/* The n-th call from now on gives that result, once, after so many milliseconds. */
static inline void arm(const char *call, int number, int result, int after_ms) {
    char text[PATH_MAX + 8];
    snprintf(text, sizeof text, "%s.new", fault_path);
    FILE *file = fopen(text, "w");
    assert_non_null(file);
    fprintf(file, "%s:%d:%d:%d", call, number, result, after_ms);
    fclose(file);
    assert_int_equal(rename(text, fault_path), 0);
}

static inline bool happened(void) {
    return access(fault_path, F_OK) != 0;
}

static inline struct transcode make_job(const struct buf *file, const struct image_shape *shape,
                                        struct chain *chain) {
    const struct blur_arguments arguments = {.sigma = 2};
    *chain = (struct chain){0};
    assert_int_equal(chain_append(chain, filter_get(FILTER_BLUR), &arguments, shape, NULL), ST_OK);
    return (struct transcode){.chain = chain,
                              .shape = *shape,
                              .input = buf_bytes(file),
                              .output = desk.output,
                              .room = ROOM,
                              .quality = QUALITY,
                              .optimal = desk.optimal};
}

static inline enum status run_job(const struct transcode *job, struct error *err) {
    struct lane_timing timing;
    *err = (struct error){0};
    desk.size = 0;
    enum status status = submitter_run(desk.submitter, &lane, job, &desk.size, &timing, err);
    assert_true(status == ST_OK || err->text[0]);
    assert_true(status != ST_OK || (timing.upload_ns > 0 && timing.filter_ns > 0 && timing.download_ns > 0));
    return status;
}

static inline enum status run(const struct buf *file, uint8_t quality) {
    struct chain chain;
    struct error err;
    struct transcode job = make_job(file, &plain_shape, &chain);
    job.quality = quality;
    return run_job(&job, &err);
}

#endif
