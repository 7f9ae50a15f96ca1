/* SPDX-License-Identifier: MIT
 * JPEG to JPEG with regions, redaction and weights on the GPU, beside the CPU's way, to the byte. The job may
 * begin with the picture that a search for faces has left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "cpu/mask/mask_list.h"
#include "cpu/mask/redact.h"
#include "filters/argument/colour.h"
#include "gpu/detect/detect.h"
#include "gpu/engine/submitter.h"
#include "tests/filters/network_fixture.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"

enum { QUALITY = 85, FAILURES_SHOWN = 10, REGIONS = 12, RECTS = 1 << 15, LOOK = 8, LARGE = 100000 };

/* One way to use regions. */
struct way {
    bool invert, redact, weighs, looks;
    bool patch; /* blocks that are not touched stay */
    struct fill fill;
    double feather;
};

struct subject {
    struct check *check;
    struct submitter *submitter;
    struct image_shape shape;
    struct way way;
    struct region_set set;
    struct chain chain;
    struct buf file;
    struct jpeg_picture weights;
};

/* ---- by the CPU ---- */

static void keep_touched(const struct image *soft, const struct image *hard) {
    for (uint32_t y = 0; y < hard->height; y++) {
        uint8_t *row = plane_row(&soft->plane[0], y);
        for (uint32_t x = 0; x < hard->width; x++) {
            row[x] |= plane_row(&hard->plane[0], y)[x] && !row[x];
        }
    }
}

static struct mask_options options_of(const struct subject *subject) {
    struct mask_options options = {
        .invert = subject->way.invert, .outward = subject->way.redact, .over = subject->way.weighs};
    mask_plan_grid(&subject->shape, &options.grid.width, &options.grid.height);
    return options;
}

static void redact(const struct subject *subject, const struct image *picture, const struct image *mask,
                   const struct image *spare) {
    const struct mask_options options = options_of(subject);
    const struct redact_options how = {.fill = subject->way.fill,
                                       .invert = subject->way.invert,
                                       .drawn = subject->way.weighs ? mask : NULL,
                                       .block = subject->way.looks ? LOOK : 0,
                                       .grid = options.grid};
    struct error err = {0};
    must(redact_image(picture, &subject->set, &how, spare, &err), &err);
}

static struct buf by_cpu(struct subject *subject) {
    const struct image_shape shape = subject->shape, mask_shape = mask_plan_shape(&shape);
    struct jpeg_picture source = jpeg_pictures_decode(buf_bytes(&subject->file), &shape);
    struct jpeg_picture target = jpeg_pictures_own(&shape);
    struct jpeg_picture mask = jpeg_pictures_own(&mask_shape), soft = jpeg_pictures_own(&mask_shape);
    const struct mask_options options = options_of(subject);
    struct mask_report report;
    struct error err = {0};
    struct chain_run run = {
        .chain = &subject->chain, .source = &source.image, .target = &target.image, .mask = &mask.image};
    if (subject->way.weighs) {
        memcpy(mask.memory, subject->weights.memory, image_layout(&(struct image){0}, &mask_shape));
    }
    must(mask_draw(&mask.image, &subject->set, &options, &report, &err), &err);
    if (subject->way.redact && report.covered > 0) {
        redact(subject, &source.image, &mask.image, &soft.image);
    }
    if (subject->way.feather > 0) {
        const struct mask_feathering how = {.feather = subject->way.feather,
                                            .lane = subject->check->reference_lane};
        must(mask_feather(&how, &mask.image, &soft.image, &report, &err), &err);
        run.mask = &soft.image;
        if (subject->way.redact) {
            keep_touched(&soft.image, &mask.image);
        }
    }
    must(lane_run(subject->check->reference_lane, &run, NULL, &err), &err);
    struct buf output = subject->way.patch
                            ? jpeg_pictures_patch(buf_bytes(&subject->file), &target.image, run.mask)
                            : jpeg_pictures_encode(&target.image, QUALITY, false);
    free(source.memory);
    free(target.memory);
    free(mask.memory);
    free(soft.memory);
    return output;
}

/* ---- by the GPU ---- */

static void plan_fill(const struct subject *subject, struct mask_plan *plan) {
    uint16_t colour[4] = {0};
    colour_samples(subject->way.fill.colour, &subject->shape, colour);
    plan->fill = subject->way.fill.kind;
    for (unsigned i = 0; i < COUNT(plan->colour); i++) {
        plan->colour[i] = (uint8_t)colour[i];
    }
}

