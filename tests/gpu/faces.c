/* SPDX-License-Identifier: MIT
 * Searches against a plain network: for faces with random weights, and with the model FACE_MODEL if it is
 * set; with another network of the patterns that kernels know; and with networks that make maps. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"
#include "detect/faces/faces.h"
#include "detect/plates/plates.h"
#include "detect/text/text.h"
#include "gpu/detect/detect.h"
#include "gpu/filters/gpu_chain.h"
#include "tests/filters/network_fixture.h"
#include "tests/filters/networks.h"
#include "tests/filters/reference/reference_network.h"
#include "tests/gpu/check.h"

enum { UNTOUCHED = 0xa5 /* byte of what kernels do not write */ };

/* A picture, and the sums of all cells or the bytes of the map. */
struct faces_case {
    struct image_shape shape;
    struct image image;
    uint8_t *memory;
    uint32_t width, height; /* with padding */
    int32_t *sums;
};

static const uint32_t sizes[][2] = {{1, 1},    {32, 32},  {33, 65},  {96, 64},  {224, 160},
                                    {319, 97}, {31, 640}, {640, 31}, {288, 128}};

static unsigned sample_at(const struct image *image, unsigned plane, uint32_t x, uint32_t y) {
    const uint8_t *row = plane_row(&image->plane[plane], y);
    return image->depth == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x] >> 8;
}

