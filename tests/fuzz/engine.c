/* SPDX-License-Identifier: MIT
 * What a front that is going wrong may ask the engine for: a good request with changes (offset
 * of two bytes, value) in its bytes. The first byte chooses a sigma and the descriptor that
 * comes with it. On the fake driver. */
#include "gpu/engine.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/log.h"
#include "filters/filter.h"
#include "tests/fuzz/common/fuzz.h"

enum { SLOT_SIZE = 1 << 15, PATTERN = 0x5a };

static struct engine *engine;
static struct engine_lane *lane;
static int slot;
static uint8_t *memory;
static const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 19, .height = 13};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    char program[PATH_MAX] = "", library[PATH_MAX + 40];
    struct wire_ready ready;
    struct error err = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    fuzz_require(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "the program has a path");
    snprintf(library, sizeof library, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    struct engine_options options = {.gpus = "all", .library = library, .program.cache_folder = ""};
    slot = memfd_create("slot", MFD_CLOEXEC);
    fuzz_require(slot >= 0 && ftruncate(slot, SLOT_SIZE) == 0, "there is a slot");
    memory = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slot, 0);
    fuzz_require(memory != MAP_FAILED, "the slot can be mapped");
    fuzz_require(engine_open(&engine, &options, &ready, &err) == ST_OK,
                 "the engine opens on the fake driver");
    fuzz_require(engine_lane_create(&lane, engine, &err) == ST_OK, "there is a lane");
    return 0;
}

static struct wire_run good_run(uint8_t choice) {
    struct blur_arguments arguments;
    struct error err = {0};
    struct wire_run run = {.slot_serial = 1,
                           .slot_reserved = SLOT_SIZE,
                           .target = SLOT_SIZE / 2,
                           .mask = WIRE_NO_MASK,
                           .shape = shape};
    const struct filter *filter = filter_get(FILTER_BLUR);
    arguments_default(filter->arguments, &arguments);
    arguments.sigma = 0.3 + (choice & 31);
    fuzz_require(chain_append(&run.chain, filter, &arguments, &shape, &err) == ST_OK,
                 "a blur can be planned");
    return run;
}

static int descriptor(uint8_t choice) {
    int fd = choice & 64    ? open("/dev/null", O_RDWR | O_CLOEXEC)
             : choice & 128 ? memfd_create("empty", MFD_CLOEXEC)
                            : dup(slot);
    fuzz_require(fd >= 0, "there are descriptors");
    return fd;
}

/* Only the target may be written to; what was refused has touched nothing. */
static void check_memory(const struct wire_run *run, enum status status) {
    struct image image;
    size_t size = 0;
    if (status == ST_OK) {
        struct image_shape result = chain_result(&run->chain, &run->shape);
        size = image_layout(&image, &result);
    }
    for (size_t i = 0; i < SLOT_SIZE; i++) {
        bool written = memory[i] != PATTERN;
        fuzz_require(!written || (i >= run->target && i - run->target < size),
                     "nothing but the target is written to");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    uint8_t choice = fuzz_byte(&input);
    struct wire_run run = good_run(choice);
    struct wire_done done;
    while (input.size > 0) {
        size_t offset = fuzz_short(&input) % sizeof run;
        ((uint8_t *)&run)[offset] = fuzz_byte(&input);
    }
    memset(memory, PATTERN, SLOT_SIZE);
    bool sound = engine_run(lane, &run, descriptor(choice), &done);
    fuzz_require(sound, done.error.text);
    enum status status = done.error.status;
    fuzz_require(status == ST_OK || done.error.text[0], "a refusal is explained");
    check_memory(&run, status);
    return 0;
}
