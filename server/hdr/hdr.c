/* SPDX-License-Identifier: MIT */
#include "server/hdr/hdr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/gainmap/gainmap_apple.h"
#include "codecs/gainmap/gainmap_write.h"
#include "codecs/metadata/losses.h"
#include "core/numbers.h"
#include "cpu/mask/mask.h"
#include "cpu/orient.h"
#include "filters/backend.h"
#include "server/hdr/hdr_mask.h"
#include "server/hdr/hdr_redact.h"
#include "server/picture/selection.h"
#include "server/planner/hdr_plan.h"
#include "server/queue/workers.h"
#include "server/request.h"
#include "server/service.h"

enum {
    QUALITY = 95,            /* of the map, as libultrahdr 1.4 writes it */
    FEATHER_LEAST_TENTHS = 2 /* of mask_feather */
};

/* A map that is being made. */
struct hdr_work {
    struct request *request;
    struct work_plan *plan;
    struct worker *worker;
    struct error *err;
    uint8_t *memory[4]; /* heap: two pictures, two masks of the map */
    uint8_t *base[2];   /* heap: two masks of the base, where regions are wanted */
    unsigned at;        /* the memory that holds the picture */
    struct image picture, mask;
    bool masked;
};

static uint8_t *take(size_t size) {
    return aligned_alloc(IMAGE_ALIGNMENT, size);
}

static enum status take_memory(struct hdr_work *work) {
    size_t picture = hdr_plan_picture_bytes(work->plan), mask = hdr_plan_mask_bytes(work->plan);
    bool all = true;
    for (unsigned i = 0; i < 4 && all; i++) {
        all = (work->memory[i] = take(picture)) != NULL;
    }
    for (unsigned i = 0; i < 2 && mask > 0 && all; i++) {
        all = (work->base[i] = take(mask)) != NULL;
    }
    return all ? ST_OK : fail(work->err, ST_BUSY, "out of memory for the gain map");
}

static void place(struct image *image, const struct image_shape *shape, uint8_t *memory) {
    image_layout(image, shape);
    image_place(image, memory);
}

/* Gives the samples of an Apple's map the meaning of its numbers. */
static void code_anew(const struct image *map, const struct gainmap_numbers *numbers) {
    uint8_t level[GAINMAP_LEVELS];
    gainmap_apple_levels(numbers, level);
    for (uint32_t y = 0; y < map->height; y++) {
        uint8_t *row = plane_row(&map->plane[0], y);
        for (size_t x = 0; x < (size_t)map->width * map->plane[0].channels; x++) {
            row[x] = level[row[x]];
        }
    }
}

static enum status decode(struct hdr_work *work) {
    const struct hdr_decision *hdr = &work->plan->hdr;
    const struct codec_limits limits = {.max_pixels = work->plan->limits.max_pixels,
                                        .max_side = work->plan->limits.max_side,
                                        .max_scans = work->plan->limits.max_scans,
                                        .max_memory = work->plan->limits.max_memory,
                                        .local_blocks = work->plan->limits.local_blocks,
                                        .gain_map = hdr->picture.codec != CODEC_JPEG,
                                        .first_frame = work->plan->limits.first_frame,
                                        .link = work->plan->limits.link,
                                        .deadline_ns = work->plan->limits.deadline_ns};
    place(&work->picture, &hdr->stored, work->memory[0]);
    enum status status = codec_decode(hdr->map.file, &hdr->picture, &limits, &work->picture, work->err);
    if (status == ST_OK && hdr->map.kind == GAINMAP_APPLE) {
        code_anew(&work->picture, &hdr->map.numbers);
    }
    return status;
}

/* Draws the regions over the base as it is stored, all that redaction hides where it does, and reduces them
 * to the map. */
static enum status draw(struct hdr_work *work) {
    struct work_plan *plan = work->plan;
    struct selection selection = plan->selection;
    struct mask_report report;
    const struct mask_options options = {.invert = plan->parameters->input.invert,
                                         .outward = selection.redact,
                                         .over = selection.part.input.data,
                                         .grid = selection_blocks(&plan->picture, selection.interpolated),
                                         .deadline_ns = plan->limits.deadline_ns};
    const struct image_shape base = selection_mask_shape(&plan->stored);
    const struct image_shape map = selection_mask_shape(&plan->hdr.stored);
    place(&selection.mask, &base, work->base[0]);
    place(&selection.spare, &base, work->base[1]);
    enum status status = options.over ? selection_read_part(&selection, work->err) : ST_OK;
    status = status == ST_OK ? mask_draw(&selection.mask, &selection.region, &options, &report, work->err)
                             : status;
    place(&work->mask, &map, work->memory[2]);
    if (status == ST_OK) {
        hdr_mask_reduce(&selection.mask, selection.redact, &work->mask);
    }
    if (status == ST_OK && selection.redact) {
        status = hdr_redact(&plan->hdr, &work->mask, &work->picture, plan->limits.deadline_ns, work->err);
    }
    work->masked = true;
    return status;
}

/* Turns picture or mask as the base was turned. */
static enum status turn(struct hdr_work *work, struct image *image, uint8_t *memory) {
    const struct image stored = *image;
    const struct image_shape shape = image_shape(&stored);
    const struct image_shape upright = orient_shape(&shape, work->plan->orientation);
    place(image, &upright, memory);
    return orient_image(&stored, work->plan->orientation, image, work->plan->limits.deadline_ns, work->err);
}

