/* SPDX-License-Identifier: MIT
 * Definition of a filter: name, help, a table of arguments, and a function that makes a plan from arguments.
 * Backends read only the plan, which is plain data. This folder touches no pixels. */
#ifndef BLURD_FILTERS_DEFINITION_H
#define BLURD_FILTERS_DEFINITION_H

#include "core/image.h"
#include "filters/argument/argument.h"
#include "filters/cost.h"

/* What a request is answered with. Only filters that answer pictures can be steps beside others. */
enum filter_answer {
    ANSWER_PICTURE,     /* the result, encoded */
    ANSWER_STATISTICS,  /* JSON; the result holds a struct stats in place of samples */
    ANSWER_PLACEHOLDER, /* JSON; the result is a thumbnail */
    ANSWER_BOXES,       /* the result holds a struct candidates in place of samples */
};

/* Of filters that have none. */
struct none_plan {
    uint8_t unused;
};
struct none_arguments {
    uint8_t unused;
};

/* A picture for the self-test of GPUs, which compares with the CPU. */
struct filter_sample {
    struct image_shape shape;
    const void *arguments; /* NULL ends a list */
    bool masked;
};

/* Sides are odd, so that tiles have edges and tails. */
#define FILTER_SAMPLE_LARGE(pixels, bits)                                                                    \
    { .model = (pixels), .depth = (bits), .width = 193, .height = 101 }
#define FILTER_SAMPLE_SMALL(pixels, bits)                                                                    \
    { .model = (pixels), .depth = (bits), .width = 61, .height = 67 }
#define FILTER_SAMPLE_PLANES                                                                                 \
    {                                                                                                        \
        .model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = 193,            \
        .height = 101                                                                                        \
    }

/* The part of the picture that a filter keeps, for arguments that leave its place to what a detector finds.
 */
struct filter_window {
    /* 1 + the enum detector_id (detect/detectors.h) whose finds decide; 0: none. */
    unsigned (*follows)(const void *arguments);
    /* Sides of the part, in pixels of the source. */
    void (*size)(const void *plan, double size[2]);
    /* Makes the part begin there, x and y, or at the nearest place that pictures of this shape allow. */
    void (*move)(void *plan, const struct image_shape *shape, const double begin[2]);
};

/* Which pixels of its source a pixel of the result depends on, the same along both axes. */
struct filter_reach {
    uint32_t pixels; /* those at most so far away */
    uint32_t grid; /* and all in the same cells: those of this many pixels, from the first one of the picture
                      on. Where in its cell a pixel lies may count, too. At least 1 */
    bool wraps;    /* where it reads beyond a border, it reads the other side */
};

struct filter {
    const char *name; /* POST /NAME is its route */
    const char *help;
    const char *example; /* a query that shows it; NULL: it needs none */
    const struct argument *arguments;
    /* Makes the plan for pictures of this shape: the filter's own struct, all zero before. */
    enum status (*plan)(const void *arguments, const struct image_shape *shape, void *plan,
                        struct error *err);
    /* Finds contradictions between arguments, without a picture. NULL: `plan` finds them with any picture. */
    enum status (*check)(const void *arguments, struct error *err);
    /* Whether planes of PIXEL_YCBCR can be filtered as stored; NULL: never. */
    bool (*planar)(const void *arguments, const struct image_shape *shape);
    /* Changes *shape, that of the source, to that of the result; NULL: they are the same. */
    void (*result)(const void *plan, struct image_shape *shape);
    enum filter_answer answer;
    /* Of filters that keep the place of pixels: what it is enough to filter where a mask keeps the rest
     * (filters/window.h). NULL: any pixel may depend on all others. */
    struct filter_reach (*reach)(const void *plan);
    bool moves; /* gives pixels other places (sizes, turns): it acts on the whole picture, without a mask */
    /* Whether `plan` could have made this plan for a picture of this shape. */
    bool (*valid)(const void *plan, const struct image_shape *shape);
    /* Whether it writes a colour of its own, which has the right value in JPEG's form of YCbCr only; NULL:
     * never. */
    bool (*paints)(const void *arguments);
    /* How redacted regions look: the side of tiles, or 0 for their mean. NULL: the filter takes no redaction.
     */
    uint32_t (*redacts)(const void *arguments);
    const struct filter_window *window; /* NULL: no find decides about its place */
    bool conceals;      /* is for redaction alone: always with mode=redact, and no step of a pipeline */
    bool moves_blocks;  /* can be done with the blocks of a JPEG, in place of pixels */
    float sample_ns[2]; /* on one core, in integers and in floating point */
    bool around;        /* reads neighbouring pixels */
    bool copies;        /* these are samples of the result, not of the source */
    /* In place of these two; `plan` may be NULL. */
    float (*cost)(const void *arguments, const void *plan, const struct cost_shape *shape, bool real);
    float device_sample_ns; /* on a GPU; 0: little beside a JPEG's coding */
    /* Together they launch every kernel but the rarest. NULL: its kernels are another filter's. */
    const struct filter_sample *samples;
};

#endif
