/* SPDX-License-Identifier: MIT */
#include "server/hdr/hdr_redact.h"

#include "cpu/mask/redact.h"
#include "server/picture/selection.h"
#include "server/planner/hdr_decision.h"

static enum status grow(const struct image *mask, struct mask_grid grid, int64_t deadline_ns,
                        struct error *err) {
    static const struct region_set none;
    struct mask_report report;
    const struct mask_options options = {
        .outward = true, .over = true, .grid = grid, .deadline_ns = deadline_ns};
    return mask_draw(mask, &none, &options, &report, err);
}

enum status hdr_redact(const struct hdr_decision *hdr, const struct image *mask, const struct image *map,
                       int64_t deadline_ns, struct error *err) {
    static const struct region_set none;
    const struct gainmap_channel *channel = hdr->map.numbers.channel;
    const struct redact_options options = {
        .fill = {.kind = FILL_COLOUR,
                 .colour = {gainmap_neutral(&channel[0]), gainmap_neutral(&channel[1]),
                            gainmap_neutral(&channel[2]), UINT8_MAX}},
        .drawn = mask,
        .deadline_ns = deadline_ns,
    };
    enum status status = grow(mask, (struct mask_grid){.margin_x = 1, .margin_y = 1}, deadline_ns, err);
    status = status == ST_OK ? grow(mask, selection_blocks(&hdr->picture, true), deadline_ns, err) : status;
    return status == ST_OK ? redact_image(map, &none, &options, mask, err) : status;
}
