/* SPDX-License-Identifier: MIT */
#include "server/message/parameters_detect.h"

#include <string.h>

#include "filters/argument/value.h"

static const char *const shapes[] = {"ellipse", "box", NULL};
static const char *const efforts[] = {"normal", "high", NULL};

static enum status parse_keep(const struct argument *row, const char *text, void *field, struct error *err) {
    return region_keep_parse(field, row->name, text, err);
}

/* "full", or a whole number. */
static enum status parse_size(const struct argument *row, const char *text, void *field, struct error *err) {
    enum { LEAST = 64, MOST = 16384 };
    char quoted[VALUE_QUOTE_MAX];
    double value = 0;
    bool full = strcmp(text, "full") == 0;
    if (!full && (!value_number(text, false, &value) || value < LEAST || value > MOST)) {
        return fail_argument(err, row->name, "%s is %s, it must be full or from %d to %d", row->name,
                             value_quote(text, quoted), LEAST, MOST);
    }
    *(int *)field = full ? DETECT_SIZE_FULL : (int)value;
    return ST_OK;
}

#define AT(member) offsetof(struct parameters, member)

const struct argument parameters_of_detect[] = {
    {.name = "detect",
     .type = ARGUMENT_SET,
     .offset = AT(detect.wanted),
     .choices = detector_choices,
     .help = "What the picture is searched for: a name, or several separated by commas, such as "
             "`faces,text`. A region is added for each one found."},
    {.name = "detect_report",
     .type = ARGUMENT_SWITCH,
     .offset = AT(detect.report),
     .help = "Add the boxes to the answer, as a header for each name in `detect`, such as `X-Faces`."},
    {.name = "detect_shape",
     .type = ARGUMENT_CHOICE,
     .offset = AT(detect.shape),
     .choices = shapes,
     .without = "ellipse for faces",
     .help = "Shape of the region for each: the ellipse that fills its box, or the box. What is no face "
             "fills its box, and is always hidden by it."},
    {.name = "keep",
     .type = ARGUMENT_PARSED,
     .offset = AT(input.keep),
     .parse = parse_keep,
     .most = REGION_KEEP_MAX,
     .form = "a rectangle",
     .example = "0,0,640,80",
     .without = "all that is found is hidden",
     .help = "`x,y,w,h`: what is found in this rectangle, such as a heading or a logo, is no region "
             "there: it is not hidden, and `invert` acts on it. Units are those of `region`, and a "
             "`region` in it is one. Needs `detect`."},
    {0},
};

const struct argument parameters_of_search[] = {
    {.name = "detect_effort",
     .type = ARGUMENT_CHOICE,
     .offset = AT(detect.effort),
     .choices = efforts,
     .help = "`high` searches for faces and plates in pictures of half and of twice the size, too, for "
             "persons in twice the size, and for faces in the mirror image: it takes five to ten times as "
             "long, and finds all that `normal` does; from a threshold of 0.6 on, no further faces and "
             "persons. Needs faces, plates or persons in `detect`."},
    {.name = "detect_grid",
     .type = ARGUMENT_WHOLE,
     .offset = AT(detect.grid),
     .minimum = 1,
     .maximum = 256,
     .initial = 1,
     .without = "16 for text and 8 for plates with `mode=redact`, else 1",
     .unit = " pixels",
     .help = "Edges of boxes are moved outwards to multiples of so many pixels, so that they do not tell "
             "what is within. Above 1, which is the default for text with `mode=redact`, lines of text "
             "also become blocks, whose edges are moved to multiples of 128 pixels at the sides, and of "
             "32 above and below. With 1 boxes fit the lines, also with `mode=redact`."},
    {.name = "detect_margin",
     .type = ARGUMENT_REAL,
     .offset = AT(detect.margin),
     .minimum = 0,
     .maximum = 500,
     .initial = DETECT_MARGIN_USUAL,
     .without = "20 for faces and plates, 10 for codes and persons, 0 for text",
     .unit = " percent",
     .help = "Percent of its width and height by which a box grows on each side. `/detect` answers "
             "boxes without a margin if none is given."},
    {.name = "detect_size",
     .type = ARGUMENT_PARSED,
     .offset = AT(detect.size),
     .parse = parse_size,
     .form = "a size",
     .example = "640",
     .without = "1920 for faces, 1280 for persons, else `full`",
     .help = "The longest side of the picture that is searched, 64 to 16384 pixels: a larger picture is "
             "shrunk to it, so that small things are missed sooner. `full` searches it as it is."},
    {.name = "detect_threshold",
     .type = ARGUMENT_PARSED,
     .offset = AT(detect.threshold),
     .parse = thresholds_parse,
     .form = "a score",
     .example = "text:0.7,0.4",
     .without = "0.3 for faces and persons, 0.6 for text, 0.5 for codes and plates",
     .help = "Least score, 0.05 to 0.95, of all that `detect` names, or of some: `plates:0.3,text:0.7`; a "
             "number alone beside them is that of the others. Lower values find more, and more that is "
             "something else. That of faces is for hiding: `0.5` is usual elsewhere."},
    {.name = "except",
     .type = ARGUMENT_PARSED,
     .offset = AT(input.except),
     .parse = parse_keep,
     .most = REGION_KEEP_MAX,
     .form = "a rectangle",
     .example = "300,100,160,160",
     .without = "all that is found counts",
     .help = "`x,y,w,h`: of what each detector finds the one that overlaps this rectangle best is left out, "
             "if half of it lies in it, and it is a third as large: one face of all. Needs `detect`."},
    {0},
};
