/* SPDX-License-Identifier: MIT
 * JPEG to JPEG on the GPU, beside the CPU's way, to the byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "cpu/orient.h"
#include "gpu/engine/submitter.h"
#include "gpu/jpeg/decode.h"
#include "gpu/jpeg/huffman_sync.h"
#include "gpu/stream/buffer.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"

enum { QUALITY_IN = 92, QUALITY = 85, ROOM = JPEG_PICTURES_ROOM, FAILURES_SHOWN = 10 };

static bool same_planes(const struct image *a, const struct image *b) {
    for (unsigned p = 0; p < a->plane_count; p++) {
        const struct plane *plane = &a->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            if (memcmp(plane_row(plane, y), plane_row(&b->plane[p], y), plane->width) != 0) {
                return false;
            }
        }
    }
    return true;
}

static struct buf by_cpu(struct check *check, struct bytes file, const struct chain *chain,
                         const struct image_shape *shape, uint8_t orientation, bool optimal) {
    struct image_shape upright = orient_shape(shape, orientation), result = chain_result(chain, &upright);
    struct jpeg_picture stored = jpeg_pictures_decode(file, shape), source = jpeg_pictures_own(&upright),
                        target = jpeg_pictures_own(&result);
    const struct chain_run run = {.chain = chain, .source = &source.image, .target = &target.image};
    struct error err = {0};
    orient_image(&stored.image, orientation, &source.image, 0, NULL);
    must(lane_run(check->reference_lane, &run, NULL, &err), &err);
    struct buf output = jpeg_pictures_encode(&target.image, QUALITY, optimal);
    free(stored.memory);
    free(source.memory);
    free(target.memory);
    return output;
}

/* Decodes by the kernels into `to`. */
static enum status kernels_decode(struct jpeg_stream *jpeg, struct bytes file, const struct jpeg_picture *to,
                                  struct error *err) {
    const struct image_shape shape = image_shape(&to->image);
    struct image image;
    struct gpu_stream *stream = &jpeg->stream;
    size_t size = image_layout(&image, &shape);
    must(gpu_stream_reserve(stream, &stream->source, size, err), err);
    image_place(&image, (uint8_t *)(uintptr_t)stream->source.data);
    enum status status = huffman_sync_parse(&jpeg->sync, stream, file, &shape, err);
    if (status != ST_OK) {
        return status;
    }
    must(gpu_decode_reserve(&jpeg->decode, stream, &jpeg->sync, err), err);
    must(huffman_sync_begin(&jpeg->sync, stream, file, err), err);
    must(gpu_decode_begin(&jpeg->decode, stream, &jpeg->sync, &image, err), err);
    must(CUDA_TRY(stream->device->cuda, err, cuMemcpyDtoHAsync, to->memory, stream->source.data, size,
                  stream->handle),
         err);
    must(CUDA_TRY(stream->device->cuda, err, cuStreamSynchronize, stream->handle), err);
    return huffman_sync_end(&jpeg->sync, err);
}

/* The bytes equal those of the CPU's codec. */
static void check_decoding(struct check *check, struct bytes file, const struct jpeg_picture *painted,
                           unsigned quality) {
    const struct image_shape shape = image_shape(&painted->image);
    struct jpeg_picture expected = jpeg_pictures_decode(file, &shape), got = jpeg_pictures_own(&shape);
    struct error err = {0};
    bool good =
        kernels_decode(&check->jpeg, file, &got, &err) == ST_OK && same_planes(&got.image, &expected.image);
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: decoding, model %d, chroma %u %u, %ux%u, quality %u: %s\n", shape.model,
               shape.chroma_shift_x, shape.chroma_shift_y, shape.width, shape.height, quality, err.text);
    }
    free(expected.memory);
    free(got.memory);
}

static void check_decodings(struct check *check, const struct image_shape *shape) {
    static const unsigned qualities[] = {20, 85, 98};
    for (size_t i = 0; i < COUNT(qualities); i++) {
        struct jpeg_picture painted = jpeg_pictures_own(shape);
        jpeg_pictures_paint(check, &painted.image);
        struct buf file = jpeg_pictures_encode(&painted.image, qualities[i], i % 2);
        check_decoding(check, buf_bytes(&file), &painted, qualities[i]);
        buf_finish(&file);
        free(painted.memory);
    }
}

static void check_one(struct check *check, struct submitter *submitter, const struct image_shape *shape,
                      uint8_t orientation, const struct chain *chain, const char *text) {
    static uint8_t *output;
    bool optimal = check_below(check, 2);
    output = output ? output : malloc(ROOM);
    struct jpeg_picture painted = jpeg_pictures_own(shape);
    jpeg_pictures_paint(check, &painted.image);
    bool progressive = check_below(check, 3) == 0; /* its coefficients are handed over */
    struct buf file = progressive ? jpeg_pictures_progressive(&painted.image, QUALITY_IN)
                                  : jpeg_pictures_encode(&painted.image, QUALITY_IN, false);
    struct buf expected = by_cpu(check, buf_bytes(&file), chain, shape, orientation, optimal);
    struct bytes handed = {0};
    if (progressive) {
        handed = jpeg_pictures_hand_over(buf_bytes(&file), shape);
    }

    struct transcode job = {.chain = chain,
                            .shape = *shape,
                            .orientation = orientation,
                            .input = progressive ? handed : buf_bytes(&file),
                            .form = progressive ? TRANSCODE_COEFFICIENTS : TRANSCODE_SCAN,
                            .output = output,
                            .room = ROOM,
                            .quality = QUALITY,
                            .optimal = optimal};
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    must(submitter_run(submitter, &check->jpeg, &job, &size, &timing, &err), &err);
    bool good = size == expected.size && memcmp(output, expected.data, size) == 0;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: JPEG, model %d, chroma %u %u, %ux%u, %s, optimal %d, progressive %d: %zu bytes, "
               "expected %zu\n",
               shape->model, shape->chroma_shift_x, shape->chroma_shift_y, shape->width, shape->height, text,
               optimal, progressive, size, expected.size);
    }
    free((void *)(uintptr_t)handed.data);
    free(painted.memory);
    buf_finish(&expected);
    buf_finish(&file);
}

