/* SPDX-License-Identifier: MIT
 * From anchors to boxes. The first bytes are the sides of the pictures, the rest candidates: place and sums,
 * mostly of anchors, as an engine may also write others. */
#include "detect/persons/persons.h"
#include "detect/anchors.h"

#include <math.h>

#include "tests/fuzz/common/fuzz.h"

static struct candidates candidates;
static struct boxes persons;

static int32_t take_sum(struct bytes *input, bool wild) {
    const int32_t sum = fuzz_byte(input);
    return wild ? (int16_t)fuzz_short(input) * (1 << (unsigned)(sum & 15)) : sum;
}

static void require_person(const struct box *person, const struct boxes_frame *frame) {
    const double slack = 1e-6;
    fuzz_require(person->x >= 0 && person->width > 0 && person->x + person->width <= frame->width + slack &&
                     person->y >= 0 && person->height > 0 &&
                     person->y + person->height <= frame->height + slack,
                 "a person lies in the picture");
    fuzz_require(person->score >= 0 && person->score <= 1, "a score is a probability");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    const struct boxes_frame frame = {.searched_width = 32u * (1u + fuzz_byte(&input)),
                                      .searched_height = 32u * (1u + fuzz_byte(&input)),
                                      .width = 1u + fuzz_short(&input),
                                      .height = 1u + fuzz_short(&input)};
    const bool wild = fuzz_byte(&input) == 255;
    candidates.count = 0;
    while (input.size > 0 && candidates.count < CANDIDATES_MAX) {
        struct candidate *one = &candidates.candidate[candidates.count++];
        *one = (struct candidate){.x = fuzz_byte(&input), .y = fuzz_byte(&input)};
        for (int i = 0; i < ANCHOR_SUMS; i++) {
            one->sum[i] = take_sum(&input, wild);
        }
        one->sum[ANCHOR_NUMBER] %= wild ? 256 : PERSON_ANCHORS;
    }
    struct error err = {0};
    enum status status = persons_find(NULL, &candidates, &frame, &persons, &err);
    fuzz_require(status == ST_OK || (status == ST_LIMIT && err.text[0]) || (status == ST_CORRUPT && wild),
                 "it says why not");
    for (unsigned i = 0; status == ST_OK && i < persons.count; i++) {
        require_person(&persons.box[i], &frame);
        fuzz_require(i == 0 || persons.box[i].score <= persons.box[i - 1].score, "the best person is first");
        for (unsigned j = 0; j < i; j++) {
            fuzz_require(boxes_overlap(&persons.box[i], &persons.box[j]) <= 0.6001, "persons are apart");
        }
    }
    return 0;
}
