/* SPDX-License-Identifier: MIT */
#include "server/planner/hdr_plan.h"

#include <math.h>
#include <stdlib.h>

#include "codecs/gainmap/gainmap_items.h"
#include "core/numbers.h"
#include "core/orient.h"

enum { SIGMA_LEAST_TENTHS = 1, KERNEL_LEAST = 3, KERNEL_MOST = 99 };

/* How many samples of a map stand for a pixel of a side of the base. */
static double scale_of(uint32_t map, uint32_t base) {
    return (double)map / base;
}

/* The map is never sharper than the base. */
static double larger_scale(const struct image_shape *map, const struct image_shape *base) {
    return fmax(scale_of(map->width, base->width), scale_of(map->height, base->height));
}

/* False when the blur is finer than a sample of the map. */
static bool scale_blur(struct blur_arguments *blur, double scale) {
    blur->sigma *= scale;
    if (blur->kernel_size > 0) {
        int half = (int)ceil(blur->kernel_size / 2 * scale);
        blur->kernel_size = min_i32(max_i32(2 * half + 1, KERNEL_LEAST), KERNEL_MOST);
    }
    return blur->sigma * 10 >= SIGMA_LEAST_TENTHS;
}

/* A part of the base, from `begin` on, becomes `canvas` pixels: the same of the map. */
static struct resize_axis scale_axis(double begin, double size, uint32_t canvas, uint32_t map,
                                     uint32_t base) {
    double scale = scale_of(map, base);
    double wide = size * scale, start = begin * scale;
    uint32_t pixels = max_u32((uint32_t)lrint(canvas * scale), 1);
    wide = fmin(wide, map);
    start = fmin(start, map - wide);
    return (struct resize_axis){
        .scale = wide / pixels, .begin = start, .first = 0, .count = pixels, .canvas = pixels};
}

static bool append_resize(const struct resize_axis *x, const struct resize_axis *y, uint8_t kernel,
                          struct chain *chain) {
    const bool whole =
        x->scale == 1 && y->scale == 1 && x->begin == floor(x->begin) && y->begin == floor(y->begin);
    struct step *step = &chain->step[chain->count++];
    *step = (struct step){.filter = whole ? FILTER_CROP : FILTER_RESIZE};
    if (whole) {
        step->crop = (struct crop_plan){(uint32_t)x->begin, (uint32_t)y->begin, x->canvas, y->canvas};
    } else {
        step->resize = (struct resize_plan){.kernel = kernel, .x = *x, .y = *y};
    }
    return true;
}

static bool append_part(const struct step *step, const struct image_shape *base,
                        const struct image_shape *map, struct chain *chain) {
    struct resize_axis x, y;
    if (step->filter == FILTER_CROP) {
        const struct crop_plan *crop = &step->crop;
        x = scale_axis(crop->x, crop->width, crop->width, map->width, base->width);
        y = scale_axis(crop->y, crop->height, crop->height, map->height, base->height);
        return append_resize(&x, &y, RESIZE_LINEAR, chain);
    }
    const struct resize_plan *resize = &step->resize;
    if (resize_has_background(resize)) {
        return false;
    }
    x = scale_axis(resize->x.begin, resize->x.scale * resize->x.count, resize->x.canvas, map->width,
                   base->width);
    y = scale_axis(resize->y.begin, resize->y.scale * resize->y.count, resize->y.canvas, map->height,
                   base->height);
    return append_resize(&x, &y, resize->kernel, chain);
}

bool hdr_plan_step(const struct work_plan *plan, unsigned index, const struct image_shape *map,
                   struct chain *chain) {
    const struct operation *operation = &plan->parameters->ops.operation[index];
    const struct image_shape base = chain_shape(&plan->chain, &plan->filtered, index);
    const double scale = larger_scale(map, &base);
    union filter_arguments arguments = operation->arguments;
    const struct step *step = &plan->chain.step[index];
    struct error ignored;
    bool any;
    switch (step->filter) {
    case FILTER_CROP:
    case FILTER_RESIZE:
        return append_part(step, &base, map, chain);
    case FILTER_REDACT: /* by server/hdr/hdr_redact.h */
        return true;
    case FILTER_ROTATE:
        chain->step[chain->count++] = *step;
        return true;
    case FILTER_BLUR:
        any = scale_blur(&arguments.blur, scale);
        break;
    case FILTER_SHARPEN:
        any = scale_blur(&arguments.sharpen.blur, scale);
        break;
    case FILTER_PIXELATE:
        arguments.pixelate.block = (int)ceil(arguments.pixelate.block * scale);
        any = arguments.pixelate.block > 1;
        break;
    default: /* defines colours, or chooses pixels by them */
        return false;
    }
    return !any || chain_append(chain, operation->filter, &arguments, map, &ignored) == ST_OK;
}

