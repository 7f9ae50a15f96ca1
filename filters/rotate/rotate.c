/* SPDX-License-Identifier: MIT */
#include "filters/rotate/rotate.h"

#include "core/orient.h"

static const char *const angles[] = {"auto", "0", "90", "180", "270", NULL};
static const char *const flips[] = {"none", "horizontal", "vertical", "both", NULL};

static const struct argument rotate_table[] = {
    {.name = "angle",
     .type = ARGUMENT_CHOICE,
     .offset = offsetof(struct rotate_arguments, angle),
     .choices = angles,
     .help = "Degrees by which the picture is turned clockwise. `auto` is 90, or 0 if it is flipped."},
    {.name = "flip",
     .type = ARGUMENT_CHOICE,
     .offset = offsetof(struct rotate_arguments, flip),
     .choices = flips,
     .help = "Mirrors the turned picture: `horizontal` exchanges left and right, `vertical` top and "
             "bottom."},
    {.name = NULL},
};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    static const uint8_t turns[] = {[ROTATE_0] = 1, [ROTATE_90] = 6, [ROTATE_180] = 3, [ROTATE_270] = 8};
    static const uint8_t mirrors[] = {
        [ROTATE_UNFLIPPED] = 1, [ROTATE_HORIZONTAL] = 2, [ROTATE_VERTICAL] = 4, [ROTATE_BOTH] = 3};
    (void)shape;
    (void)err; /* all arguments go together */
    const struct rotate_arguments *rotate = arguments;
    int usual = rotate->flip == ROTATE_UNFLIPPED ? ROTATE_90 : ROTATE_0;
    int angle = rotate->angle == ROTATE_AUTO ? usual : rotate->angle;
    ((struct rotate_plan *)planned)->orientation = orient_compose(turns[angle], mirrors[rotate->flip]);
    return ST_OK;
}

/* Planes that exchange different reductions would have a subsampling that few decoders know. */
static bool fits_planes(uint8_t orientation, const struct image_shape *shape) {
    bool alike = shape->chroma_shift_x == shape->chroma_shift_y || !orient_turn(orientation).transpose;
    return shape->model != PIXEL_YCBCR || (alike && orient_is_exact(shape, orientation));
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    struct rotate_plan planned;
    plan(arguments, shape, &planned, NULL);
    return fits_planes((uint8_t)planned.orientation, shape);
}

static void result(const void *planned, struct image_shape *shape) {
    *shape = orient_shape(shape, (uint8_t)((const struct rotate_plan *)planned)->orientation);
}

static bool valid(const void *planned, const struct image_shape *shape) {
    uint32_t orientation = ((const struct rotate_plan *)planned)->orientation;
    return orientation >= 1 && orientation <= 8 && fits_planes((uint8_t)orientation, shape);
}

const struct filter filter_rotate = {
    .name = "rotate",
    .help = "Turned by quarters, mirrored.",
    .example = "angle=90",
    .arguments = rotate_table,
    .plan = plan,
    .planar = planar,
    .result = result,
    .moves = true,
    .valid = valid,
    .moves_blocks = true,
    .sample_ns = {0.6F, 1.1F},
};
