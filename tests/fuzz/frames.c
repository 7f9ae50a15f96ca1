/* SPDX-License-Identifier: MIT
 * The container of an animation: a walk over it, its frames resolved one after the other, and those written
 * again in each format that holds animations. The last byte chooses how. */
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/frames.h"
#include "tests/fuzz/common/fuzz.h"

enum { FRAMES_MAX = 20, MEMORY_MAX = 256 << 20 };

struct run {
    struct bytes input;
    struct codec_limits limits;
    struct picture picture;
    struct animation animation;
    uint8_t choice;
    uint8_t *memory;
};

static enum codec_id format_of(uint8_t choice) {
    enum codec_id id = (enum codec_id)(choice % CODEC_COUNT);
    return frames_writes(id) ? id : CODEC_PNG;
}

static void check_file(const struct run *run, struct bytes file, enum codec_id id, uint32_t frames) {
    struct animation back = {0};
    struct picture picture;
    struct error err = {0};
    enum codec_id found;
    fuzz_require(codec_find(file, &found) && found == id, "what was written has the format");
    fuzz_require(codec_probe(file, &run->limits, &picture, &err) == ST_OK &&
                     frames_scan(&picture, file, &run->limits, &back, &err) == ST_OK,
                 "what was written can be read");
    codec_picture_finish(&picture);
    fuzz_require(back.frames == frames && back.width == run->animation.width &&
                     back.height == run->animation.height,
                 "what was written has the frames");
}

/* Reads all frames, and writes them unless `output` is NULL. Returns how many there were. */
static uint32_t read_all(const struct run *run, struct frames_writer *writer, const struct image *shown) {
    struct frames_reader reader = {0};
    struct error err = {0};
    enum status status = ST_OK;
    uint32_t count = 0;
    frames_reader_open(&reader, run->input, &run->animation, &run->limits, run->picture.pixels.depth,
                       run->memory);
    while (count < run->animation.frames && status == ST_OK) {
        status = frames_reader_next(&reader, &err);
        fuzz_require(status == ST_OK || (err.status == status && err.text[0]), "a failure is explained");
        fuzz_require(status != ST_INTERNAL && status != ST_ARGUMENT, "the fault is the file's");
        if (status == ST_OK && writer) {
            frames_show(&reader.canvas, shown);
            fuzz_require(frames_writer_add(writer, shown, &reader.frame, &err) == ST_OK,
                         "what was read can be written");
        }
        count += status == ST_OK;
    }
    frames_reader_close(&reader);
    return count;
}

static void write_all(const struct run *run) {
    const enum codec_id id = format_of(run->choice);
    const struct encode_options options = {.quality = 50, .lossless = run->choice & 128};
    struct image shown = fuzz_image(&run->picture.pixels, 0);
    struct image spare = fuzz_image(&run->picture.pixels, 0);
    struct frames_writer writer = {0};
    struct error err = {0};
    struct buf output;
    buf_init(&output, 64 << 20);
    frames_writer_open(&writer, id, &run->picture.pixels, &run->animation, &options, NULL, &output,
                       spare.plane[0].data);
    (void)read_all(run, &writer, &shown);
    fuzz_require(frames_writer_end(&writer, &err) == ST_OK, "the file is complete");
    check_file(run, buf_bytes(&output), id, run->animation.frames);
    frames_writer_close(&writer);
    buf_finish(&output);
    fuzz_image_free(&shown);
    fuzz_image_free(&spare);
}

static void run_frames(struct run *run) {
    const enum pixel_model model = run->animation.alpha ? PIXEL_RGBA : PIXEL_RGB;
    const size_t size = frames_reader_bytes(&run->animation, run->picture.pixels.depth);
    if (size > MEMORY_MAX) { /* as of a frame that is larger than its canvas: refused by the budget */
        return;
    }
    run->picture.pixels.model = model;
    run->picture.pixels.width = run->animation.width;
    run->picture.pixels.height = run->animation.height;
    run->memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    fuzz_require(run->memory, "there is memory");
    memset(run->memory, 0xA5, size);
    if (read_all(run, NULL, NULL) == run->animation.frames) {
        write_all(run);
    }
    free(run->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run run = {.input = {data, size}, .limits = fuzz_limits(), .choice = size ? data[size - 1] : 0};
    struct error err = {0};
    enum codec_id id;
    run.limits.first_frame = true;
    run.limits.max_frames = FRAMES_MAX;
    run.limits.max_animation = UINT64_C(1) << 18;
    if (!codec_find(run.input, &id) || !frames_reads(id) ||
        codec_probe(run.input, &run.limits, &run.picture, &err) != ST_OK) {
        return 0;
    }
    fuzz_require(frames_estimate(id, run.input) > 0, "there is a frame");
    if (frames_scan(&run.picture, run.input, &run.limits, &run.animation, &err) != ST_OK) {
        fuzz_require(err.text[0], "a failure is explained");
    } else if (run.animation.frames > 1) {
        run_frames(&run);
    }
    codec_picture_finish(&run.picture);
    return 0;
}
