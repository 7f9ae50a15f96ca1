/* SPDX-License-Identifier: MIT
 * The first device of the fake driver and a lane on it, and chance that is the same in every run. One
 * program, one lane. */
#ifndef BLURD_TESTS_LANE_FIXTURE_H
#define BLURD_TESTS_LANE_FIXTURE_H

#include "gpu/engine/jpeg_stream.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "core/log.h"

#include "tests/filters/random.h"
#include "tests/unit/codecs/picture_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct cuda cuda;
static struct gpu_device device;
static struct jpeg_stream lane;
static uint64_t random_state;

static inline unsigned below(size_t end) {
    return (unsigned)(test_random(&random_state) % end);
}

/* --- a device that stops: in place of cuStreamWriteValue32 and cuStreamQuery --------------------- */
enum { LAUNCH_FAILED = 719, ASKED_IN_VAIN = 3 };

static unsigned asked; /* how often the driver was */

static inline CUresult CUDAAPI lost_write(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
    (void)stream, (void)to, (void)value, (void)flags;
    return CUDA_SUCCESS;
}

/* The driver notices the fault when it is asked for the fourth time. */
static inline CUresult CUDAAPI knows_later(CUstream stream) {
    (void)stream;
    return asked++ < ASKED_IN_VAIN ? CUDA_ERROR_NOT_READY : (CUresult)LAUNCH_FAILED;
}

/* --- for set-up and tear-down: 0 or -1 ----------------------------------------------------------- */
/* The driver lies beside the program. */
static inline int fixture_open_device(void) {
    char program[PATH_MAX] = "", driver[PATH_MAX + 40];
    struct error err = {0};
    const struct program_options options = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    snprintf(driver, sizeof driver, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    if (cuda_open(&cuda, driver, &err) != ST_OK ||
        gpu_device_open(&device, &cuda, 0, &options, &err) != ST_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static inline int open_lane(void **state) {
    (void)state;
    struct error err = {0};
    if (fixture_open_device() != 0) {
        return -1;
    }
    if (jpeg_stream_init(&lane, &device, &err) != ST_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static inline int close_lane(void **state) {
    (void)state;
    jpeg_stream_finish(&lane);
    gpu_device_close(&device);
    return 0;
}

#endif
