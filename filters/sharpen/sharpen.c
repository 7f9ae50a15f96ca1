/* SPDX-License-Identifier: MIT */
#include "filters/sharpen/sharpen.h"

#include <math.h>
#include <string.h>

#define AT(member) offsetof(struct sharpen_arguments, member)

static const struct argument sharpen_table[] = {
    {
        .name = "sigma",
        .type = ARGUMENT_REAL,
        .offset = AT(blur.sigma),
        .minimum = 0.1,
        .maximum = 500,
        .initial = 1,
        .unit = " pixels",
        .help = "Standard deviation, in pixels, of the Gaussian that is subtracted: about the width of the "
                "details to sharpen.",
    },
    {
        .name = "amount",
        .type = ARGUMENT_REAL,
        .offset = AT(amount),
        .minimum = 0,
        .maximum = 10,
        .initial = 1,
        .help = "How much of the difference from the blurred picture is added. 0 changes nothing.",
    },
    {
        .name = "threshold",
        .type = ARGUMENT_REAL,
        .offset = AT(threshold),
        .minimum = 0,
        .maximum = 255,
        .initial = 0,
        .unit = " of 255",
        .help = "Samples that differ less than this from the blurred picture stay unchanged, which avoids "
                "sharpening noise. On a scale of 255, at 16 bits too.",
    },
    {
        .name = "edge",
        .type = ARGUMENT_CHOICE,
        .offset = AT(blur.edge),
        .initial = EDGE_CLAMP,
        .choices = edge_names,
        .help = "What lies outside the picture, as for the blur.",
    },
    {.name = NULL},
};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)err; /* all combinations of arguments are valid */
    const struct sharpen_arguments *sharpen = arguments;
    struct sharpen_plan *plan = planned;
    blur_plan_make(&plan->blur, &sharpen->blur, shape);
    plan->amount = (float)sharpen->amount;
    plan->threshold = (float)(sharpen->threshold * image_sample_step(shape));
    return ST_OK;
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct sharpen_plan *sharpen = planned;
    return shape->model != PIXEL_YCBCR && blur_plan_valid(&sharpen->blur, shape) && sharpen->amount >= 0 &&
           sharpen->amount <= 10 && sharpen->threshold >= 0 && sharpen->threshold <= 65535;
}

static struct filter_reach reach(const void *planned) {
    return blur_plan_reach(&((const struct sharpen_plan *)planned)->blur);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct sharpen_arguments){{.sigma = 1.5}, 2, 1}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 16), &(const struct sharpen_arguments){{.sigma = 9}, 1, 0}, true},
    {.arguments = NULL},
};

const struct filter filter_sharpen = {
    .name = "sharpen",
    .help = "Unsharp mask.",
    .example = "sigma=1&amount=1",
    .arguments = sharpen_table,
    .plan = plan,
    .valid = valid,
    .reach = reach,
    .sample_ns = {1, 1.5F},
    .around = true,
    .samples = samples,
};