static void plan_mask(const struct subject *subject, struct transcode_mask *mask) {
    static struct mask_plan_rect rects[RECTS];
    const struct way *way = &subject->way;
    const struct mask_options options = options_of(subject);
    bool several = way->redact && !way->invert && !way->weighs;
    struct mask_list list = {.rect = rects, .room = RECTS};
    struct mask_report report;
    struct error err = {0};
    must(mask_list(&list, &subject->set, &subject->shape, &options, several, &report, &err), &err);
    if (several && way->fill.kind == FILL_RING) {
        must(mask_list_rings(&list, subject->set.count, &subject->shape, &err), &err);
    }
    bool nothing = list.count == 0 && !way->invert && !way->weighs;
    *mask = (struct transcode_mask){.rects = rects, .weights = way->weighs ? subject->weights.memory : NULL};
    mask->plan = (struct mask_plan){.masks = 1,
                                    .redaction = !way->redact || nothing ? MASK_PLAN_KEEP
                                                 : several               ? MASK_PLAN_REGIONS
                                                                         : MASK_PLAN_INSIDE,
                                    .invert = way->invert,
                                    .weighs = way->weighs,
                                    .rects = list.count,
                                    .rings = list.rings,
                                    .look = way->looks ? LOOK : 0,
                                    .feather = way->feather};
    plan_fill(subject, &mask->plan);
    mask->plan.regions = mask->plan.redaction == MASK_PLAN_REGIONS ? subject->set.count : 0;
    must(mask_plan_check(&mask->plan, &subject->shape, &err), &err);
}

static void search(struct subject *subject, uint64_t *picture) {
    static _Alignas(IMAGE_ALIGNMENT) struct candidates candidates;
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {1}};
    struct error err = {0};
    struct lane_timing timing;
    struct chain chain = {0};
    size_t size;
    check_append(&chain, FILTER_DETECT, &arguments, &subject->shape);
    const struct transcode job = {.chain = &chain,
                                  .shape = subject->shape,
                                  .orientation = 1,
                                  .quality = QUALITY,
                                  .input = buf_bytes(&subject->file),
                                  .output = (uint8_t *)&candidates,
                                  .room = sizeof candidates,
                                  .picture = picture};
    must(submitter_run(subject->submitter, &subject->check->jpeg, &job, &size, &timing, &err), &err);
}

static void check_one(struct subject *subject, bool searched) {
    static uint8_t *output;
    static uint64_t pictures;
    struct check *check = subject->check;
    struct transcode_mask mask;
    struct lane_timing timing;
    struct error err = {0};
    size_t size = 0;
    struct buf expected = by_cpu(subject);
    uint64_t picture = ++pictures;
    output = output ? output : malloc(JPEG_PICTURES_ROOM);
    plan_mask(subject, &mask);
    if (searched) {
        search(subject, &picture);
    }
    const struct transcode job = {.chain = &subject->chain,
                                  .shape = subject->shape,
                                  .orientation = 1,
                                  .quality = QUALITY,
                                  .patch = subject->way.patch,
                                  .mask = &mask,
                                  .input = buf_bytes(&subject->file),
                                  .output = output,
                                  .room = JPEG_PICTURES_ROOM,
                                  .picture = &picture};
    bool kept = jpeg_stream_keeps(&check->jpeg, &job);
    must(submitter_run(subject->submitter, &check->jpeg, &job, &size, &timing, &err), &err);
    bool good = size == expected.size && memcmp(output, expected.data, size) == 0 && kept == searched;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        const struct way *way = &subject->way;
        printf("  FAILED: mask, model %d, chroma %u %u, %ux%u, invert %d, redact %d, weights %d, look %d, "
               "feather %g, patch %d, fill %d, searched %d: %zu bytes, expected %zu\n",
               subject->shape.model, subject->shape.chroma_shift_x, subject->shape.chroma_shift_y,
               subject->shape.width, subject->shape.height, way->invert, way->redact, way->weighs, way->looks,
               way->feather, way->patch, way->fill.kind, searched, size, expected.size);
    }
    buf_finish(&expected);
}

/* ---- all ways ---- */

static void add_region(struct check *check, struct region_set *set, const struct image_shape *shape) {
    char text[200];
    struct error err = {0};
    unsigned width = shape->width, height = shape->height;
    unsigned x = check_below(check, width), y = check_below(check, height);
    unsigned form = check_below(check, 3), most = check_below(check, 2) ? 1 : 8;
    if (form < 2) {
        snprintf(text, sizeof text, "%s%u.3,%u.7,%u.5,%u", form ? "ellipse:" : "", x, y,
                 1 + check_below(check, width / most), 1 + check_below(check, height / most));
    } else {
        snprintf(text, sizeof text, "polygon:%u,%u,%u,%u.25,%u.5,%u,%u,%u.75", x, y,
                 check_below(check, width), check_below(check, height), check_below(check, width), height + 1,
                 width + 1, check_below(check, height));
    }
    must(region_parse(set, text, &err), &err);
}