static enum status turn_all(struct hdr_work *work) {
    enum status status = turn(work, &work->picture, work->memory[1]);
    work->at = 1;
    if (status == ST_OK && work->masked) {
        status = turn(work, &work->mask, work->memory[3]);
        uint8_t *other = work->memory[2];
        work->memory[2] = work->memory[3], work->memory[3] = other;
    }
    return status;
}

static enum status soften(struct hdr_work *work) {
    const struct image_shape shape = image_shape(&work->mask), base = work->plan->upright;
    double scale = max_double((double)shape.width / base.width, (double)shape.height / base.height);
    const struct mask_feathering how = {
        .feather = work->plan->parameters->input.feather * scale,
        .lane = work->worker->lane[work->request->service->backend_count - 1],
        .deadline_ns = work->plan->limits.deadline_ns,
    };
    struct mask_report report;
    struct image soft;
    if (how.feather * 10 < FEATHER_LEAST_TENTHS) {
        return ST_OK;
    }
    place(&soft, &shape, work->memory[3]);
    enum status status = mask_feather(&how, &work->mask, &soft, &report, work->err);
    work->mask = soft;
    return status;
}

static enum status run_chain(struct hdr_work *work, const struct chain *chain, bool masked) {
    const struct image_shape shape = image_shape(&work->picture), result = chain_result(chain, &shape);
    struct lane_timing timing = {0};
    struct image target;
    if (chain->count == 0) {
        return ST_OK;
    }
    place(&target, &result, work->memory[!work->at]);
    const struct chain_run run = {.chain = chain,
                                  .source = &work->picture,
                                  .target = &target,
                                  .mask = masked ? &work->mask : NULL,
                                  .deadline_ns = work->plan->limits.deadline_ns};
    enum status status =
        lane_run(work->worker->lane[work->request->service->backend_count - 1], &run, &timing, work->err);
    work->picture = target;
    work->at = !work->at;
    return status;
}

/* The steps to which a mask applies are one chain; the others run one by one, as each has another scale. */
static enum status filter(struct hdr_work *work) {
    const struct work_plan *plan = work->plan;
    struct chain chain = {0};
    enum status status = ST_OK;
    unsigned masked = chain_masked(&plan->chain);
    for (unsigned i = 0; i < plan->chain.count && status == ST_OK; i++) {
        const struct image_shape shape = image_shape(&work->picture);
        if (!hdr_plan_step(plan, i, &shape, &chain)) {
            return fail(work->err, ST_INTERNAL, "step %u cannot be done to the gain map", i + 1);
        }
        if (i + 1 >= masked) {
            status = run_chain(work, &chain, i < masked && work->masked);
            chain.count = 0;
        }
    }
    return status;
}

static enum status write(struct hdr_work *work) {
    struct answer *answer = &work->request->answer;
    const struct hdr_decision *hdr = &work->plan->hdr;
    const struct encode_options options = {.quality = QUALITY,
                                           .subsampling = SUBSAMPLING_444,
                                           .optimal = true,
                                           .deadline_ns = work->plan->limits.deadline_ns};
    const struct metadata *colours = hdr->map.numbers.other_colours ? &hdr->picture.metadata : NULL;
    struct buf map, file;
    buf_init(&map, answer->body.maximum);
    buf_init(&file, answer->body.maximum + hdr->map.file.size + GAINMAP_HEAD_MAX);
    enum status status = codec_encode(CODEC_JPEG, &work->picture, &options, colours, &map, work->err);
    if (status == ST_OK) {
        status =
            gainmap_write(buf_bytes(&answer->body), buf_bytes(&map), &hdr->map.numbers, &file, work->err);
    }
    buf_finish(&map);
    if (status != ST_OK) {
        buf_finish(&file);
        return status;
    }
    buf_finish(&answer->body);
    answer->body = file;
    return ST_OK;
}

static enum status make(struct hdr_work *work) {
    enum status status = take_memory(work);
    status = status == ST_OK ? decode(work) : status;
    if (status == ST_OK && work->plan->selection.wanted) {
        status = draw(work);
    }
    if (status == ST_OK && work->plan->orientation != 1) {
        status = turn_all(work);
    }
    if (status == ST_OK && selection_is_soft(&work->plan->selection, work->plan->parameters)) {
        status = soften(work);
    }
    status = status == ST_OK ? filter(work) : status;
    return status == ST_OK ? write(work) : status;
}

static void note(struct outcome *outcome, const char *why) {
    size_t used = strlen(outcome->notice);
    snprintf(outcome->notice + used, sizeof outcome->notice - used, "%sthe gain map is dropped: %s",
             used ? "; " : "", why);
}

void hdr_add(struct request *request, struct work_plan *plan, struct worker *worker) {
    struct outcome *outcome = &request->outcome;
    struct error cause = {0};
    struct hdr_work work = {.request = request, .plan = plan, .worker = worker, .err = &cause};
    outcome->hdr = plan->hdr.whole ? HDR_KEPT : hdr_plan_found(plan) ? HDR_DROPPED : HDR_NONE;
    if (plan->hdr.kept && request->answer.rest.size == 0) {
        bool made = make(&work) == ST_OK;
        outcome->hdr = made ? HDR_KEPT : HDR_DROPPED;
        outcome->losses &= made && plan->hdr.map.alone ? ~(unsigned)LOSS_PICTURES : ~0U;
        plan->hdr.why = made ? NULL : cause.text;
    }
    if (plan->hdr.why && !plan->hdr.whole) {
        note(outcome, plan->hdr.why);
    }
    plan->hdr.why = NULL;
    for (unsigned i = 0; i < 4; i++) {
        free(work.memory[i]);
        free(i < 2 ? work.base[i] : NULL);
    }
}
