/* SPDX-License-Identifier: MIT */
#include "filters/backend.h"

enum status lane_create(struct backend *backend, struct lane **lane, struct error *err) {
    *lane = NULL;
    return backend->ops->lane_create(backend, lane, err);
}

void lane_destroy(struct lane *lane) {
    if (lane) {
        lane->backend->ops->lane_destroy(lane);
    }
}

void backend_close(struct backend *backend) {
    if (backend) {
        backend->ops->close(backend);
    }
}

/* Whether the planes are those of image_layout() for the image's own shape, and have memory. Strides may be
 * larger. */
static bool laid_out(const struct image *image) {
    if ((image->depth != 8 && image->depth != 16) || image->model > PIXEL_YCBCR ||
        image->plane_count != (image->model == PIXEL_YCBCR ? IMAGE_PLANES_MAX : 1)) {
        return false;
    }
    if (image->width == 0 || image->height == 0) {
        return false;
    }
    struct image_shape shape = image_shape(image);
    struct image expected;
    if (shape.chroma_shift_x > 2 || shape.chroma_shift_y > 2 || image_layout(&expected, &shape) == 0) {
        return false;
    }
    for (unsigned i = 0; i < image->plane_count; i++) {
        const struct plane *have = &image->plane[i];
        const struct plane *want = &expected.plane[i];
        if (!have->data || have->width != want->width || have->height != want->height ||
            have->channels != want->channels || have->shift_x != want->shift_x ||
            have->shift_y != want->shift_y || have->stride < want->stride || have->stride % IMAGE_ALIGNMENT ||
            (uintptr_t)have->data % IMAGE_ALIGNMENT) {
            return false;
        }
    }
    return true;
}

static bool planes_overlap(const struct plane *a, const struct plane *b) {
    uintptr_t a_start = (uintptr_t)a->data;
    uintptr_t b_start = (uintptr_t)b->data;
    return a_start < b_start + b->height * b->stride && b_start < a_start + a->height * a->stride;
}

static bool images_overlap(const struct image *a, const struct image *b) {
    for (unsigned i = 0; i < a->plane_count; i++) {
        for (unsigned j = 0; j < b->plane_count; j++) {
            if (planes_overlap(&a->plane[i], &b->plane[j])) {
                return true;
            }
        }
    }
    return false;
}

static enum backend_state ask(struct backend *backend, bool await, char reason[BACKEND_REASON_MAX]) {
    if (reason) {
        reason[0] = '\0';
    }
    return backend->ops->state ? backend->ops->state(backend, await, reason) : BACKEND_SERVING;
}

enum backend_state backend_state(struct backend *backend, char reason[BACKEND_REASON_MAX]) {
    return ask(backend, false, reason);
}

enum backend_state backend_await(struct backend *backend, char reason[BACKEND_REASON_MAX]) {
    return ask(backend, true, reason);
}

static enum status check_mask(const struct chain_run *run, struct error *err) {
    const struct image *mask = run->mask;
    if (!laid_out(mask) || mask->model != PIXEL_GRAY || mask->depth != 8 ||
        mask->width != run->source->width || mask->height != run->source->height) {
        return fail(err, ST_INTERNAL, "the mask does not fit the picture");
    }
    if (images_overlap(mask, run->source) || images_overlap(mask, run->target)) {
        return fail(err, ST_INTERNAL, "the mask overlaps a picture");
    }
    return ST_OK;
}

static enum status check_run(const struct chain_run *run, struct error *err) {
    if (!laid_out(run->source) || !laid_out(run->target)) {
        return fail(err, ST_INTERNAL, "a picture is not laid out");
    }
    struct image_shape shape = image_shape(run->source);
    enum status status = chain_check(run->chain, &shape, err);
    if (status != ST_OK) {
        return status;
    }
    struct image_shape wanted = chain_result(run->chain, &shape);
    struct image_shape got = image_shape(run->target);
    if (!image_same_shape(&wanted, &got)) {
        return fail(err, ST_INTERNAL, "the target has not the shape of the result");
    }
    if (images_overlap(run->source, run->target)) {
        return fail(err, ST_INTERNAL, "source and target overlap");
    }
    if (run->mask && !chain_takes_mask(run->chain, &shape)) {
        return fail(err, ST_INTERNAL, "the mask cannot follow the pixels that a step moves");
    }
    return run->mask ? check_mask(run, err) : ST_OK;
}

enum status lane_run(struct lane *lane, const struct chain_run *run, struct lane_timing *timing,
                     struct error *err) {
    enum status status = check_run(run, err);
    if (status == ST_OK && !lane->backend->ops->produces) {
        status = producer_make(run->producer, err);
    }
    if (status != ST_OK) {
        return status;
    }
    struct lane_timing ignored;
    timing = timing ? timing : &ignored;
    *timing = (struct lane_timing){.unit = -1};
    return lane->backend->ops->lane_run(lane, run, timing, err);
}

size_t backend_run_bytes(const struct backend *backend, const struct chain *chain,
                         const struct image_shape *shape, unsigned threads) {
    return backend->ops->run_bytes ? backend->ops->run_bytes(backend, chain, shape, threads) : 0;
}

unsigned backend_transcodes(struct backend *backend) {
    return backend->ops->transcodes ? backend->ops->transcodes(backend) : 0;
}

enum status lane_transcode(struct lane *lane, const struct transcode *job, size_t *size,
                           struct lane_timing *timing, struct error *err) {
    const struct backend_ops *ops = lane->backend->ops;
    if (!ops->lane_transcode) {
        return fail(err, ST_UNSUPPORTED, "%s has no codecs of its own", lane->backend->name);
    }
    *size = 0;
    *timing = (struct lane_timing){.unit = -1};
    return ops->lane_transcode(lane, job, size, timing, err);
}

struct image_shape transcode_read(const struct image_shape *stored, enum transcode_colours colours) {
    struct image_shape shape = *stored;
    if (colours != TRANSCODE_PLANES && shape.model == PIXEL_YCBCR) {
        shape.model = PIXEL_RGB;
        shape.depth = colours >= TRANSCODE_LINEAR_420 ? 16 : 8;
        shape.chroma_shift_x = shape.chroma_shift_y = 0;
    }
    return shape;
}

struct image_shape transcode_written(const struct image_shape *result, enum transcode_colours colours) {
    struct image_shape shape = *result;
    if (colours != TRANSCODE_PLANES && shape.model == PIXEL_RGB) {
        shape.model = PIXEL_YCBCR;
        shape.depth = 8;
        shape.chroma_shift_x = colours != TRANSCODE_RGB_444 && colours != TRANSCODE_LINEAR_444;
        shape.chroma_shift_y = colours == TRANSCODE_RGB_420 || colours == TRANSCODE_LINEAR_420;
    }
    return shape;
}