static void check_ways(struct subject *subject, bool searched) {
    static const double feathers[] = {0, 0.7, 9, 60};
    static const struct fill fills[] = {{FILL_RING, {0, 0, 0, 255}, 0},
                                        {FILL_RING, {0, 0, 0, 255}, 0},
                                        {FILL_MEAN, {0}, 0},
                                        {FILL_COLOUR, {200, 90, 30, 255}, 0}};
    const bool large = subject->shape.width * subject->shape.height > LARGE;
    for (unsigned i = 0; i < (large ? 16 : 32); i++) {
        subject->way = (struct way){.invert = i & 1,
                                    .redact = i & 2,
                                    .weighs = i & 4,
                                    .looks = i & 8,
                                    .patch = large ? check_below(subject->check, 2) : i & 16,
                                    .fill = fills[check_below(subject->check, COUNT(fills))],
                                    .feather = feathers[check_below(subject->check, COUNT(feathers))]};
        subject->set = (struct region_set){0};
        bool alone = subject->way.weighs && check_below(subject->check, 2); /* the weights */
        for (unsigned n = alone ? 0 : check_below(subject->check, REGIONS); n > 0; n--) {
            add_region(subject->check, &subject->set, &subject->shape);
        }
        check_one(subject, searched && i % 4 == 0);
    }
}

/* Of any quality, with restart markers or without. */
static struct buf make_file(struct check *check, const struct image *image) {
    static const unsigned qualities[] = {25, 70, 92, 92, 97, 100}, intervals[] = {0, 0, 1, 3, 7, 100};
    struct buf file =
        jpeg_pictures_encode(image, qualities[check_below(check, COUNT(qualities))], check_below(check, 2));
    unsigned interval = intervals[check_below(check, COUNT(intervals))];
    if (interval > 0) {
        struct buf restarted = jpeg_pictures_restart(buf_bytes(&file), interval);
        buf_finish(&file);
        file = restarted;
    }
    return file;
}

static void check_shape(struct subject *subject, bool searched) {
    struct check *check = subject->check;
    const struct image_shape mask = mask_plan_shape(&subject->shape);
    const struct pixelate_arguments tiles = {.block = 8};
    const struct blur_arguments blur = {.sigma = 2.5};
    struct jpeg_picture painted = jpeg_pictures_own(&subject->shape);
    jpeg_pictures_paint(check, &painted.image);
    subject->file = make_file(check, &painted.image);
    subject->weights = jpeg_pictures_own(&mask);
    for (uint32_t y = 0; y < mask.height; y++) {
        for (uint32_t x = 0; x < mask.width; x++) {
            bool none = (x / 40 + y / 40) % 2 || x < mask.width / 4 || x > mask.width / 2 ||
                        y < mask.height / 4 || y > mask.height / 2;
            unsigned value = none ? 0 : check_below(check, 600);
            plane_row(&subject->weights.image.plane[0], y)[x] = (uint8_t)(value > 255 ? 255 : value);
        }
    }
    subject->chain.count = 0;
    check_append(&subject->chain, FILTER_PIXELATE, &tiles, &subject->shape);
    if (check_below(check, 2)) {
        check_append(&subject->chain, FILTER_BLUR, &blur, &subject->shape);
    }
    check_ways(subject, searched);
    buf_finish(&subject->file);
    free(subject->weights.memory);
    free(painted.memory);
}

void check_masks(struct check *check, bool quick) {
    static const struct image_shape models[] = {
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
        {.model = PIXEL_GRAY, .depth = 8},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
        {.model = PIXEL_YCBCR, .depth = 8},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
        {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    };
    static const uint32_t sizes[][2] = {{64, 48},    {127, 65},    {333, 211},
                                        {1279, 721}, {1920, 1080}, {4001, 333}};
    struct subject subject = {.check = check};
    struct error err = {0};
    struct network_fixture fixture;
    network_fixture_make(&fixture, &detector_faces);
    struct model model = {
        .detector = &detector_faces, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    model.weights = fixture.weights;
    must(gpu_detect_open(&check->device, DETECTOR_FACES, &model, &err), &err);
    must(submitter_create(&subject.submitter, &check->device, &err), &err);
    for (size_t m = 0; m < COUNT(models); m++) {
        for (size_t s = 0; s < (quick ? 2 : COUNT(sizes)); s++) {
            subject.shape = models[m];
            subject.shape.width = sizes[s][0];
            subject.shape.height = sizes[s][1];
            check_shape(&subject, !quick || s == 0);
        }
    }
    submitter_destroy(subject.submitter);
    gpu_detect_close(&check->device);
    network_fixture_free(&fixture);
    check_report(check, "masks");
}
