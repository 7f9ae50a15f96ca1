/* SPDX-License-Identifier: MIT
 * From a map to lines of text, or to plates. The first bytes are the sides of the picture, whether its boxes
 * conceal, whether the rest is a map, which repeats, or are candidates, which an engine may have written
 * anyhow, and whether it is of plates. */
#include "detect/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "core/numbers.h"
#include "detect/components.h"
#include "detect/plates/plates.h"
#include "tests/fuzz/common/fuzz.h"

static struct candidates candidates;
static struct boxes boxes;

static uint32_t padded(uint32_t side) {
    return divide_up(side + 2 * TEXT_BORDER, TEXT_UNIT) * TEXT_UNIT;
}

static uint8_t *take_memory(size_t size) {
    uint8_t *memory =
        aligned_alloc(IMAGE_ALIGNMENT, divide_up((uint32_t)size, IMAGE_ALIGNMENT) * IMAGE_ALIGNMENT);
    fuzz_require(memory != NULL, "there is memory");
    return memory;
}

/* Each pixel that belongs to a component does to one only. */
static void require_components(const uint8_t *map, uint32_t width, uint32_t height,
                               struct components_bounds bounds) {
    uint64_t wanted = 0, found = 0;
    for (uint32_t i = 0; i < width * height; i++) {
        wanted += map[i] >= bounds.pixel;
    }
    for (uint32_t i = 0; i < candidates.count; i++) {
        const struct candidate *one = &candidates.candidate[i];
        fuzz_require(one->sum[COMPONENT_PEAK] >= bounds.peak, "a component reaches the bound");
        found += (uint64_t)one->sum[COMPONENT_PIXELS];
    }
    fuzz_require(bounds.peak > bounds.pixel ? found <= wanted : found == wanted, "no pixel is lost");
}

static void search(struct bytes *input, const struct boxes_frame *frame, const struct detector *detector) {
    const uint32_t cell = (uint32_t)detector->cell, width = padded(frame->searched_width) / cell,
                   height = padded(frame->searched_height) / cell;
    const uint8_t pixel = fuzz_byte(input) | 1, peak = fuzz_byte(input) | 1;
    const struct components_bounds bounds = {pixel, peak > pixel ? peak : pixel, 0};
    uint8_t *memory = take_memory(components_bytes(width)), *map = take_memory((size_t)width * height);
    for (uint32_t i = 0; i < width * height; i++) {
        map[i] = input->size > 0 ? input->data[i % input->size] : 0;
    }
    struct error err = {0};
    candidates.count = 0;
    fuzz_require(components_find(map, width, width, height, bounds, 0, memory, &candidates, &err) == ST_OK,
                 "there is no deadline");
    if (candidates.count <= CANDIDATES_MAX) {
        require_components(map, width, height, bounds);
    }
    free(map);
    free(memory);
}

/* Gives it moments that such a component may have: those of its pixels at one place. */
static void believe(struct candidate *one) {
    const uint64_t x = (one->x + (uint64_t)(uint32_t)one->sum[COMPONENT_RIGHT]) / 2,
                   y = (one->y + (uint64_t)(uint32_t)one->sum[COMPONENT_BOTTOM]) / 2,
                   pixels = (uint32_t)one->sum[COMPONENT_PIXELS];
    const struct moments sum = {pixels * x, pixels * y, pixels * x * x, pixels * x * y, pixels * y * y};
    memcpy(&one->sum[COMPONENT_MOMENTS], &sum, sizeof sum);
}

static void take_candidates(struct bytes *input) {
    candidates.count = 0;
    while (input->size > 0 && candidates.count < CANDIDATES_MAX) {
        struct candidate *one = &candidates.candidate[candidates.count++];
        memset(one, 0, sizeof *one);
        one->x = fuzz_short(input), one->y = fuzz_short(input);
        for (int i = 0; i < COMPONENT_SUMS; i++) {
            const int32_t sum = (int16_t)fuzz_short(input);
            one->sum[i] = sum < 0 ? sum * (1 << 16) : sum;
        }
        if (fuzz_byte(input) & 1) {
            believe(one);
        }
    }
}

static void require_box(const struct box *line, const struct boxes_frame *frame, bool turned) {
    const double slack = 1e-6;
    fuzz_require(line->x >= 0 && line->width > 0 && line->x + line->width <= frame->width + slack &&
                     line->y >= 0 && line->height > 0 && line->y + line->height <= frame->height + slack,
                 "a box lies in the picture");
    fuzz_require(line->score >= 0 && line->score <= 1, "a score is a probability");
    fuzz_require(line->turned == turned, "coarse boxes and plates have no polygons");
    for (unsigned i = 0; i < BOXES_CORNERS; i++) {
        fuzz_require(isfinite(line->corner[i][0]) && isfinite(line->corner[i][1]), "corners are numbers");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct boxes_frame frame = {.searched_width = 1u + fuzz_byte(&input),
                                .searched_height = 1u + fuzz_byte(&input),
                                .width = 1u + fuzz_short(&input),
                                .height = 1u + fuzz_short(&input)};
    const uint8_t choice = fuzz_byte(&input);
    const struct detector *detector = choice & 4 ? &detector_plates : &detector_text;
    frame.conceals = choice & 1;
    if (choice & 2) {
        search(&input, &frame, detector);
    } else {
        take_candidates(&input);
    }
    struct error err = {0};
    enum status status = detector->find(NULL, &candidates, &frame, &boxes, &err);
    fuzz_require(status == ST_OK ||
                     ((status == ST_LIMIT || (status == ST_CORRUPT && !(choice & 2))) && err.text[0]),
                 "it says why not");
    for (unsigned i = 0; status == ST_OK && i < boxes.count; i++) {
        require_box(&boxes.box[i], &frame, detector == &detector_text && !frame.conceals);
    }
    return 0;
}
