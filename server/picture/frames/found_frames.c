/* SPDX-License-Identifier: MIT */
#include "server/picture/frames/found_frames.h"

#include "core/numbers.h"
#include "server/planner/footprint.h"

void found_frames_open(struct found_frames *found, const struct work_plan *plan, uint8_t *memory) {
    const struct found_frames_layout layout = footprint_lay_out_found(&plan->frames);
    found->tracks = (struct tracks *)(void *)memory;
    found->box = (struct track_box *)(void *)(memory + layout.boxes_at);
    found->first = (uint32_t *)(void *)(memory + layout.first_at);
    found->first[0] = 0;
    found->mark = region_mark(&plan->selection.region);
}

enum status found_frames_add(struct found_frames *found, const struct work_plan *plan, struct error *err) {
    const struct found_frames_layout layout = footprint_lay_out_found(&plan->frames);
    const uint32_t used = found->first[found->searched];
    uint32_t count = 0;
    enum status status =
        hold_collect(&plan->detection, plan->parameters, found->box + used, layout.boxes - used, &count, err);
    found->first[++found->searched] = used + count;
    return status;
}

enum status found_frames_select(const struct found_frames *found, struct work_plan *plan, uint32_t index,
                                struct error *err) {
    const struct frames_plan *frames = &plan->frames;
    const uint32_t hold = (uint32_t)plan->parameters->detect.hold;
    const uint32_t at = frames->first - frames->first_searched + index;
    const uint32_t from = at - min_u32(at, hold), behind = min_u32(at + hold + 1, found->searched);
    const struct held held = {.width = plan->detection.search[0].frame.width,
                              .height = plan->detection.search[0].frame.height,
                              .count = found->first[behind] - found->first[from],
                              .box = found->box + found->first[from],
                              .tracks = found->tracks,
                              .room = &plan->detection.found->room};
    region_return(&plan->selection.region, &found->mark);
    return plan->selection.wanted ? hold_add(&held, plan->parameters, &plan->selection.region, err) : ST_OK;
}
