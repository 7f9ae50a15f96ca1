/* SPDX-License-Identifier: MIT
 * JPEG to JPEG by way of RGB, beside the CPU's way, to the byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "cpu/linear.h"
#include "cpu/orient.h"
#include "gpu/engine/submitter.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"

enum { QUALITY_IN = 92, QUALITY = 90, ROOM = JPEG_PICTURES_ROOM, FAILURES_SHOWN = 10 };

struct colours_case {
    struct image_shape shape; /* of the planes */
    enum transcode_colours colours;
    enum filter_id filter;
    const void *arguments;
    uint8_t orientation;
};

/* Decodes to RGB and encodes RGB, as a request on the CPU does. */
static struct buf by_cpu(struct check *check, struct bytes file, const struct colours_case *one,
                         const struct chain *chain) {
    static const enum subsampling subsampling[] = {
        [TRANSCODE_RGB_420] = SUBSAMPLING_420,    [TRANSCODE_RGB_422] = SUBSAMPLING_422,
        [TRANSCODE_RGB_444] = SUBSAMPLING_444,    [TRANSCODE_LINEAR_420] = SUBSAMPLING_420,
        [TRANSCODE_LINEAR_422] = SUBSAMPLING_422, [TRANSCODE_LINEAR_444] = SUBSAMPLING_444};
    const struct encode_options options = {.quality = QUALITY, .subsampling = subsampling[one->colours]};
    const struct image_shape read = transcode_read(&one->shape, one->colours),
                             upright = orient_shape(&read, one->orientation),
                             result = chain_result(chain, &upright);
    struct image_shape rgb = read, made = result;
    rgb.depth = made.depth = 8;
    struct jpeg_picture stored = jpeg_pictures_decode(file, &rgb), light = jpeg_pictures_own(&read),
                        source = jpeg_pictures_own(&upright), target = jpeg_pictures_own(&result),
                        encoded = jpeg_pictures_own(&made);
    const bool linear = read.depth == 16;
    const struct run run = {.chain = chain, .source = &source.image, .target = &target.image};
    struct error err = {0};
    struct buf output;
    buf_init(&output, ROOM);
    if (linear) {
        must(linear_from(NULL, 0, &stored.image, &light.image, &err), &err);
    }
    orient_image(linear ? &light.image : &stored.image, one->orientation, &source.image, 0, NULL);
    must(lane_run(check->reference_lane, &run, NULL, &err), &err);
    if (linear) {
        must(linear_to(NULL, 0, &target.image, &encoded.image, &err), &err);
    }
    must(codec_encode(CODEC_JPEG, linear ? &encoded.image : &target.image, &options, NULL, &output, &err),
         &err);
    free(stored.memory);
    free(light.memory);
    free(source.memory);
    free(target.memory);
    free(encoded.memory);
    return output;
}

static void check_one(struct check *check, struct submitter *submitter, const struct colours_case *one) {
    static uint8_t *output;
    const struct image_shape read = transcode_read(&one->shape, one->colours),
                             upright = orient_shape(&read, one->orientation);
    struct jpeg_picture painted = jpeg_pictures_own(&one->shape);
    struct chain chain = {0};
    output = output ? output : malloc(ROOM);
    jpeg_pictures_paint(check, &painted.image);
    check_append(&chain, one->filter, one->arguments, &upright);
    struct buf file = jpeg_pictures_encode(&painted.image, QUALITY_IN, false);
    struct buf expected = by_cpu(check, buf_bytes(&file), one, &chain);
    const struct transcode job = {.chain = &chain,
                                  .shape = one->shape,
                                  .colours = one->colours,
                                  .orientation = one->orientation,
                                  .input = buf_bytes(&file),
                                  .form = TRANSCODE_SCAN,
                                  .output = output,
                                  .room = ROOM,
                                  .quality = QUALITY};
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    must(submitter_run(submitter, &check->jpeg, &job, &size, &timing, &err), &err);
    bool good = size == expected.size && memcmp(output, expected.data, size) == 0;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: in RGB, chroma %u %u, %ux%u, colours %d, orientation %u, %s: %zu bytes, expected "
               "%zu\n",
               one->shape.chroma_shift_x, one->shape.chroma_shift_y, one->shape.width, one->shape.height,
               one->colours, one->orientation, filter_get(one->filter)->name, size, expected.size);
    }
    free(painted.memory);
    buf_finish(&expected);
    buf_finish(&file);
}

/* Every form of chroma to every one, with a sharpening that shows each sample, and to
 * grey where that is not in linear light. */
static void check_size(struct check *check, struct submitter *submitter, const uint32_t size[2]) {
    static const struct sharpen_arguments sharpen = {.blur.sigma = 0.5, .amount = 3};
    static const struct adjust_arguments gray = {
        .brightness = 1, .contrast = 1.3, .saturation = 1, .gamma = 1, .grayscale = 1};
    for (size_t m = 0; m < JPEG_PICTURES_SHAPES; m++) {
        struct colours_case one = {.shape = jpeg_pictures_shape[m]};
        one.shape.width = size[0];
        one.shape.height = size[1];
        for (int colours = TRANSCODE_RGB_420; colours <= TRANSCODE_LINEAR_444; colours++) {
            bool turned = check_below(check, 2);
            one.colours = (enum transcode_colours)colours;
            one.orientation = (uint8_t)(turned ? 1 + check_below(check, 8) : 1);
            one.filter =
                colours > TRANSCODE_RGB_444 || check_below(check, 4) ? FILTER_SHARPEN : FILTER_ADJUST;
            one.arguments = one.filter == FILTER_SHARPEN ? (const void *)&sharpen : &gray;
            if (one.shape.model == PIXEL_YCBCR) {
                check_one(check, submitter, &one);
            }
        }
    }
}

void check_colours(struct check *check, bool quick) {
    /* Of one to three samples of chroma; blocks that the picture fills, and others; large ones. */
    static const uint32_t sizes[][2] = {{1, 1},    {2, 3},       {3, 2},      {4, 4},
                                        {5, 9},    {64, 48},     {63, 47},    {333, 211},
                                        {129, 33}, {1920, 1080}, {1279, 721}, {4001, 333}};
    enum { QUICK = 9 };
    struct submitter *submitter;
    struct error err = {0};
    must(submitter_create(&submitter, &check->device, &err), &err);
    for (size_t s = 0; s < (quick ? QUICK : COUNT(sizes)); s++) {
        check_size(check, submitter, sizes[s]);
    }
    submitter_destroy(submitter);
    check_report(check, "JPEG, in RGB");
}
