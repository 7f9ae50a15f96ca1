/* SPDX-License-Identifier: MIT */
#include "detect/codes/cpu/codes_features.h"

enum {
    SHARE = 256,
    FINE = 16,
    FEATURE_MOST = 1 << 20,
    EDGES_LEAST = 6,
    SIDE_LEAST = 12,
    UNEVEN = 17, /* stripes of a fence or a blind are all alike: 16 */
};

static int32_t ratio(int64_t part, int64_t whole, int64_t unit) {
    int64_t value = whole > 0 ? part * unit / whole : 0;
    return value > FEATURE_MOST ? FEATURE_MOST : (int32_t)value;
}

static void measure_axis(const struct codes_place *place, int axis, int32_t feature[]) {
    const struct codes_lines *lines = &place->lines[axis];
    const int64_t length = place->to[axis] - place->from[axis], edges = lines->edges + CODES_LINES;
    feature[CODES_EDGES] = ratio(lines->edges, CODES_LINES, FINE);
    feature[CODES_STRETCH] = ratio(length * CODES_LINES, edges, FINE);
    feature[CODES_FEWEST] = ratio((int64_t)lines->fewest * CODES_LINES, edges, SHARE);
    feature[CODES_MOST] = ratio((int64_t)lines->most * CODES_LINES, edges, SHARE);
    feature[CODES_LONGEST] = ratio(lines->longest * edges, length * CODES_LINES, FINE);
    feature[CODES_SQUARES] = ratio(lines->squares * edges, length * CODES_LINES, 1);
    feature[CODES_ALIKE] = lines->alike;
}

void codes_features_measure(const struct codes_place *place, enum codes_texture texture,
                            int32_t feature[CODES_FEATURES]) {
    const int64_t first = place->to[0] - place->from[0], second = place->to[1] - place->from[1];
    const int busy = place->lines[0].edges * second < place->lines[1].edges * first;
    const int64_t longer = first > second ? first : second, shorter = first > second ? second : first;
    const int64_t pixels = (int64_t)place->cells * CODES_CELL * CODES_CELL;
    feature[CODES_TEXTURE] = (int32_t)texture;
    feature[CODES_DARK_SHARE] = ratio(place->dark, place->seen, SHARE);
    feature[CODES_CLEAR] = ratio(place->clear, place->seen, SHARE);
    feature[CODES_SEEN] = ratio(place->seen, pixels, SHARE);
    feature[CODES_FILL] = ratio(pixels, (first + CODES_CELL) * (second + CODES_CELL), SHARE);
    feature[CODES_DIRECTED] = busy == 0 ? place->stripes : SHARE - place->stripes;
    feature[CODES_STRAIGHT] = place->straight;
    feature[CODES_SIDE] = (int32_t)shorter;
    feature[CODES_ASPECT] = ratio(longer, shorter, FINE);
    measure_axis(place, busy, feature);
    measure_axis(place, !busy, feature + CODES_CALM - CODES_EDGES);
}

bool codes_features_suffice(const int32_t feature[CODES_FEATURES]) {
    const int32_t calm = feature[CODES_CALM], busy = feature[CODES_EDGES];
    return (busy > calm ? busy : calm) >= EDGES_LEAST * FINE && feature[CODES_SEEN] > 150 &&
           feature[CODES_CLEAR] > 50 && feature[CODES_SIDE] >= SIDE_LEAST && feature[CODES_DARK_SHARE] > 56 &&
           feature[CODES_DARK_SHARE] < 205 && feature[CODES_SQUARES] >= UNEVEN;
}

/* Two thresholds below a first one, and what each of the four ends adds. */
struct tree {
    uint8_t feature[3];
    int32_t most[3]; /* a feature up to it goes to the first side */
    int32_t end[4];
};

static const struct tree trees[] = {
#define TREE(first, most, second, second_most, third, third_most, a, b, c, d)                                \
    {{CODES_##first, CODES_##second, CODES_##third}, {most, second_most, third_most}, {a, b, c, d}},
#include "detect/codes/cpu/codes_trees.def"
#undef TREE
};

int32_t codes_features_judge(const int32_t feature[CODES_FEATURES]) {
    int32_t sum = 0;
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        const struct tree *tree = &trees[i];
        const int right = feature[tree->feature[0]] > tree->most[0];
        sum += tree->end[2 * right + (feature[tree->feature[1 + right]] > tree->most[1 + right])];
    }
    return sum;
}
