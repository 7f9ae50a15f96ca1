/* SPDX-License-Identifier: MIT
 * Components of maps, and searches for text, plates and persons with random weights, against the CPU. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "detect/components.h"
#include "detect/text/text.h"
#include "gpu/detect/components.h"
#include "gpu/detect/detect.h"
#include "gpu/filter.h"
#include "gpu/filters/gpu_chain.h"
#include "tests/filters/network_fixture.h"
#include "tests/gpu/check.h"

enum { TEXT = 1 << DETECTOR_TEXT, PLATES = 1 << DETECTOR_PLATES, PERSONS = 1 << DETECTOR_PERSONS };

static struct candidates got, wanted;

/* Whether the device's candidates, which come in any order behind the last valid one, are those of the CPU.
 */
static void report(struct check *check, enum status status, const char *text, uint32_t width, uint32_t height,
                   const struct error *err) {
    const uint32_t valid = wanted.count <= CANDIDATES_MAX ? wanted.count : 0;
    const bool right = status == ST_OK && got.count == wanted.count &&
                       memcmp(got.candidate, wanted.candidate, valid * sizeof got.candidate[0]) == 0;
    check->passed += right;
    check->failed += !right;
    if (!right) {
        printf("FAILED %s of %ux%u: %u candidates, not %u; %s\n", text, width, height, got.count,
               wanted.count, err->text);
    }
}

/* ---- components ---- */

static enum status find_on_device(struct check *check, const uint8_t *map, int32_t width, int32_t height,
                                  struct components_bounds bounds, struct error *err) {
    struct gpu_stream *stream = &check->jpeg.stream;
    const size_t size = (size_t)width * (size_t)height;
    const size_t begin = bytes_align_up(gpu_components_bytes(width, height), IMAGE_ALIGNMENT);
    CUdeviceptr memory = 0;
    must(gpu_stream_scratch(stream, begin + size, &memory, err), err);
    must(gpu_stream_reserve(stream, &stream->target, sizeof got, err), err);
    must(gpu_stream_upload(stream, memory + begin, map, size, err), err);
    must(gpu_stream_fill(stream, stream->target.data, 0, sizeof got.count, err), err);
    const struct gpu_components components = {.map = memory + begin,
                                              .memory = memory,
                                              .candidates = stream->target.data,
                                              .width = width,
                                              .height = height};
    enum status status = gpu_components_find(stream, &components, bounds, err);
    status =
        status == ST_OK ? gpu_stream_download(stream, &got, stream->target.data, sizeof got, err) : status;
    status = gpu_stream_abandon(stream, status);
    gpu_filter_detect.finish(&got);
    return status;
}

static void check_map(struct check *check, const uint8_t *map, uint32_t width, uint32_t height,
                      struct components_bounds bounds) {
    struct error err = {0};
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, components_bytes(width));
    wanted.count = 0;
    must(components_find(map, width, width, height, bounds, 0, memory, &wanted, &err), &err);
    enum status status = find_on_device(check, map, (int32_t)width, (int32_t)height, bounds, &err);
    report(check, status, "components", width, height, &err);
    free(memory);
}

/* Noise that is sparse, dense, and between; a comb, whose teeth meet in its last row. */
static void check_maps(struct check *check, bool quick) {
    enum { WIDTH = 300, HEIGHT = 200 };
    static uint8_t map[WIDTH * HEIGHT];
    for (unsigned round = 0; round < (quick ? 12 : 60); round++) {
        const uint32_t width = 1 + check_below(check, WIDTH), height = 1 + check_below(check, HEIGHT);
        const unsigned dense = 1 + check_below(check, 99);
        for (uint32_t i = 0; i < width * height; i++) {
            map[i] = (uint8_t)(check_below(check, 100) < dense ? 100 + check_below(check, 156)
                                                               : check_below(check, 100));
        }
        check_map(check, map, width, height,
                  (struct components_bounds){100, round % 2 ? 240 : 100, round % 4 / 2});
    }
    /* Pixels that touch no other: as many components as there is memory for, more than there are candidates.
     */
    for (uint32_t i = 0; i < 299 * 199; i++) {
        map[i] = i % 299 % 2 == 0 && i / 299 % 2 == 0 ? 255 : 0;
    }
    check_map(check, map, 299, 199, (struct components_bounds){1, 255, 0});
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        map[i] = i % 2 == 0 || i / WIDTH == HEIGHT - 1 ? 255 : 0;
    }
    check_map(check, map, WIDTH, HEIGHT, (struct components_bounds){1, 255, 0});
    memset(map, 255, sizeof map);
    check_map(check, map, WIDTH, HEIGHT, (struct components_bounds){1, 1, 1});
    /* Moments that need both of their words, and pixels in between that stand alone. */
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        map[i] = check_below(check, 9) ? 255 : 0;
    }
    check_map(check, map, WIDTH * HEIGHT / 3, 3, (struct components_bounds){1, 1, 1});
    check_map(check, map, 3, WIDTH * HEIGHT / 3, (struct components_bounds){1, 1, 1});
}

