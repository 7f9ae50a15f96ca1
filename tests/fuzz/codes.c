/* SPDX-License-Identifier: MIT
 * What a reader of codes sends, and the search of a picture with it. The input is the sides of the picture, a
 * number of symbols, their bytes, and the pixels, which are repeated. */
#include "detect/codes/codes.h"
#include "detect/codes/cpu/codes_search.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

enum { SIDE_MAX = 160, SYMBOLS_MAX = 3 };

static void check(const struct candidates *candidates, uint32_t width, uint32_t height) {
    static struct boxes boxes;
    const struct boxes_frame frame = {
        .searched_width = width, .searched_height = height, .width = width, .height = height};
    static struct candidates copy;
    struct error err = {0};
    copy = *candidates;
    if (codes_find(NULL, &copy, &frame, &boxes, &err) != ST_OK) {
        return;
    }
    for (unsigned i = 0; i < boxes.count; i++) {
        const struct box *box = &boxes.box[i];
        fuzz_require(box->x >= 0 && box->y >= 0 && box->width > 0 && box->height > 0, "a box has no area");
        fuzz_require(box->x + box->width <= width && box->y + box->height <= height,
                     "a box leaves the picture");
        fuzz_require(box->score > 0 && box->score <= 1, "a score is no probability");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct codes_symbols symbols;
    static struct candidates candidates;
    struct codes_pyramid pyramid;
    struct error err = {0};
    struct bytes input = {data, size};
    const uint32_t width = 1 + fuzz_byte(&input) % SIDE_MAX, height = 1 + fuzz_byte(&input) % SIDE_MAX;
    size_t sent = fuzz_byte(&input) % SYMBOLS_MAX * sizeof(struct codes_symbol) + (fuzz_byte(&input) == 1);
    sent = sent < input.size ? sent : input.size;
    if (codes_symbols_parse((struct bytes){input.data, sent}, width, height, &symbols, &err) != ST_OK) {
        return 0;
    }
    input = (struct bytes){input.data + sent, input.size - sent};
    const size_t room = codes_search_bytes(width, height);
    uint8_t *memory = malloc(room + 1);
    if (memory) {
        codes_search_place(&pyramid, width, height, memory);
        const struct codes_level *level = &pyramid.level[0];
        for (size_t i = 0; pyramid.count > 0 && i < (size_t)level->width * level->height; i++) {
            level->grey[i] = input.size > 0 ? input.data[i % input.size] : 0;
        }
        if (codes_search_run(&pyramid, &symbols, -CODES_SURE, 0, &candidates, &err) == ST_OK) {
            check(&candidates, width, height);
        }
    }
    free(memory);
    return 0;
}
