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
    bool optimal;
    bool progressive; /* its coefficients are handed over */
};

/* What the CPU makes. */
struct made {
    struct jpeg_picture source, target; /* upright, and filtered */
    struct buf file;
};

static void made_free(struct made *made) {
    free(made->source.memory);
    free(made->target.memory);
    buf_finish(&made->file);
}

/* Decodes to RGB and encodes RGB, as a request on the CPU does. */
static struct made by_cpu(struct check *check, struct bytes file, const struct colours_case *one,
                          const struct chain *chain) {
    static const enum subsampling subsampling[] = {
        [TRANSCODE_RGB_420] = SUBSAMPLING_420,    [TRANSCODE_RGB_422] = SUBSAMPLING_422,
        [TRANSCODE_RGB_444] = SUBSAMPLING_444,    [TRANSCODE_LINEAR_420] = SUBSAMPLING_420,
        [TRANSCODE_LINEAR_422] = SUBSAMPLING_422, [TRANSCODE_LINEAR_444] = SUBSAMPLING_444};
    const struct encode_options options = {
        .quality = QUALITY, .subsampling = subsampling[one->colours], .optimal = one->optimal};
    const struct image_shape read = transcode_read(&one->shape, one->colours),
                             upright = orient_shape(&read, one->orientation),
                             result = chain_result(chain, &upright);
    struct image_shape rgb = read, made = result;
    rgb.depth = made.depth = 8;
    struct jpeg_picture stored = jpeg_pictures_decode(file, &rgb), light = jpeg_pictures_own(&read),
                        source = jpeg_pictures_own(&upright), target = jpeg_pictures_own(&result),
                        encoded = jpeg_pictures_own(&made);
    const bool linear = read.depth == 16;
    const struct chain_run run = {.chain = chain, .source = &source.image, .target = &target.image};
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
    free(encoded.memory);
    return (struct made){source, target, output};
}

static void report_case(struct check *check, const struct colours_case *one, bool good, const char *what) {
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf(
            "  FAILED: %s, chroma %u %u, %ux%u, colours %d, orientation %u, %s, optimal %d, progressive %d\n",
            what, one->shape.chroma_shift_x, one->shape.chroma_shift_y, one->shape.width, one->shape.height,
            one->colours, one->orientation, filter_get(one->filter)->name, one->optimal, one->progressive);
    }
}

static bool gives(struct check *check, struct submitter *submitter, const struct transcode *job,
                  struct bytes expected) {
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    must(submitter_run(submitter, &check->jpeg, job, &size, &timing, &err), &err);
    return size == expected.size && memcmp(job->output, expected.data, size) == 0;
}

/* The file's pixels, filtered; and the file that is made of pixels. */
static void check_halves(struct check *check, struct submitter *submitter, const struct colours_case *one,
                         const struct transcode *whole, const struct made *made) {
    const struct image_shape upright = image_shape(&made->source.image);
    struct transcode first = *whole, second = *whole;
    struct image result = made->target.image;
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    bool good = true;
    const struct image_shape shape = image_shape(&result);
    first.pixels = true;
    first.room = image_layout(&result, &shape);
    image_place(&result, first.output);
    must(submitter_run(submitter, &check->jpeg, &first, &size, &timing, &err), &err);
    for (uint32_t y = 0; y < result.height; y++) {
        good = good && memcmp(plane_row(&result.plane[0], y), plane_row(&made->target.image.plane[0], y),
                              plane_row_bytes(&result.plane[0], result.depth)) == 0;
    }
    report_case(check, one, good, "pixels of a JPEG");
    if (upright.depth == 8) {
        struct image layout;
        second.form = TRANSCODE_PIXELS;
        second.shape = upright;
        second.orientation = 1;
        second.input = (struct bytes){made->source.memory, image_layout(&layout, &upright)};
        report_case(check, one, gives(check, submitter, &second, buf_bytes(&made->file)), "a JPEG of pixels");
    }
}

static void check_one(struct check *check, struct submitter *submitter, const struct colours_case *one) {
    static uint8_t *output;
    const struct image_shape read = transcode_read(&one->shape, one->colours),
                             upright = orient_shape(&read, one->orientation);
    struct jpeg_picture painted = jpeg_pictures_own(&one->shape);
    struct chain chain = {0};
    output = output ? output : aligned_alloc(IMAGE_ALIGNMENT, ROOM);
    jpeg_pictures_paint(check, &painted.image);
    check_append(&chain, one->filter, one->arguments, &upright);
    struct buf file = one->progressive ? jpeg_pictures_progressive(&painted.image, QUALITY_IN)
                                       : jpeg_pictures_encode(&painted.image, QUALITY_IN, false);
    const struct bytes handed =
        one->progressive ? jpeg_pictures_hand_over(buf_bytes(&file), &one->shape) : (struct bytes){0};
    struct made made = by_cpu(check, buf_bytes(&file), one, &chain);
    const struct transcode job = {.chain = &chain,
                                  .shape = one->shape,
                                  .colours = one->colours,
                                  .orientation = one->orientation,
                                  .input = one->progressive ? handed : buf_bytes(&file),
                                  .form = one->progressive ? TRANSCODE_COEFFICIENTS : TRANSCODE_SCAN,
                                  .optimal = one->optimal,
                                  .output = output,
                                  .room = ROOM,
                                  .quality = QUALITY};
    report_case(check, one, gives(check, submitter, &job, buf_bytes(&made.file)), "a JPEG in RGB");
    if (!one->progressive) {
        check_halves(check, submitter, one, &job, &made);
    }
    free((void *)(uintptr_t)handed.data);
    free(painted.memory);
    made_free(&made);
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
            one.optimal = check_below(check, 2);
            one.progressive = check_below(check, 3) == 0;
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
