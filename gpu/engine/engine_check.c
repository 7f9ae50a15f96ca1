/* SPDX-License-Identifier: MIT */
#include "gpu/engine/engine_check.h"

#include "core/jpeg/coefficients.h"
#include "core/orient.h"
#include "gpu/engine/jpeg_stream.h"

struct piece {
    uint64_t at, size;
};

static bool in_slot(struct piece piece, const struct wire_run *run) {
    return piece.size > 0 && piece.at <= run->slot_span && piece.size <= run->slot_span - piece.at;
}

static bool picture_in_slot(struct piece piece, const struct wire_run *run) {
    return in_slot(piece, run) && piece.at % IMAGE_ALIGNMENT == 0;
}

static bool apart(struct piece a, struct piece b) {
    return a.at + a.size <= b.at || b.at + b.size <= a.at;
}

static enum status check_pieces(const struct wire_run *run, struct engine_pictures *pictures,
                                struct error *err) {
    struct image_shape result = chain_result(&run->chain, &run->shape);
    struct image_shape coverage = {
        .model = PIXEL_GRAY, .depth = 8, .width = run->shape.width, .height = run->shape.height};
    struct piece source = {run->source, image_layout(&pictures->source, &run->shape)};
    struct piece target = {run->target, image_layout(&pictures->target, &result)};
    struct piece mask = {run->mask, image_layout(&pictures->mask, &coverage)};
    if (!picture_in_slot(source, run) || !picture_in_slot(target, run) || !apart(source, target)) {
        return fail(err, ST_INTERNAL, "the pictures do not lie in the slot");
    }
    if (run->mask != WIRE_NO_MASK && !chain_takes_mask(&run->chain, &run->shape)) {
        return fail(err, ST_INTERNAL, "the mask cannot follow the pixels that a step moves");
    }
    if (run->mask != WIRE_NO_MASK &&
        (!picture_in_slot(mask, run) || !apart(mask, source) || !apart(mask, target))) {
        return fail(err, ST_INTERNAL, "the mask does not lie in the slot");
    }
    return ST_OK;
}

static enum status check_shape(const struct image_shape *shape, struct error *err) {
    if (shape->model > PIXEL_YCBCR || (shape->depth != 8 && shape->depth != 16) || shape->width == 0 ||
        shape->height == 0 || shape->chroma_shift_x > 2 || shape->chroma_shift_y > 2 ||
        (shape->model == PIXEL_YCBCR && shape->depth != 8)) {
        return fail(err, ST_INTERNAL, "the picture's shape is out of bounds");
    }
    return ST_OK;
}

enum status engine_check_pixels(const struct wire_run *run, struct engine_pictures *pictures,
                                struct error *err) {
    enum status status = check_shape(&run->shape, err);
    status = status == ST_OK ? chain_check(&run->chain, &run->shape, err) : status;
    return status == ST_OK ? check_pieces(run, pictures, err) : status;
}

static bool is_jpeg_shape(const struct image_shape *shape) {
    return shape->depth == 8 && (shape->model == PIXEL_YCBCR || shape->model == PIXEL_GRAY);
}

static bool are_coefficients(const struct wire_run *run) {
    struct coefficients_layout layout;
    return coefficients_lay_out(&run->shape, &layout) && run->jpeg.size == coefficients_size(&layout) &&
           run->source % IMAGE_ALIGNMENT == 0;
}

/* The list of rectangles and the weights lie apart from what is written; kernels check the rectangles. */
static enum status check_jpeg_mask(const struct wire_run *run, struct error *err) {
    const struct wire_transcode *jpeg = &run->jpeg;
    const struct mask_plan *plan = &jpeg->plan;
    struct image layout;
    struct image_shape shape = mask_plan_shape(&run->shape);
    struct image_shape upright = orient_shape(&run->shape, jpeg->orientation);
    enum status status = mask_plan_check(plan, &run->shape, err);
    if (status != ST_OK) {
        return status;
    }
    struct piece target = {run->target, jpeg->room};
    struct piece rects = {jpeg->rects, mask_plan_list_bytes(plan)};
    struct piece weights = {run->mask, image_layout(&layout, &shape)};
    if (plan->weighs != (run->mask != WIRE_NO_MASK) || chain_searches(&run->chain) ||
        (plan->masks && !chain_takes_mask(&run->chain, &upright))) {
        return fail(err, ST_INTERNAL, "the mask and the run contradict each other");
    }
    bool inside = (plan->rects == 0 || (in_slot(rects, run) && apart(rects, target))) &&
                  (!plan->weighs || (picture_in_slot(weights, run) && apart(weights, target)));
    return inside ? ST_OK : fail(err, ST_INTERNAL, "the mask does not lie in the slot");
}

/* The blocks of the result are those of the file, and nothing changes where the mask is 0. */
static bool may_patch(const struct wire_run *run) {
    const struct wire_transcode *jpeg = &run->jpeg;
    return jpeg->masked && jpeg->plan.masks && jpeg->orientation == 1 &&
           chain_masked(&run->chain) == run->chain.count;
}