static void damaged(struct check *check, struct submitter *submitter, bool quick) {
    const struct image_shape shape = {.model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1,
                                      .width = quick ? 160 : 640,
                                      .height = quick ? 120 : 480};
    struct jpeg_picture painted = jpeg_pictures_own(&shape);
    jpeg_pictures_paint(check, &painted.image);
    struct buf file = jpeg_pictures_encode(&painted.image, QUALITY_IN, false);
    check_damage(check, submitter, &file, &shape, quick);
    buf_finish(&file);
    free(painted.memory);
}

/* Chains of one to three steps, which end in different buffers. The last step changes the size. */
static void check_turned(struct check *check, struct submitter *submitter, struct image_shape shape,
                         uint32_t width, uint32_t height) {
    const struct blur_arguments arguments = {.sigma = 3};
    const struct resize_arguments smaller = {.scale = 0.4};
    shape.width = width;
    shape.height = height;
    for (uint8_t orientation = 2; orientation <= 8; orientation++) {
        struct image_shape upright = orient_shape(&shape, orientation);
        struct chain chain = {0};
        char text[64];
        for (unsigned steps = 1; steps <= 3 && orient_is_exact(&shape, orientation); steps++) {
            snprintf(text, sizeof text, "orientation %u, %u steps", orientation, steps);
            if (steps <= 2) {
                check_append(&chain, FILTER_BLUR, &arguments, &upright);
            } else {
                check_append(&chain, FILTER_RESIZE, &smaller, &upright);
            }
            check_one(check, submitter, &shape, orientation, &chain, text);
        }
    }
}

static void check_orientations(struct check *check, struct submitter *submitter, bool quick) {
    static const struct image_shape models[] = {
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
        {.model = PIXEL_YCBCR, .depth = 8},
        {.model = PIXEL_GRAY, .depth = 8},
    };
    for (size_t m = 0; m < COUNT(models); m++) {
        check_turned(check, submitter, models[m], 250, 126);
        check_turned(check, submitter, models[m], 101, 63);
        if (!quick) {
            check_turned(check, submitter, models[m], 4000, 30); /* the shapes differ in memory */
            check_turned(check, submitter, models[m], 1920, 1080);
        }
    }
    check_report(check, "JPEG, turned");
}

/* To sizes that end within blocks, smaller and larger, alone and before a blur of the result. */
static void check_resized(struct check *check, struct submitter *submitter, const struct image_shape *shape) {
    static const double scales[] = {0.03, 0.21, 0.5, 0.99, 1.7};
    const struct blur_arguments blur = {.sigma = 1.5};
    for (size_t i = 0; i < COUNT(scales); i++) {
        const struct resize_arguments resize = {
            .scale = scales[i], .kernel = (int)check_below(check, RESIZE_KERNELS), .enlarge = true};
        struct chain chain = {0};
        char text[48];
        snprintf(text, sizeof text, "scale %g, kernel %d", scales[i], resize.kernel);
        check_append(&chain, FILTER_RESIZE, &resize, shape);
        check_one(check, submitter, shape, 1, &chain, text);
        check_append(&chain, FILTER_BLUR, &blur, shape);
        check_one(check, submitter, shape, 1, &chain, text);
    }
}

void check_jpeg(struct check *check, bool quick) {
    static const struct image_shape models[] = {
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
        {.model = PIXEL_GRAY, .depth = 8},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
        {.model = PIXEL_YCBCR, .depth = 8},
    };
    static const uint32_t sizes[][2] = {{64, 48},     {127, 65},   {333, 211}, {1279, 721},
                                        {1920, 1080}, {640, 2000}, {4001, 333}};
    static const double sigmas[] = {1.5, 5, 20, 100};
    struct submitter *submitter;
    struct error err = {0};
    must(submitter_create(&submitter, &check->device, &err), &err);
    for (size_t m = 0; m < COUNT(models); m++) {
        for (size_t s = 0; s < (quick ? 3 : COUNT(sizes)); s++) {
            struct image_shape shape = models[m];
            shape.width = sizes[s][0];
            shape.height = sizes[s][1];
            check_decodings(check, &shape);
            for (size_t i = 0; i < COUNT(sigmas); i++) {
                struct chain chain = {0};
                char text[32];
                const struct blur_arguments arguments = {.sigma = sigmas[i]};
                snprintf(text, sizeof text, "sigma %g", sigmas[i]);
                check_append(&chain, FILTER_BLUR, &arguments, &shape);
                check_one(check, submitter, &shape, 1, &chain, text);
            }
            check_resized(check, submitter, &shape);
        }
    }
    check_orientations(check, submitter, quick);
    damaged(check, submitter, quick);
    submitter_destroy(submitter);
    check_report(check, "JPEG");
}