/* Whether all steps can be done to the map; *most is the size of the largest picture on the way. */
static bool try_steps(const struct work_plan *plan, size_t *most) {
    struct image_shape shape = plan->hdr.upright;
    struct error ignored;
    bool fits = true;
    *most = max_size(plan_shape_size(&plan->hdr.stored), plan_shape_size(&shape));
    for (unsigned i = 0; i < plan->chain.count && fits; i++) {
        struct chain chain = {0};
        fits = hdr_plan_step(plan, i, &shape, &chain) &&
               (chain.count == 0 || chain_check(&chain, &shape, &ignored) == ST_OK);
        shape = fits ? chain_result(&chain, &shape) : shape;
        *most = max_size(*most, plan_shape_size(&shape));
    }
    return fits;
}

/* A map in a JPEG is stretched over its base, one in a HEIF file has its shape, but for a sample. */
static bool suits(const struct image_shape *map, const struct image_shape *base, bool stretched) {
    int64_t difference = (int64_t)map->width * base->height - (int64_t)map->height * base->width;
    return map->width <= base->width && map->height <= base->height &&
           (stretched || (llabs(difference) <= (int64_t)base->width + base->height &&
                          plan_shape_size(map) <= plan_shape_size(base)));
}

/* Limits for the map: those of the base, and no side may be longer than the base's. */
static bool open_map(struct work_plan *plan) {
    struct hdr_decision *hdr = &plan->hdr;
    const struct image_shape *base = &plan->picture.pixels;
    const bool jpeg = plan->picture.codec == CODEC_JPEG;
    struct codec_limits limits = plan->limits;
    limits.max_side = max_u32(base->width, base->height);
    limits.gain_map = !jpeg;
    if (codec_sniff(hdr->map.file) != codec_get(plan->picture.codec) ||
        codec_probe(hdr->map.file, &limits, &hdr->picture, &(struct error){0}) != ST_OK) {
        return false;
    }
    const struct image_shape *shape = &hdr->picture.pixels;
    hdr->stored = *shape;
    hdr->upright = orient_shape(shape, plan->orientation);
    return (shape->model == PIXEL_GRAY || shape->model == PIXEL_RGB) &&
           (shape->depth == 8 || hdr->map.kind == GAINMAP_NUMBERS) && suits(shape, base, jpeg);
}

static const char *refuse(struct work_plan *plan) {
    size_t most;
    static const char *const damage[] = {
        [GAINMAP_NONE] = "it is another picture's, or turned in another way than its base",
        [GAINMAP_DAMAGED] = "its numbers are damaged, or for a base that is HDR itself",
        [GAINMAP_BARE] = "it is Apple's, and its headroom is missing",
        [GAINMAP_APPLE] = NULL,
        [GAINMAP_NUMBERS] = NULL,
    };
    if (damage[plan->hdr.map.kind]) {
        return damage[plan->hdr.map.kind];
    }
    if (plan->selection.redact && plan->parameters->output.hdr != HDR_KEEP) {
        return "it shows what is to be hidden; hdr=keep redacts it";
    }
    if (plan->selection.redact && !plan->selection.wanted) {
        return "all of it is to be hidden";
    }
    if (plan->output != CODEC_JPEG) {
        return "only a JPEG can have one";
    }
    if (plan->encoded.model == PIXEL_GRAY) {
        return "a grey picture has none";
    }
    if (!open_map(plan)) {
        return "it is damaged, of another shape than its base, or larger";
    }
    return try_steps(plan, &most) ? NULL : "the filter defines colours";
}

void hdr_plan_make(struct work_plan *plan) {
    struct hdr_decision *hdr = &plan->hdr;
    if (plan_answer(plan) != ANSWER_PICTURE) {
        return;
    }
    const bool jpeg = plan->picture.codec == CODEC_JPEG;
    if (jpeg) {
        gainmap_find(plan->input, &hdr->map);
    } else if (plan->picture.metadata.gain_map && plan->output == CODEC_JPEG) {
        gainmap_find_item(plan->input, plan->picture.metadata.exif, &hdr->map);
    }
    if (hdr_plan_found(plan) && (jpeg || plan->output == CODEC_JPEG) &&
        plan->parameters->output.hdr != HDR_DROP) {
        hdr->why = refuse(plan);
        hdr->kept = !hdr->why;
    }
}

bool hdr_plan_found(const struct work_plan *plan) {
    return plan->hdr.map.kind != GAINMAP_NONE || plan->picture.metadata.gain_map;
}

size_t hdr_plan_picture_bytes(const struct work_plan *plan) {
    size_t most = 0;
    return plan->hdr.kept && try_steps(plan, &most) ? most : 0;
}

size_t hdr_plan_mask_bytes(const struct work_plan *plan) {
    return plan->hdr.kept ? selection_mask_bytes(&plan->selection, &plan->stored) : 0;
}

size_t hdr_plan_bytes(const struct work_plan *plan, size_t answer) {
    const struct hdr_decision *hdr = &plan->hdr;
    if (!hdr->kept) {
        return 0;
    }
    size_t picture = hdr_plan_picture_bytes(plan);
    size_t codecs = codec_decode_bytes(&hdr->picture, hdr->map.file.size) +
                    codec_encode_bytes(CODEC_JPEG, &hdr->upright, &plan->options);
    return 4 * picture + 2 * hdr_plan_mask_bytes(plan) + codecs + answer;
}