/* RGB is made of YCbCr, or decoded already. */
static bool colours_fit(const struct wire_run *run) {
    const struct wire_transcode *jpeg = &run->jpeg;
    return jpeg->colours == TRANSCODE_PLANES ||
           (jpeg->form == TRANSCODE_PIXELS
                ? jpeg->colours <= TRANSCODE_RGB_444
                : jpeg->colours <= TRANSCODE_LINEAR_444 && run->shape.model == PIXEL_YCBCR);
}

static bool are_pixels(const struct wire_run *run) {
    struct image layout;
    return run->shape.depth == 8 && (run->shape.model == PIXEL_GRAY || run->shape.model == PIXEL_RGB) &&
           run->jpeg.size == image_layout(&layout, &run->shape) && run->source % IMAGE_ALIGNMENT == 0 &&
           run->jpeg.orientation == 1 && !run->jpeg.pixels;
}

/* For a valid chain: only the chain reads RGB and pixels, and makes pixels. There is no mask, no search, and
 * no block is kept. */
static bool is_plain(const struct wire_run *run) {
    const struct wire_transcode *jpeg = &run->jpeg;
    bool planes = jpeg->colours == TRANSCODE_PLANES && jpeg->form != TRANSCODE_PIXELS && !jpeg->pixels;
    return planes || (!jpeg->masked && !jpeg->patch && !chain_searches(&run->chain));
}

static enum status check_numbers(const struct wire_run *run, struct error *err) {
    const struct wire_transcode *jpeg = &run->jpeg;
    if (jpeg->orientation < 1 || jpeg->orientation > 8 || jpeg->quality < 1 || jpeg->quality > 100 ||
        jpeg->masked > 1 || jpeg->optimal > 1 || jpeg->patch > 1 || jpeg->pixels > 1 ||
        jpeg->form > TRANSCODE_PIXELS ||
        !(jpeg->form == TRANSCODE_PIXELS ? are_pixels(run) : is_jpeg_shape(&run->shape))) {
        return fail(err, ST_INTERNAL, "a number of the JPEG is out of bounds");
    }
    struct piece source = {run->source, jpeg->size}, target = {run->target, jpeg->room};
    if (!in_slot(source, run) || !in_slot(target, run) || !apart(source, target)) {
        return fail(err, ST_INTERNAL, "the JPEGs do not lie in the slot");
    }
    if (jpeg->form == TRANSCODE_COEFFICIENTS && !are_coefficients(run)) {
        return fail(err, ST_INTERNAL, "the coefficients are not those of the picture");
    }
    return colours_fit(run)
               ? ST_OK
               : fail(err, ST_INTERNAL, "the run and the colours of the JPEG contradict each other");
}

/* `made` is what the chain makes. */
static enum status check_result(const struct wire_run *run, const struct image_shape *made,
                                struct error *err) {
    const struct wire_transcode *jpeg = &run->jpeg;
    const struct image_shape result = transcode_written(made, (enum transcode_colours)jpeg->colours);
    bool aligned = run->target % IMAGE_ALIGNMENT == 0;
    struct image layout;
    if (chain_searches(&run->chain)) {
        bool fits = jpeg->room >= sizeof(struct candidates) && aligned;
        return fits ? ST_OK : fail(err, ST_INTERNAL, "there is no room for candidates");
    }
    if (jpeg->pixels) {
        bool fits = jpeg->room == image_layout(&layout, made) && aligned;
        return fits ? ST_OK : fail(err, ST_INTERNAL, "there is no room for the picture");
    }
    if (jpeg->patch && (!may_patch(run) || !image_same_shape(&result, &run->shape))) {
        return fail(err, ST_INTERNAL, "no blocks can be kept");
    }
    return is_jpeg_shape(&result) ? ST_OK : fail(err, ST_INTERNAL, "the result is no picture for a JPEG");
}

enum status engine_check_jpeg(const struct wire_run *run, struct error *err) {
    const struct wire_transcode *jpeg = &run->jpeg;
    enum status status = check_shape(&run->shape, err);
    status = status == ST_OK ? check_numbers(run, err) : status;
    if (status != ST_OK) {
        return status;
    }
    struct image_shape stored = transcode_read(&run->shape, (enum transcode_colours)jpeg->colours);
    struct image_shape upright = orient_shape(&stored, jpeg->orientation);
    status = chain_check(&run->chain, &upright, err);
    if (status == ST_OK && !is_plain(run)) {
        return fail(err, ST_INTERNAL, "something but the chain reads RGB or pixels");
    }
    if (status == ST_OK && jpeg->masked) {
        status = check_jpeg_mask(run, err);
    }
    if (status != ST_OK) {
        return status;
    }
    const struct image_shape made = chain_result(&run->chain, &upright);
    return check_result(run, &made, err);
}