static uint8_t clamped(int value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* The conversion of filters/detect/detect.h. */
static void to_rgb(const struct image *image, uint32_t x, uint32_t y, uint8_t *rgb) {
    unsigned channels = image->plane[0].channels;
    if (image->model == PIXEL_YCBCR) {
        uint32_t chroma_x = x >> image->plane[1].shift_x, chroma_y = y >> image->plane[1].shift_y;
        int luma = (int)sample_at(image, 0, x, y);
        int cb = (int)sample_at(image, 1, chroma_x, chroma_y) - 128;
        int cr = (int)sample_at(image, 2, chroma_x, chroma_y) - 128;
        rgb[0] = clamped(luma + ((91881 * cr + 32768) >> 16));
        rgb[1] = clamped(luma + ((-22554 * cb - 46802 * cr + 32768) >> 16));
        rgb[2] = clamped(luma + ((116130 * cb + 32768) >> 16));
        return;
    }
    const unsigned alpha =
        image_pixel_has_alpha(image->model) ? sample_at(image, 0, x * channels + channels - 1, y) : 255;
    for (unsigned c = 0; c < 3; c++) {
        const unsigned sample = sample_at(image, 0, x * channels + (channels > 2 ? c : 0), y);
        rgb[c] = (uint8_t)((2 * (sample * alpha + 128 * (255 - alpha)) + 255) / 510);
    }
}

static void make_case(struct check *check, struct faces_case *made, const struct detector *detector,
                      const struct model_weights *weights) {
    size_t size = image_layout(&made->image, &made->shape);
    made->memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    made->width = divide_up(made->shape.width, 32) * 32;
    made->height = divide_up(made->shape.height, 32) * 32;
    uint8_t *rgb = calloc((size_t)made->width * made->height, 3);
    if (!made->memory || !rgb) {
        fprintf(stderr, "check_gpu: no memory\n");
        exit(2);
    }
    image_place(&made->image, made->memory);
    for (size_t i = 0; i < size; i++) {
        made->memory[i] = (uint8_t)check_random(check);
    }
    for (uint32_t y = 0; y < made->shape.height; y++) {
        for (uint32_t x = 0; x < made->shape.width; x++) {
            to_rgb(&made->image, x, y, rgb + 3 * ((size_t)y * made->width + x));
        }
    }
    made->sums = reference_network(weights, detector->output, rgb, (int)made->width, (int)made->height, NULL);
    free(rgb);
}

static int by_value(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

/* A threshold that at most half as many cells pass as there is room for. */
static double threshold_for(const struct faces_case *made, const struct model_weights *weights) {
    const uint32_t cell = (uint32_t)network_cell(weights->network, 0);
    size_t cells = (size_t)(made->width / cell) * (made->height / cell), most = CANDIDATES_MAX / 2;
    if (cells <= most) {
        return 0;
    }
    int32_t *heats = calloc(cells, sizeof *heats);
    for (size_t i = 0; heats && i < cells; i++) {
        heats[i] = made->sums[i * (size_t)weights->network->sums];
    }
    qsort(heats, cells, sizeof *heats, by_value);
    double real = heats[cells - most] * (double)weights->layers[weights->network->layers - 1].scale[0];
    free(heats);
    return 1 / (1 + exp(-real));
}

/* Whether the candidates are the cells of the reference, in order. */
static bool same(const struct faces_case *made, const struct network *network, int32_t least,
                 const struct candidates *got) {
    const uint32_t cell = (uint32_t)network_cell(network, 0), columns = made->width / cell;
    uint32_t count = 0;
    for (uint32_t i = 0; i < columns * (made->height / cell); i++) {
        int32_t sums[CANDIDATES_SUMS] = {0};
        memcpy(sums, made->sums + (size_t)i * (size_t)network->sums, (size_t)network->sums * sizeof *sums);
        if (sums[0] < least) {
            continue;
        }
        const struct candidate *candidate = &got->candidate[count++ % CANDIDATES_MAX];
        if (candidate->x != i % columns || candidate->y != i / columns ||
            memcmp(candidate->sum, sums, sizeof sums) != 0) {
            printf("    cell %u %u is not that of %u %u\n", candidate->x, candidate->y, i % columns,
                   i / columns);
            return false;
        }
    }
    return count == got->count && count <= CANDIDATES_MAX;
}

static void check_candidates(struct check *check, const struct image_shape *shape,
                             const struct detector *detector, const struct model_weights *weights) {
    struct error err = {0};
    struct faces_case made = {.shape = *shape};
    make_case(check, &made, detector, weights);
    struct chain chain = {0};
    const struct detect_arguments arguments = {.wanted = 1u << DETECTOR_FACES,
                                               .threshold = {threshold_for(&made, weights)}};
    check_append(&chain, FILTER_DETECT, &arguments, shape);
    struct image_shape result = chain_result(&chain, shape);
    struct image target;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&target, &result));
    image_place(&target, memory);
    const struct chain_run run = {.chain = &chain, .source = &made.image, .target = &target};
    struct lane_timing timing;
    enum status status = gpu_chain_run(&check->jpeg.stream, &run, &timing, &err);
    const struct candidates *got = (const struct candidates *)(void *)plane_row(&target.plane[0], 0);
    bool right = status == ST_OK &&
                 same(&made, weights->network, detector->least(weights, arguments.threshold[0]), got);
    check->passed += right;
    check->failed += !right;
    if (!right) {
        printf("FAILED %s, model %d, %u bits, chroma %u %u, %ux%u: %s\n", detector->name, (int)shape->model,
               shape->depth, shape->chroma_shift_x, shape->chroma_shift_y, shape->width, shape->height,
               err.text);
    }
    free(memory);
    free(made.memory);
    free(made.sums);
}

/* ---- maps ---- */

/* Runs the network over the case's picture, and fetches the map, which lies in the target's memory. */
static enum status make_map(struct check *check, const struct faces_case *made, const struct image *target,
                            uint8_t *map, size_t size, struct error *err) {
    struct gpu_stream *stream = &check->jpeg.stream;
    struct image layout;
    const struct detect_plan plan = {
        .wanted = 1u << DETECTOR_FACES, .width = made->width, .height = made->height};
    const size_t source_size = image_layout(&layout, &made->shape);
    must(gpu_stream_reserve(stream, &stream->source, source_size, err), err);
    must(gpu_stream_reserve(stream, &stream->target, size, err), err);
    must(gpu_stream_upload(stream, stream->source.data, made->memory, source_size, err), err);
    must(gpu_stream_fill(stream, stream->target.data, UNTOUCHED, size, err), err);
    const struct image source = gpu_chain_image(&made->image, stream->source.data),
                       to = gpu_chain_image(target, stream->target.data);
    enum status status = gpu_detect_steps(stream, &plan, &source, &to, 0, INT_MAX, err);
    status = status == ST_OK ? gpu_stream_download(stream, map, stream->target.data, size, err) : status;
    return gpu_stream_abandon(stream, status);
}

