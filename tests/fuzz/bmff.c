/* SPDX-License-Identifier: MIT
 * Boxes of AVIF and HEIC files: what the daemon reads by itself, without a library. */
#include "codecs/bmff/bmff.h"
#include "codecs/bmff/bmff_gain_map.h"
#include "codecs/gainmap/gainmap_items.h"
#include "tests/fuzz/common/fuzz.h"

static bool is_inside(struct bytes part, struct bytes whole) {
    return part.size == 0 || (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void read_items(struct bytes input) {
    struct bmff_items items;
    struct error err = {0};
    if (bmff_items_read(&items, input, "HEIC", &err) == ST_OK) {
        for (size_t i = 0; i < items.count; i++) {
            fuzz_require(is_inside(items.item[i].data, input), "data are inside the file");
            fuzz_require(is_inside(items.item[i].sources, items.references),
                         "references are inside their box");
        }
    }
    bmff_items_losses(&items);
    bmff_items_finish(&items);
}

/* A copy differs in the number of the primary picture and in a flag of the map. */
static void read_gain_map(struct bytes input) {
    struct buf copy = {0};
    struct error err = {0};
    struct gainmap map;
    unsigned changed = 0;
    if (bmff_gain_map_file(input, "HEIC", &copy, &err) == ST_OK) {
        fuzz_require(copy.size == input.size, "a copy is as large as the file");
        for (size_t i = 0; i < input.size; i++) {
            changed += copy.data[i] != input.data[i];
        }
        fuzz_require(changed >= 1 && changed <= 5, "a copy has another primary picture");
    }
    buf_finish(&copy);
    gainmap_find_item(input, input, &map);
    fuzz_require(map.kind < GAINMAP_APPLE || gainmap_numbers_fit(&map.numbers), "numbers are usable");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size}, rest = input;
    struct bmff_box box;
    struct bmff_facts facts;
    while (bmff_next(&rest, &box)) {
        fuzz_require(box.body.data + box.body.size == rest.data, "boxes follow each other");
        fuzz_require(rest.data + rest.size == data + size, "the rest ends with the file");
    }
    fuzz_require(!bmff_look(input, &facts) || (facts.width > 0 && facts.height > 0), "a size is not 0");
    bmff_has_brand(input, "heic");
    read_items(input);
    read_gain_map(input);
    return 0;
}
