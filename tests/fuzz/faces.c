/* SPDX-License-Identifier: MIT
 * From candidates to boxes. The first bytes are the scales of the heads, the rest candidates: place and sums.
 */
#include "detect/faces/faces.h"

#include <math.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

static float scales[CANDIDATES_SUMS];
static struct model_weights weights;
static struct candidates candidates;
static struct boxes faces;

static int32_t take_sum(struct bytes *input) {
    int32_t sum = (int16_t)fuzz_short(input);
    return sum * (1 << (unsigned)(sum & 15));
}

static void require_face(const struct box *face, const struct boxes_frame *frame) {
    const double slack = 1e-6;
    fuzz_require(face->x >= 0 && face->width > 0 && face->x + face->width <= frame->width + slack &&
                     face->y >= 0 && face->height > 0 && face->y + face->height <= frame->height + slack,
                 "a face lies in the picture");
    fuzz_require(face->score >= 0 && face->score <= 1, "a score is a probability");
    for (int i = 0; i < BOXES_LANDMARKS; i++) {
        fuzz_require(isfinite(face->landmarks[i][0]) && isfinite(face->landmarks[i][1]),
                     "landmarks are numbers");
    }
}

static void require_apart(const struct box *a, const struct box *b) {
    double w = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
    double h = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);
    double both = fmax(w, 0) * fmax(h, 0);
    fuzz_require(both <= 0.3001 * (a->width * a->height + b->width * b->height - both), "faces are apart");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct boxes_frame frame = {.searched_width = 32u * (1u + fuzz_byte(&input)),
                                .searched_height = 32u * (1u + fuzz_byte(&input)),
                                .width = 1u + fuzz_short(&input),
                                .height = 1u + fuzz_short(&input)};
    for (int i = 0; i < CANDIDATES_SUMS; i++) {
        scales[i] = ldexpf(1.0f + (float)i / 16, -(fuzz_byte(&input) % 32));
    }
    weights.layers[FACE_heads].scale = scales;
    candidates.count = 0;
    while (input.size > 0 && candidates.count < CANDIDATES_MAX) {
        struct candidate *one = &candidates.candidate[candidates.count++];
        one->x = fuzz_short(&input), one->y = fuzz_short(&input);
        for (int i = 0; i < CANDIDATES_SUMS; i++) {
            one->sum[i] = take_sum(&input);
        }
    }
    struct error err = {0};
    enum status status = faces_find(&weights, &candidates, &frame, &faces, &err);
    fuzz_require(status == ST_OK || (status == ST_LIMIT && err.text[0]), "it says why not");
    for (unsigned i = 0; status == ST_OK && i < faces.count; i++) {
        require_face(&faces.box[i], &frame);
        fuzz_require(i == 0 || faces.box[i].score <= faces.box[i - 1].score, "the best face is first");
        for (unsigned j = 0; j < i; j++) {
            require_apart(&faces.box[i], &faces.box[j]);
        }
    }
    return 0;
}