/* Whether the map is that of the reference, and nothing beside it was written. */
static bool same_map(const struct faces_case *made, const struct image *target) {
    const struct plane *plane = &target->plane[0];
    for (uint32_t y = 0; y < target->height; y++) {
        const uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->stride; x++) {
            const int32_t wanted = x < target->width ? made->sums[(size_t)y * target->width + x] : UNTOUCHED;
            if (row[x] != wanted) {
                printf("    %u %u is %u, not %d\n", x, y, row[x], (int)wanted);
                return false;
            }
        }
    }
    return true;
}

static void check_map(struct check *check, const struct image_shape *shape, const struct detector *detector,
                      const struct model_weights *weights) {
    struct error err = {0};
    struct faces_case made = {.shape = *shape};
    struct image target;
    make_case(check, &made, detector, weights);
    const uint32_t cell = (uint32_t)network_cell(weights->network, detector->output);
    const struct image_shape result = {
        .model = PIXEL_GRAY, .depth = 8, .width = made.width / cell, .height = made.height / cell};
    const size_t size = image_layout(&target, &result);
    uint8_t *map = aligned_alloc(IMAGE_ALIGNMENT, size);
    image_place(&target, map);
    const bool right = make_map(check, &made, &target, map, size, &err) == ST_OK && same_map(&made, &target);
    check->passed += right;
    check->failed += !right;
    if (!right) {
        printf("FAILED %s, model %d, %u bits, %ux%u: %s\n", detector->name, (int)shape->model, shape->depth,
               shape->width, shape->height, err.text);
    }
    free(map);
    free(made.memory);
    free(made.sums);
}

static void check_case(struct check *check, const struct image_shape *shape, const struct detector *detector,
                       const struct model_weights *weights) {
    (weights->network->sums > 0 ? check_candidates : check_map)(check, shape, detector, weights);
}

/* Every kind of picture at one size, and every size with one kind. */
static void check_model(struct check *check, struct model *model, bool quick) {
    struct error err = {0};
    const struct model_weights *weights;
    must(model_read(model, &weights, &err), &err);
    must(gpu_detect_open(&check->device, DETECTOR_FACES, model, &err), &err);
    for (size_t i = 0; i < COUNT(sizes) - (quick ? 4 : 0); i++) {
        struct image_shape shape = check_models[1];
        shape.width = sizes[i][0], shape.height = sizes[i][1];
        check_case(check, &shape, model->detector, weights);
    }
    for (size_t i = 0; i < CHECK_MODELS; i++) {
        struct image_shape shape = check_models[i];
        shape.width = 61, shape.height = 35;
        check_case(check, &shape, model->detector, weights);
    }
    if (!quick) {
        struct image_shape shape = check_models[8];
        shape.width = 1920, shape.height = 1080;
        check_case(check, &shape, model->detector, weights);
    }
    gpu_detect_close(&check->device);
}

static struct model given;
static bool is_given;

void check_faces_open(void) {
    struct error err = {0};
    const char *path = getenv("FACE_MODEL");
    is_given = path != NULL;
    if (is_given) {
        must(model_open(&given, &detector_faces, path, &err), &err);
    }
}

static void check_weights(struct check *check, const struct detector *detector, bool quick) {
    struct network_fixture fixture;
    network_fixture_make(&fixture, detector);
    struct model random = {.detector = detector, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    random.weights = fixture.weights;
    check_model(check, &random, quick);
    network_fixture_free(&fixture);
}

/* The made-up network has its candidates' sums alone: no threshold is between them. */
void check_faces(struct check *check, bool quick) {
    check_weights(check, &detector_faces, quick);
    check_weights(check, &networks_blocks, true);
    check_weights(check, &networks_map, quick);
    check_weights(check, &networks_head, quick);
    struct detector text = detector_text; /* its map */
    text.border = text.pixel_least = 0;
    check_weights(check, &text, true);
    struct detector plates = detector_plates;
    plates.border = plates.pixel_least = 0;
    check_weights(check, &plates, true);
    if (is_given) {
        check_model(check, &given, quick);
        model_close(&given);
        is_given = false;
    }
    check_report(check, "faces");
}
