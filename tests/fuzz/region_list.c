/* SPDX-License-Identifier: MIT
 * The part `regions` of a form: orientation and invert in the first byte, then JSON. */
#include "filters/argument/region_list.h"

#include <string.h>

#include "cpu/mask/mask.h"
#include "tests/fuzz/common/fuzz.h"

enum { WIDTH = 67, HEIGHT = 41 };

static void check_places(const struct region_set *set) {
    for (uint32_t i = 0; i < set->count; i++) {
        const struct region *region = region_get(set, i);
        struct region_box box = region_box(set, i, WIDTH, HEIGHT);
        char name[REGION_NAME_MAX];
        fuzz_require(region->source == REGION_LISTED && region->entry > 0, "a region knows its entry");
        fuzz_require(region->first + region->count <= set->room->numbers, "numbers are in the room");
        fuzz_require(box.x0 <= box.x1 && box.y0 <= box.y1, "a box has two ends");
        fuzz_require(box.x0 > -(1 << 21) && box.x1 < 1 << 21 && box.y0 > -(1 << 21) && box.y1 < 1 << 21,
                     "places stay below 2^21");
        fuzz_require(strlen(region_name(set, i, name)) < sizeof name, "a name ends");
    }
}

static void draw(struct region_set *set, uint8_t how) {
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct image mask = fuzz_image(&shape, 0xA5);
    struct mask_report report;
    region_turn(set, (uint8_t)(how % 8 + 1));
    check_places(set);
    for (int outward = 0; outward < 2; outward++) {
        const struct mask_options options = {
            .invert = how & 8, .over = how & 16, .outward = outward, .grid = {.width = 8, .height = 16}};
        fuzz_require(mask_draw(&mask, set, &options, &report, NULL) == ST_OK, "a mask is drawn");
        fuzz_require(report.covered <= WIDTH * HEIGHT, "no more than all is covered");
    }
    fuzz_image_free(&mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct region_room room;
    struct bytes input = {data, size};
    uint8_t how = fuzz_byte(&input);
    struct region_set set = {0};
    struct region_keep keep = {0};
    struct region_list_about list = {0};
    struct error err = {0};
    region_lend(&set, &room);
    enum status status = region_list_parse(&set, &keep, input, &list, &err);
    fuzz_require(status == ST_OK || status == ST_ARGUMENT, "a bad list is a bad parameter");
    fuzz_require(status == ST_OK || (strcmp(err.parameter, "regions") == 0 && err.text[0]),
                 "a failure is explained");
    if (status == ST_OK) {
        draw(&set, how);
        (void)region_check_size(&set, WIDTH, HEIGHT, &err);
    }
    return 0;
}
