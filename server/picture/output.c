/* SPDX-License-Identifier: MIT */
#include "server/picture/output.h"

#include "codecs/jpeg/jpeg_patch.h"
#include "server/evidence/redaction_list.h"
#include "server/picture/statistics.h"
#include "server/placeholder/placeholder.h"
#include "server/search/detection.h"
#include "server/search/hold.h"

void output_init(const struct work_plan *plan, struct buf *body) {
    /* Even noise at quality 100 is smaller, with its metadata. */
    size_t pixels = (size_t)plan->encoded.width * plan->encoded.height;
    buf_init(body, pixels * 16 + (8 << 20));
}

static enum status write_picture(const struct work_plan *plan, const struct image *result, bool *kept_blocks,
                                 struct buf *body, struct error *err) {
    const struct metadata *metadata = &plan->picture.metadata;
    if (plan_may_patch(plan)) {
        enum status status = jpeg_patch(plan->input, &plan->limits, result, &plan->selection.mask,
                                        &plan->options, metadata, body, err);
        *kept_blocks = status == ST_OK;
        if (status != ST_UNSUPPORTED) {
            return status;
        }
        body->size = 0; /* drops an incomplete file */
    }
    return codec_encode(plan->output, result, &plan->options, metadata, body, err);
}

static enum status write_placeholder(const struct work_plan *plan, const struct image *result,
                                     struct buf *body, struct error *err) {
    const struct placeholder_arguments *asked = &plan->parameters->ops.operation[0].arguments.placeholder;
    const struct placeholder placeholder = {
        .width = plan->upright.width,
        .height = plan->upright.height,
        .across = (unsigned)asked->components_x,
        .down = (unsigned)asked->components_y,
        .source = result,
    };
    return placeholder_write(&placeholder, body, err);
}

enum status output_boxes(const struct work_plan *plan, struct buf *body, struct error *err) {
    const struct detection_arguments *detect = &plan->parameters->detect;
    if (detect->stage == DETECT_FINDS) {
        return hold_find(&plan->detection, plan->parameters, detect->finds, err);
    }
    return plan->parameters->evidence.plan ? redaction_list_plan(plan, body, err)
                                           : detection_write(&plan->detection, plan->parameters, body, err);
}

enum status output_write(const struct work_plan *plan, const struct image *result, bool *kept_blocks,
                         struct buf *body, struct error *err) {
    switch (plan_answer(plan)) {
    case ANSWER_STATISTICS:
        return statistics_write(plan, result, body, err);
    case ANSWER_PLACEHOLDER:
        return write_placeholder(plan, result, body, err);
    case ANSWER_BOXES:
        return output_boxes(plan, body, err);
    case ANSWER_PICTURE:
        break;
    }
    return write_picture(plan, result, kept_blocks, body, err);
}
