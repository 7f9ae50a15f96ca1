/* SPDX-License-Identifier: MIT
 * Requests of a misbehaving front to the engine: a good request, from pixels to pixels or from JPEG
 * to JPEG, with changes (offset of two bytes, value) in its bytes, or in those of the JPEG and of the list of
 * rectangles behind them, or in coefficients. The first byte chooses a sigma or a width, one of the two,
 * whether there is a mask, and the descriptor that comes with it. On the fake driver. */
#include "gpu/engine/engine.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/jpeg/coefficients.h"
#include "core/log.h"
#include "core/orient.h"
#include "core/slot_file.h"
#include "filters/filter.h"
#include "tests/fuzz/common/fuzz.h"

enum {
    SLOT_SIZE = 1 << 15,
    PATTERN = 0x5a,
    FILE_AT = 3,
    COEFFICIENTS_AT = SLOT_SIZE / 4,
    WEIGHTS_AT = SLOT_SIZE / 4 * 3,
    RECTS = 3,
    RINGS = 2,
    SIGMA = 31, /* from WIDTH on: a width instead */
    WIDTH = 24,
    JPEG = 32,
    NULL_DEVICE = 64,
    EMPTY = 128,
    COEFFICIENTS = JPEG | NULL_DEVICE | EMPTY /* with the slot */
};

static struct engine *engine;
static struct engine_session *lane;
static int slot;
static uint8_t *memory, before[SLOT_SIZE]; /* and what was in it */
static struct buf file;
static const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 19, .height = 13};
static const struct image_shape stored = {
    .model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = 20, .height = 14};

static void make_file(void) {
    struct image image;
    struct error err = {0};
    const struct encode_options options = {.quality = 70};
    uint8_t *pixels = calloc(1, image_layout(&image, &stored));
    fuzz_require(pixels, "there is memory for a picture");
    image_place(&image, pixels);
    for (unsigned p = 0; p < image.plane_count; p++) {
        for (uint32_t x = 0; x < image.plane[p].width; x++) {
            plane_row(&image.plane[p], x % image.plane[p].height)[x] = 200;
        }
    }
    buf_init(&file, SLOT_SIZE);
    fuzz_require(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err) == ST_OK, "it can be encoded");
    free(pixels);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    char program[PATH_MAX] = "", library[PATH_MAX + 40];
    struct wire_ready ready;
    struct error err = {0};
    log_init(LOG_ERROR, LOG_TEXT);
    setenv("FAKE_CUDA_MEMORY", "12000000", 1); /* so that no picture between two steps takes seconds */
    fuzz_require(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "the program has a path");
    const char *folder = dirname(program);
    snprintf(library, sizeof library, "%s/../fake_cuda/libfakecuda.so", folder);
    struct engine_options options = {
        .gpus = "all", .library = library, .jpeg = true, .pictures = 1, .program.cache_folder = ""};
    slot = slot_file(SLOT_SIZE);
    fuzz_require(slot >= 0, "there is a slot");
    memory = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slot, 0);
    fuzz_require(memory != MAP_FAILED, "the slot can be mapped");
    fuzz_require(engine_open(&engine, &options, &ready, &err) == ST_OK,
                 "the engine opens on the fake driver");
    fuzz_require(engine_session_create(&lane, engine, &err) == ST_OK, "there is a lane");
    fuzz_require(ready.pictures == 1, "there is a place for a JPEG");
    make_file();
    return 0;
}

static bool is_of_coefficients(uint8_t choice) {
    return (choice & COEFFICIENTS) == COEFFICIENTS;
}

static size_t coefficients_bytes(void) {
    struct coefficients_layout layout;
    fuzz_require(coefficients_lay_out(&stored, &layout), "the picture has coefficients");
    return coefficients_size(&layout);
}

/* Of all sizes, with steps that are not 0. */
static void put_coefficients(void) {
    uint8_t *to = before + COEFFICIENTS_AT;
    for (size_t i = 0; i < coefficients_bytes(); i++) {
        to[i] = (uint8_t)(i < sizeof(struct coefficients_head) ? 1 + i % 7
                          : i % 2                              ? (i / 64 % 3) * 255
                                                               : i * i);
    }
}

static const struct mask_plan_rect rects[RECTS + RINGS] = {{0, 0, 16, 14, 0, 0},
                                                           {16, 0, 20, 14, 1, 0},
                                                           {0, 0, 16, 14, 2, 0},
                                                           {0, 0, 20, 14, 1, 0},
                                                           {0, 0, 65535, 65535, 65535, 0}};

/* With the orientation 1 the picture is redacted, or has a mask. */
static void add_mask(struct wire_run *run, uint8_t choice) {
    bool soft = choice & 16;
    uint8_t redaction = choice / 4 % 3, fill = choice / 8 % FILL_KINDS;
    bool several = redaction == MASK_PLAN_REGIONS;
    run->jpeg.masked = 1;
    run->jpeg.rects = FILE_AT + file.size;
    run->jpeg.plan = (struct mask_plan){.masks = chain_masked(&run->chain) > 0,
                                        .redaction = redaction,
                                        .invert = soft && !several,
                                        .weighs = soft && !several,
                                        .fill = fill,
                                        .colour = {choice, 128, 200},
                                        .rects = RECTS,
                                        .rings = several && fill == FILL_RING ? RINGS : 0,
                                        .regions = several ? RECTS : 0,
                                        .look = choice % 8,
                                        .feather = soft ? 3 : 0};
    run->mask = run->jpeg.plan.weighs ? WEIGHTS_AT : WIRE_NO_MASK;
    run->jpeg.picture = choice & 8;
    run->jpeg.patch =
        is_of_coefficients(choice) && run->jpeg.plan.masks && run->chain.step[0].filter == FILTER_BLUR;
}

