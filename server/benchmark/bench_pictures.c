/* SPDX-License-Identifier: MIT */
#include "server/benchmark/bench_pictures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"

enum { OCTAVES = 7, QUALITY = 90, MIDDLE = 128, PIECE = 64 << 10 };

static const uint32_t sizes[][2] = {{400, 300}, {1920, 1080}, {4000, 3000}};

/* The same number for the same place on every machine, -1 to 1. */
static float lattice(uint32_t x, uint32_t y, uint32_t seed) {
    uint32_t hash = x * 374761393u + y * 668265263u + seed * 2246822519u;
    hash = (hash ^ (hash >> 13)) * 1274126177u;
    return (float)((hash ^ (hash >> 16)) & 0xffff) / 32767.5F - 1;
}

/* Noise between the points of a lattice with `step` pixels a side. */
static float noise(uint32_t x, uint32_t y, uint32_t step, uint32_t seed) {
    uint32_t left = x / step, top = y / step;
    float u = (float)(x % step) / (float)step, v = (float)(y % step) / (float)step;
    float above = lattice(left, top, seed) * (1 - u) + lattice(left + 1, top, seed) * u;
    float below = lattice(left, top + 1, seed) * (1 - u) + lattice(left + 1, top + 1, seed) * u;
    return above * (1 - v) + below * v;
}

/* Like photographs, it has half the contrast at twice the frequency. */
static uint8_t sample(uint32_t x, uint32_t y, unsigned plane) {
    float sum = MIDDLE;
    for (unsigned octave = 0; octave < OCTAVES; octave++) {
        sum += (plane ? 0.3F : 1.0F) * (float)(1u << octave) *
               noise(x, y, 1u << octave, plane * OCTAVES + octave);
    }
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static enum status make(struct bench_picture *picture, uint32_t width, uint32_t height, struct error *err) {
    const struct image_shape shape = {.width = width,
                                      .height = height,
                                      .model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1};
    const struct encode_options options = {.quality = QUALITY};
    struct image image;
    size_t size = image_layout(&image, &shape);
    uint8_t *memory = malloc(size);
    if (!memory) {
        return fail(err, ST_BUSY, "out of memory");
    }
    image_place(&image, memory);
    for (unsigned p = 0; p < image.plane_count; p++) {
        for (uint32_t y = 0; y < image.plane[p].height; y++) {
            for (uint32_t x = 0; x < image.plane[p].width; x++) {
                plane_row(&image.plane[p], y)[x] = sample(x, y, p);
            }
        }
    }
    snprintf(picture->name, sizeof picture->name, "%ux%u", width, height);
    picture->width = width;
    picture->height = height;
    buf_init(&picture->file, size);
    enum status status = codec_encode(CODEC_JPEG, &image, &options, NULL, &picture->file, err);
    free(memory);
    return status;
}

static enum status read_file(struct bench_picture *picture, const char *path, uint64_t largest,
                             struct error *err) {
    uint8_t piece[PIECE];
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "re");
    if (!file) {
        return fail(err, ST_ARGUMENT, "cannot read %.100s: %s", path, strerror(errno));
    }
    snprintf(picture->name, sizeof picture->name, "%s", slash ? slash + 1 : path);
    buf_init(&picture->file, (size_t)largest);
    enum status status = ST_OK;
    for (size_t got; status == ST_OK && (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        status = buf_append(&picture->file, piece, got, err);
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? fail(err, ST_ARGUMENT, "cannot read %.100s", path) : status;
}

static enum status take_file(struct bench_picture *picture, const char *path, uint64_t largest,
                             struct error *err) {
    struct picture header = {0};
    struct error cause = {0};
    const struct codec_limits limits = {
        .max_pixels = UINT64_MAX, .max_side = UINT32_MAX, .max_scans = UINT32_MAX};
    enum status status = read_file(picture, path, largest, err);
    if (status != ST_OK) {
        return status;
    }
    status = codec_probe(buf_bytes(&picture->file), &limits, &header, &cause);
    picture->width = header.pixels.width;
    picture->height = header.pixels.height;
    codec_picture_finish(&header);
    return status == ST_OK ? ST_OK : fail(err, ST_ARGUMENT, "%.100s: %.200s", path, cause.text);
}

enum status bench_pictures_init(struct bench_pictures *pictures, int count, char *const *paths,
                                uint64_t largest, struct error *err) {
    enum status status = ST_OK;
    *pictures = (struct bench_pictures){0};
    if (count > BENCH_PICTURES_MAX) {
        return fail(err, ST_ARGUMENT, "--benchmark takes up to %d files", BENCH_PICTURES_MAX);
    }
    for (int i = 0; i < count && status == ST_OK; i++) {
        status = take_file(&pictures->picture[pictures->count++], paths[i], largest, err);
    }
    for (size_t i = 0; count == 0 && i < sizeof sizes / sizeof *sizes && status == ST_OK; i++) {
        status = make(&pictures->picture[pictures->count++], sizes[i][0], sizes[i][1], err);
    }
    return status;
}

void bench_pictures_finish(struct bench_pictures *pictures) {
    for (unsigned i = 0; i < pictures->count; i++) {
        buf_finish(&pictures->picture[i].file);
    }
}
