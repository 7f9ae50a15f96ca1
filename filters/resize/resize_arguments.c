/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "filters/argument/colour.h"
#include "filters/argument/value.h"
#include "filters/resize/resize.h"

#define AT(member) offsetof(struct resize_arguments, member)

static const char *const fits[] = {"inside", "contain", "cover", "fill", "outside", NULL};
static const char *const shrinks[] = {"exact", "fast", NULL};
static const char *const kernels[] = {"lanczos3", "mitchell", "cubic", "linear", "nearest", "area", NULL};

static enum status parse_blur(const struct argument *row, const char *text,
                              struct resize_background *background, struct error *err) {
    double sigma;
    if (!value_number(text, true, &sigma) || sigma < 0.1 || sigma > 500) {
        char buffer[VALUE_QUOTE_MAX];
        return fail_argument(err, row->name, "%s is blur of sigma %s, it must be from 0.1 to 500 pixels",
                             row->name, value_quote(text, buffer));
    }
    *background = (struct resize_background){.given = true, .ground = RESIZE_GROUND_BLUR, .sigma = sigma};
    return ST_OK;
}

/* A colon ends the argument of a step, so that there sigma follows a comma. */
static enum status parse_background(const struct argument *row, const char *text, void *field,
                                    struct error *err) {
    struct resize_background *background = field;
    struct resize_background colour = {.given = true, .ground = RESIZE_GROUND_COLOUR};
    if (strncmp(text, "blur:", 5) == 0 || strncmp(text, "blur,", 5) == 0) {
        return parse_blur(row, text + 5, background, err);
    }
    if (colour_parse(text, colour.colour)) {
        *background = colour;
        return ST_OK;
    }
    char buffer[VALUE_QUOTE_MAX];
    return fail_argument(err, row->name,
                         "%s is %s, it must be a colour as #rrggbb or #rrggbbaa, or blur:sigma", row->name,
                         value_quote(text, buffer));
}

const struct argument resize_argument_table[] = {
    {
        .name = "width",
        .type = ARGUMENT_WHOLE,
        .offset = AT(width),
        .minimum = 1,
        .maximum = RESIZE_SIDE_MAX,
        .unit = " pixels",
        .without = "follows from the height",
        .help = "Width of the result, or of the box that `fit` fits the picture to.",
    },
    {
        .name = "height",
        .type = ARGUMENT_WHOLE,
        .offset = AT(height),
        .minimum = 1,
        .maximum = RESIZE_SIDE_MAX,
        .unit = " pixels",
        .without = "follows from the width",
        .help = "Height of the result or of the box.",
    },
    {
        .name = "scale",
        .type = ARGUMENT_REAL,
        .offset = AT(scale),
        .minimum = 0.001,
        .maximum = 100,
        .without = "width and height count",
        .help = "Factor for both sides, instead of `width` and `height`. Above 1 it takes `enlarge=true`.",
    },
    {
        .name = "fit",
        .type = ARGUMENT_CHOICE,
        .offset = AT(fit),
        .initial = RESIZE_INSIDE,
        .choices = fits,
        .help = "How the picture meets a box of `width` and `height`: `inside` makes it as large as fits, "
                "`contain` also fills the rest of the box with `background`, `cover` cuts off what exceeds "
                "the box, `fill` stretches it, `outside` makes it just large enough to cover the box.",
    },
    {
        .name = "kernel",
        .type = ARGUMENT_CHOICE,
        .offset = AT(kernel),
        .initial = RESIZE_LANCZOS3,
        .choices = kernels,
        .help = "How samples are weighted: from the sharpest, `lanczos3`, over `cubic` (Catmull-Rom), "
                "`mitchell` and `linear` to `area` (means) and `nearest` (no weights).",
    },
    {
        .name = "shrink",
        .type = ARGUMENT_CHOICE,
        .offset = AT(shrink),
        .initial = RESIZE_EXACT,
        .choices = shrinks,
        .help = "Whether a JPEG is decoded whole (`exact`) or, where the resize shrinks it to a quarter or "
                "less, at a half, a quarter or an eighth of its size (`fast`). It is the first step then.",
    },
    {
        .name = "gravity",
        .type = ARGUMENT_PARSED,
        .offset = AT(gravity),
        .form = "a place",
        .example = "north",
        .without = "the middle",
        .parse = gravity_parse,
        .help =
            "Says which part `fit=cover` keeps, and where `fit=contain` puts the picture: `center`, `north`, "
            "`northeast`, `east`, `southeast`, `south`, `southwest`, `west`, `northwest`, or a point as "
            "parts of width and height, `0.3,0.7`. With `fit=cover`, for `faces` or `persons` the picture is "
            "searched, "
            "and keep the part that shows most of them, or the middle if none is found.",
    },
    {
        .name = "enlarge",
        .type = ARGUMENT_SWITCH,
        .offset = AT(enlarge),
        .help = "Whether a picture may become larger than it is.",
    },
    {
        .name = "background",
        .type = ARGUMENT_PARSED,
        .offset = AT(background),
        .form = "a colour or a blur",
        .example = "#ffffff",
        .without = "black",
        .parse = parse_background,
        .help = "What surrounds the picture with `fit=contain`: a colour as `#rrggbb` or `#rrggbbaa` (`#` is "
                "`%23` in "
                "a query, and may be left out), or `blur:SIGMA`, the picture itself, which covers the canvas "
                "and is blurred. In a pipeline it is `blur,SIGMA`.",
    },
    {.name = NULL},
};
