/* SPDX-License-Identifier: MIT
 * Apple's headrooms, and what becomes of the samples. */
#include "codecs/gainmap/gainmap_apple.h"

#include "codecs/gainmap/gainmap_xmp.h"
#include "tests/unit/codecs/gainmap/gainmap_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* EXIF of a directory with a photo directory, which has a maker note; the values of its two ratios end it. */
static const uint8_t exif[] = {
    'M', 'M', 0,   '*', 0,   0,   0,    8,    0,   1,  0x87, 0x69, 0,   4,   0, 0, 0, 1,  0, 0,  0, 26,
    0,   0,   0,   0,   0,   1,   0x92, 0x7C, 0,   7,  0,    0,    0,   60,  0, 0, 0, 44, 0, 0,  0, 0,
    'A', 'p', 'p', 'l', 'e', ' ', 'i',  'O',  'S', 0,  0,    1,    'M', 'M', 0, 2, 0, 33, 0, 10, 0, 0,
    0,   1,   0,   0,   0,   44,  0,    48,   0,   10, 0,    0,    0,   1,   0, 0, 0, 52, 0, 0,  0, 0,
    0,   0,   0,   0,   0,   1,   0,    0,    0,   2,  0,    0,    0,   1,   0, 0, 0, 10};
enum { NOTE = 44, A = NOTE + 44, B = A + 8 };

static bool stops_of(int32_t a, uint32_t per_a, int32_t b, uint32_t per_b, double *stops) {
    uint8_t changed[sizeof exif + 4];
    memcpy(changed, exif, sizeof exif);
    bytes_put_be32(changed + A, (uint32_t)a), bytes_put_be32(changed + A + 4, per_a);
    bytes_put_be32(changed + B, (uint32_t)b), bytes_put_be32(changed + B + 4, per_b);
    return gainmap_apple_stops((struct bytes){changed, B + 8}, stops);
}

static void test_stops(void **state) {
    (void)state;
    static const struct {
        int32_t a, b; /* thousandths */
        double stops;
    } cases[] = {{999, 10, 1.6},  {999, 11, 1.599889}, {1000, 10, 2.3}, {1000, 11, 2.299667}, {0, 0, 1.8},
                 {-5, -100, 3.8}, {1000, 7000, .182},  {1000, 8000, 0}, {500, 20000, 0}};
    double stops;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(stops_of(cases[i].a, 1000, cases[i].b, 1000, &stops));
        assert_true(fabs(stops - cases[i].stops) < 1e-9);
    }
    assert_false(stops_of(1, 0, 1, 1, &stops));
    assert_false(stops_of(1, 1, 1, 0, &stops));
}

/* A cut one, one of another maker, one without a tag, and values of other types. */
static void test_other_notes(void **state) {
    (void)state;
    static const struct {
        unsigned at;
        uint8_t value;
    } damage[] = {{NOTE, 'B'},    {NOTE + 9, 'X'},  {NOTE + 17, 34}, {NOTE + 29, 49}, {NOTE + 19, 4},
                  {NOTE + 23, 2}, {NOTE + 27, 200}, {31, 2},         {10, 0x88},      {NOTE - 9, 9}};
    double stops;
    assert_true(gainmap_apple_stops((struct bytes){exif, B + 8}, &stops));
    for (size_t size = 0; size < B + 8; size++) {
        assert_false(gainmap_apple_stops((struct bytes){exif, size}, &stops));
    }
    for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++) {
        uint8_t changed[sizeof exif];
        memcpy(changed, exif, sizeof exif);
        changed[damage[i].at] = damage[i].value;
        assert_false(gainmap_apple_stops((struct bytes){changed, B + 8}, &stops));
    }
}

static void test_numbers(void **state) {
    (void)state;
    struct gainmap_numbers numbers;
    assert_false(gainmap_apple_numbers(0, &numbers));
    assert_false(gainmap_apple_numbers(65, &numbers));
    assert_false(gainmap_apple_numbers((double)NAN, &numbers));
    assert_true(gainmap_apple_numbers(1.5, &numbers));
    assert_int_equal(numbers.headroom, 1500000);
    assert_int_equal(numbers.channel[2].max, 1500000);
}

/* Half a step of the new samples, in stops, is the most that any gain is off. */
static void test_levels(void **state) {
    (void)state;
    for (double stops = 0.000001; stops < 8; stops = stops * 3 + 0.1) {
        uint8_t level[GAINMAP_LEVELS];
        struct gainmap_numbers numbers;
        assert_true(gainmap_apple_numbers(stops, &numbers));
        gainmap_apple_levels(&numbers, level);
        assert_int_equal(level[0], 0);
        assert_int_equal(level[255], 255);
        for (unsigned i = 0; i < GAINMAP_LEVELS; i++) {
            double coded = i / 255.0;
            double light = coded < 0.081 ? coded / 4.5 : pow((coded + 0.099) / 1.099, 1 / 0.45);
            double wanted = log2(1 + (pow(2, stops) - 1) * light), made = level[i] / 255.0 * stops;
            assert_true(fabs(wanted - made) <= stops / 255 / 2 + 1e-5);
        }
    }
}

#define APPLE_MAP(attributes)                                                                                \
    "<a xmlns:H=\"http://ns.apple.com/HDRGainMap/1.0/\" "                                                    \
    "t=\"urn:com:apple:photo:2020:aux:hdrgainmap\" " attributes "/>"

static void test_packets(void **state) {
    (void)state;
    static const struct {
        const char *packet;
        enum gainmap_packet kind;
        double stops;
    } cases[] = {
        {APPLE_MAP(""), GAINMAP_PACKET_APPLE, 0},
        {APPLE_MAP("H:HDRGainMapHeadroom=\"4\""), GAINMAP_PACKET_APPLE, 2},
        {APPLE_MAP("H:HDRGainMapHeadroom=\"0.5\""), GAINMAP_PACKET_APPLE, 0},
        {APPLE_MAP("HDRGainMapHeadroom=\"4\""), GAINMAP_PACKET_APPLE, 0},
        {APPLE_MAP("H:HDRGainMapHeadroom=\"four\""), GAINMAP_PACKET_DAMAGED, 0},
        {APPLE_MAP("H:HDRGainMapHeadroom=\"4\" H:HDRGainMapHeadroom=\"4\""), GAINMAP_PACKET_DAMAGED, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gainmap_numbers numbers;
        double stops = 0;
        struct bytes packet = {(const uint8_t *)cases[i].packet, strlen(cases[i].packet)};
        assert_int_equal(gainmap_xmp_read(packet, &numbers, &stops), cases[i].kind);
        assert_true(cases[i].kind != GAINMAP_PACKET_APPLE || fabs(stops - cases[i].stops) < 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops),  cmocka_unit_test(test_other_notes), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_levels), cmocka_unit_test(test_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