static void append(struct wire_run *run, enum filter_id filter, const void *arguments) {
    const struct image_shape read = transcode_read(&run->shape, (enum transcode_colours)run->jpeg.colours);
    struct error err = {0};
    fuzz_require(chain_append(&run->chain, filter_get(filter), arguments, &read, &err) == ST_OK,
                 "a filter can be planned");
}

/* The result is a picture. */
static void ask_for_pixels(struct wire_run *run) {
    const struct image_shape read = transcode_read(&run->shape, (enum transcode_colours)run->jpeg.colours),
                             upright = orient_shape(&read, run->jpeg.orientation),
                             result = chain_result(&run->chain, &upright);
    struct image layout;
    run->jpeg.pixels = 1;
    run->jpeg.room = image_layout(&layout, &result);
}

static struct wire_run good_run(uint8_t choice) {
    bool jpeg = choice & JPEG;
    struct wire_run run = {.slot_serial = 1,
                           .slot_span = SLOT_SIZE,
                           .target = SLOT_SIZE / 2,
                           .mask = WIRE_NO_MASK,
                           .shape = jpeg ? stored : shape};
    const struct blur_arguments blur = {.sigma = 0.3 + (choice & SIGMA)};
    const struct resize_arguments resize = {.width = 1 + (choice & SIGMA) % WIDTH * 5, .enlarge = true};
    if (jpeg) {
        run.source = FILE_AT;
        run.jpeg = (struct wire_transcode){.size = file.size,
                                           .room = SLOT_SIZE / 4,
                                           .orientation = 1 + choice % 4,
                                           .quality = 80,
                                           .optimal = choice / 8 % 2};
        run.jpeg.colours = run.jpeg.orientation == 1 ? TRANSCODE_PLANES : choice / 4 % 7;
    }
    if (is_of_coefficients(choice)) {
        run.source = COEFFICIENTS_AT;
        run.jpeg.size = coefficients_bytes();
        run.jpeg.form = TRANSCODE_COEFFICIENTS;
        run.jpeg.orientation = 1;
        run.jpeg.colours = TRANSCODE_PLANES;
    }
    if ((choice & SIGMA) < WIDTH) {
        append(&run, FILTER_BLUR, &blur);
    } else {
        append(&run, FILTER_RESIZE, &resize);
    }
    if (jpeg && run.jpeg.orientation == 1) {
        add_mask(&run, choice);
    } else if (jpeg && run.jpeg.orientation == 4) {
        ask_for_pixels(&run);
    }
    return run;
}

static int descriptor(uint8_t choice) {
    int fd = is_of_coefficients(choice) ? dup(slot)
             : choice & NULL_DEVICE     ? open("/dev/null", O_RDWR | O_CLOEXEC)
             : choice & EMPTY           ? memfd_create("empty", MFD_CLOEXEC)
                                        : dup(slot);
    fuzz_require(fd >= 0, "there are descriptors");
    return fd;
}

/* How much of the slot the answer takes. A scan may turn out to be damaged when something has been made of
 * it. */
static size_t result_size(const struct wire_run *run, const struct wire_done *done) {
    if (done->error.status == ST_UNSUPPORTED && run->jpeg.size > 0) {
        return run->jpeg.room;
    }
    if (done->error.status != ST_OK) {
        return 0;
    }
    if (run->jpeg.size > 0) {
        fuzz_require(done->size > 0 && done->size <= run->jpeg.room, "the JPEG fits into its room");
        return done->size;
    }
    struct image image;
    struct image_shape result = chain_result(&run->chain, &run->shape);
    return image_layout(&image, &result);
}

/* Only the target may be written to; a refused request has touched nothing. */
static void check_memory(const struct wire_run *run, const struct wire_done *done) {
    size_t size = result_size(run, done);
    for (size_t i = 0; i < SLOT_SIZE; i++) {
        bool written = memory[i] != before[i];
        fuzz_require(!written || (i >= run->target && i - run->target < size),
                     "nothing but the target is written to");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    uint8_t choice = fuzz_byte(&input);
    struct wire_run run = good_run(choice);
    struct wire_done done;
    size_t first = is_of_coefficients(choice) ? COEFFICIENTS_AT : FILE_AT;
    size_t behind = is_of_coefficients(choice) ? coefficients_bytes() : file.size + sizeof rects;
    size_t changeable = sizeof run + (choice & JPEG ? behind : 0);
    memset(before, PATTERN, SLOT_SIZE);
    memcpy(before + FILE_AT, file.data, file.size);
    memcpy(before + FILE_AT + file.size, rects, sizeof rects);
    put_coefficients();
    while (input.size > 0) {
        size_t offset = fuzz_short(&input) % changeable;
        uint8_t *byte = offset < sizeof run ? (uint8_t *)&run + offset : before + first + offset - sizeof run;
        *byte = fuzz_byte(&input);
    }
    memcpy(memory, before, SLOT_SIZE);
    bool sound = engine_run(lane, &run, descriptor(choice), &done);
    fuzz_require(sound, done.error.text);
    fuzz_require(done.error.status == ST_OK || (done.error.text[0] && done.size == 0),
                 "a refusal is explained");
    check_memory(&run, &done);
    return 0;
}
