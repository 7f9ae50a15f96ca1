/* SPDX-License-Identifier: MIT */
#include "server/evidence/redaction_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/orient.h"
#include "filters/argument/value.h"
#include "server/search/detection.h"

_Static_assert((int)REGION_LIST_SHA256 == (int)DIGEST_BYTES, "a list has a whole digest");

/* Regions that are being written, in the upright picture. */
struct regions {
    const struct detection *detection;
    const struct region_set *set;
    bool doubtful;
    uint32_t width, height;
    struct buf *body;
    struct error *err;
};

static enum status write_polygon(const struct regions *to, uint32_t index) {
    struct region_point point[REGION_POINTS_MAX];
    unsigned count = region_points(to->set, index, to->width, to->height, point);
    enum status status = buf_printf(to->body, to->err, "\"polygon\":[");
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        char x[VALUE_TEXT_MAX], y[VALUE_TEXT_MAX];
        status = buf_printf(to->body, to->err, "%s[%s,%s]", i ? "," : "", value_text(point[i].x, x),
                            value_text(point[i].y, y));
    }
    return status == ST_OK ? buf_printf(to->body, to->err, "]") : status;
}

static enum status write_shape(const struct regions *to, uint32_t index) {
    const struct region *region = region_get(to->set, index);
    if (region->form == REGION_POLYGON) {
        return write_polygon(to, index);
    }
    const struct region_box box = region_box(to->set, index, to->width, to->height);
    const double number[4] = {box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0};
    char text[4][VALUE_TEXT_MAX];
    for (unsigned i = 0; i < 4; i++) {
        value_text(number[i], text[i]);
    }
    return region->form == REGION_RECTANGLE
               ? buf_printf(to->body, to->err, "\"x\":%s,\"y\":%s,\"width\":%s,\"height\":%s", text[0],
                            text[1], text[2], text[3])
               : buf_printf(to->body, to->err, "\"ellipse\":[%s,%s,%s,%s]", text[0], text[1], text[2],
                            text[3]);
}

static enum status write_region(const struct regions *to, uint32_t index) {
    static const char *const origins[] = {
        [REGION_GIVEN] = "region", [REGION_LISTED] = "list", [REGION_FOUND] = "found"};
    const struct region *region = region_get(to->set, index);
    const char *class = NULL;
    const struct box *box = region->source == REGION_FOUND
                                ? detection_box(to->detection, to->doubtful, region->entry, &class)
                                : NULL;
    enum status status = buf_printf(to->body, to->err, "%s\n{", index ? "," : "");
    status = status == ST_OK ? write_shape(to, index) : status;
    status = status == ST_OK ? buf_printf(to->body, to->err, ",\"origin\":\"%s\"", origins[region->source])
                             : status;
    if (box && status == ST_OK) {
        status = buf_printf(to->body, to->err, ",\"label\":\"%s\",\"score\":%.4f", class, box->score);
    }
    return status == ST_OK ? buf_printf(to->body, to->err, "}") : status;
}

static enum status write_regions(const struct regions *to, const char *name) {
    enum status status = buf_printf(to->body, to->err, ",\"%s\":[", name);
    for (uint32_t i = 0; i < to->set->count && status == ST_OK; i++) {
        status = write_region(to, i);
    }
    return status == ST_OK ? buf_printf(to->body, to->err, "]") : status;
}

static enum status write_head(const struct work_plan *plan, const struct digest *input,
                              const struct image_shape *upright, struct buf *body, struct error *err) {
    char text[DIGEST_TEXT];
    return buf_printf(body, err,
                      "{\"width\":%u,\"height\":%u,\"sha256\":\"%s\",\"clear_transparent\":%s,\"invert\":%s,"
                      "\"planes\":%s",
                      upright->width, upright->height, digest_text(input, text),
                      parameters_clear_transparent(plan->parameters) ? "true" : "false",
                      plan->parameters->input.invert ? "true" : "false",
                      plan->stored.model == PIXEL_YCBCR ? "true" : "false");
}

/* Regions lie in the upright picture, whether or not the answer is turned. */
static struct image_shape upright_of(const struct work_plan *plan) {
    return orient_shape(&plan->picture.pixels, plan->picture.metadata.orientation);
}

static enum status write_list(const struct work_plan *plan, const struct digest *input, struct buf *body,
                              struct error *err) {
    const struct image_shape upright = upright_of(plan);
    struct region_set set = plan->selection.region;
    if (set.numbers + (set.room ? set.room->numbers : 0) > REGION_ROOM_NUMBERS_MAX) {
        return fail(err, ST_LIMIT, "the regions have more than %d numbers, which no list can carry back",
                    REGION_ROOM_NUMBERS_MAX);
    }
    region_turn(&set, 1);
    const struct regions to = {.detection = &plan->detection,
                               .set = &set,
                               .width = upright.width,
                               .height = upright.height,
                               .body = body,
                               .err = err};
    enum status status = write_head(plan, input, &upright, body, err);
    return status == ST_OK ? write_regions(&to, "regions") : status;
}

enum status redaction_list_write(const struct work_plan *plan, const struct digest *input, struct buf *body,
                                 struct error *err) {
    enum status status = write_list(plan, input, body, err);
    return status == ST_OK ? buf_printf(body, err, "}") : status;
}

enum status redaction_list_plan(const struct work_plan *plan, struct buf *body, struct error *err) {
    const struct image_shape upright = upright_of(plan);
    struct region_set set = {0};
    const struct regions to = {.detection = &plan->detection,
                               .set = &set,
                               .doubtful = true,
                               .width = upright.width,
                               .height = upright.height,
                               .body = body,
                               .err = err};
    struct digest input;
    enum status status = digest_of(plan->input, &input, err);
    status = status == ST_OK ? write_list(plan, &input, body, err) : status;
    status = status == ST_OK ? detection_add_doubtful(&plan->detection, plan->parameters, &set, err) : status;
    status = status == ST_OK ? write_regions(&to, "doubtful") : status;
    return status == ST_OK ? buf_printf(body, err, "}\n") : status;
}

enum status redaction_list_check(const struct parameters *parameters, struct bytes picture,
                                 struct error *err) {
    const struct region_list_about *about = &parameters->input.about;
    struct digest digest;
    if (!about->hashed) {
        return ST_OK;
    }
    enum status status = digest_of(picture, &digest, err);
    if (status == ST_OK && memcmp(digest.byte, about->sha256, sizeof digest.byte) != 0) {
        return fail_argument(err, "regions", "regions: the list is for another picture: its sha256 differs");
    }
    return status;
}