/* ---- searches ---- */

static void copy(struct candidates *to, const struct image *result) {
    memcpy(to, plane_row(&result->plane[0], 0), sizeof *to);
}

static void check_search(struct check *check, uint32_t detectors, const struct image_shape *shape,
                         double threshold) {
    struct error err = {0};
    struct image source, target;
    struct chain chain = {0};
    const struct detect_arguments arguments = {.wanted = detectors,
                                               .threshold = {[0 ... DETECTORS - 1] = threshold}};
    check_append(&chain, FILTER_DETECT, &arguments, shape);
    const struct image_shape result = chain_result(&chain, shape);
    const size_t size = image_layout(&source, shape);
    uint8_t *pixels = aligned_alloc(IMAGE_ALIGNMENT, size),
            *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&target, &result));
    for (size_t i = 0; i < size; i++) {
        pixels[i] = (uint8_t)check_random(check);
    }
    image_place(&source, pixels);
    image_place(&target, memory);
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &target};
    struct lane_timing timing;
    must(lane_run(check->reference_lane, &run, &timing, &err), &err);
    copy(&wanted, &target);
    enum status status = gpu_chain_run(&check->jpeg.stream, &run, &timing, &err);
    copy(&got, &target);
    report(check, status,
           detectors == PERSONS  ? "persons"
           : detectors == PLATES ? "plates"
           : detectors == TEXT   ? "text"
                                 : "text and plates",
           shape->width, shape->height, &err);
    free(pixels);
    free(memory);
}

/* Every kind of picture at one size, and every size with one kind. */
static void check_searches(struct check *check, uint32_t detectors, bool quick) {
    static const uint32_t sizes[][2] = {{1, 1}, {17, 40}, {61, 35}, {200, 130}, {640, 360}, {1920, 1080}};
    for (size_t i = 0; i < CHECK_MODELS; i++) {
        struct image_shape shape = check_models[i];
        shape.width = 61, shape.height = 35;
        check_search(check, detectors, &shape, 0.6);
    }
    for (size_t i = 0; i < COUNT(sizes) - (quick ? 3 : 0); i++) {
        struct image_shape shape = check_models[8];
        shape.width = sizes[i][0], shape.height = sizes[i][1];
        check_search(check, detectors, &shape, 0.99);
    }
}

/* Searches of the network of a detector, for each of these sets. */
static void check_network(struct check *check, enum detector_id id, const uint32_t *sets, size_t count,
                          bool quick) {
    struct network_fixture fixture;
    struct error err = {0};
    network_fixture_make(&fixture, detector_get(id));
    struct model random = {
        .detector = detector_get(id), .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    random.weights = fixture.weights;
    cpu_backend_use_model(check->reference, id, &random);
    must(gpu_detect_open(&check->device, id, &random, &err), &err);
    for (size_t i = 0; i < count; i++) {
        check_searches(check, sets[i], quick);
    }
    gpu_detect_close(&check->device);
    network_fixture_free(&fixture);
}

void check_text(struct check *check, bool quick) {
    static const uint32_t texts[] = {TEXT, PLATES, TEXT | PLATES}, persons[] = {PERSONS};
    check_maps(check, quick);
    check_network(check, DETECTOR_TEXT, texts, COUNT(texts), quick);
    check_network(check, DETECTOR_PERSONS, persons, COUNT(persons), quick);
    check_report(check, "text");
}
