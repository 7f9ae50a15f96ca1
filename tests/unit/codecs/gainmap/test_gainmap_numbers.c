/* SPDX-License-Identifier: MIT
 * The numbers of gain maps in both of their forms. */
#include "codecs/gainmap/gainmap_numbers.h"

#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/gainmap/gainmap_xmp.h"
#include "tests/unit/codecs/gainmap/gainmap_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static enum gainmap_packet read_text(const char *packet, struct gainmap_numbers *numbers) {
    return gainmap_xmp_read((struct bytes){(const uint8_t *)packet, strlen(packet)}, numbers, &(double){0});
}

static const char seq[] = "<rdf:Seq><rdf:li>1</rdf:li><rdf:li> 2 </rdf:li>\n<rdf:li>3e0</rdf:li></rdf:Seq>";

static void test_forms_of_packets(void **state) {
    (void)state;
    static const char *const good[] = {
        PACKET(MAP_NUMBERS, ""),
        PACKET("hdrgm:Version='1.0' hdrgm:GainMapMax='+2.5' hdrgm:HDRCapacityMax='.3e1'", ""),
        PACKET("xmlns:g=\"http://ns.adobe.com/hdr-gain-map/1.0/\" g:Version=\"1\"",
               "<g:GainMapMax> 2.5 </g:GainMapMax><hdrgm:HDRCapacityMax>3.0</hdrgm:HDRCapacityMax>"),
        PACKET(MAP_NUMBERS " hdrgm:BaseRenditionIsHDR=\"False\"", "<hdrgm:Unknown>5</hdrgm:Unknown>"),
    };
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        struct gainmap_numbers numbers;
        assert_int_equal(read_text(good[i], &numbers), GAINMAP_PACKET_NUMBERS);
        assert_int_equal(numbers.channels, 1);
        assert_int_equal(numbers.channel[1].max, 2500000);
        assert_int_equal(numbers.channel[1].min, 0);
        assert_int_equal(numbers.channel[1].gamma, GAINMAP_ONE);
        assert_int_equal(numbers.channel[1].base_offset, 15625);
        assert_int_equal(numbers.headroom, 3 * GAINMAP_ONE);
        assert_false(numbers.other_colours);
    }
}

static void test_three_channels(void **state) {
    (void)state;
    char packet[2048];
    struct gainmap_numbers numbers;
    snprintf(packet, sizeof packet, PACKET("hdrgm:Version=\"1.0\" hdrgm:HDRCapacityMax=\"3\"", "%s"),
             "<hdrgm:GainMapMax>%s</hdrgm:GainMapMax>");
    char whole[4096];
    snprintf(whole, sizeof whole, packet, seq);
    assert_int_equal(read_text(whole, &numbers), GAINMAP_PACKET_NUMBERS);
    assert_int_equal(numbers.channels, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(numbers.channel[i].max, (i + 1) * GAINMAP_ONE);
    }
}

static void test_damaged_packets(void **state) {
    (void)state;
    static const char *const bad[] = {
        PACKET("hdrgm:GainMapMax=\"2.5\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"2.5\"", ""),
        PACKET("hdrgm:Version=\"2.0\" hdrgm:GainMapMax=\"2.5\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"inf\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"1e9\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"0x2\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"\" hdrgm:HDRCapacityMax=\"3\"", ""),
        PACKET("hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"2.5\" hdrgm:HDRCapacityMax=\"0\"", ""),
        PACKET(MAP_NUMBERS " hdrgm:BaseRenditionIsHDR=\"True\"", ""),
        PACKET(MAP_NUMBERS " hdrgm:BaseRenditionIsHDR=\"Perhaps\"", ""),
        PACKET(MAP_NUMBERS " hdrgm:Gamma=\"0\"", ""),
        PACKET(MAP_NUMBERS " hdrgm:GainMapMin=\"2.6\"", ""),
        PACKET(MAP_NUMBERS,
               "<hdrgm:Gamma><rdf:Seq><rdf:li>1</rdf:li><rdf:li>1</rdf:li></rdf:Seq></hdrgm:Gamma>"),
        PACKET(MAP_NUMBERS, "<hdrgm:Gamma>1<a/>2<a/>3<a/>4</hdrgm:Gamma>"),
        PACKET(MAP_NUMBERS, "<![CDATA["),
        PACKET(MAP_NUMBERS, "<a b=c/>"),
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gainmap_numbers numbers;
        assert_int_equal(read_text(bad[i], &numbers), GAINMAP_PACKET_DAMAGED);
    }
    struct gainmap_numbers numbers;
    assert_int_equal(read_text("", &numbers), GAINMAP_PACKET_NONE);
    assert_int_equal(read_text("<a", &numbers), GAINMAP_PACKET_NONE);
    assert_int_equal(read_text("<a g:Version='1.0' xmlns:g='another'/>", &numbers), GAINMAP_PACKET_NONE);
}

static const struct gainmap_numbers odd = {
    .channels = 3,
    .other_colours = true,
    .base_headroom = 1,
    .headroom = 5621408,
    .channel = {{-1000001, 2000003, 454545, 15625, -15625}, {0, 0, 1, 0, 0}, {-5, -4, 2200000, 7, 9}}};

static void test_iso_there_and_back(void **state) {
    (void)state;
    for (uint8_t channels = 1; channels <= 3; channels = (uint8_t)(channels + 2)) {
        struct gainmap_numbers numbers = odd, back;
        uint8_t bytes[GAINMAP_ISO_MAX];
        numbers.channels = channels;
        numbers.channel[1] = channels == 1 ? odd.channel[0] : odd.channel[1];
        numbers.channel[2] = channels == 1 ? odd.channel[0] : odd.channel[2];
        size_t size = gainmap_iso_write(&numbers, bytes);
        assert_int_equal(size, 21 + 40 * channels);
        assert_true(gainmap_iso_read((struct bytes){bytes, size}, &back));
        assert_memory_equal(&back, &numbers, sizeof back);
        for (size_t cut = 0; cut < size; cut++) {
            assert_false(gainmap_iso_read((struct bytes){bytes, cut}, &back));
        }
        for (size_t at = 9; at + 4 <= size; at += 8) { /* a denominator of 0 */
            uint8_t zero[GAINMAP_ISO_MAX];
            memcpy(zero, bytes, size);
            bytes_put_be32(zero + at, 0);
            assert_false(gainmap_iso_read((struct bytes){zero, size}, &back));
        }
    }
}

/* As libultrahdr 1.4 writes it where all numbers have one denominator. */
static void test_iso_with_one_denominator(void **state) {
    (void)state;
    uint8_t bytes[] = {0,   0,   0, 0, 0x48, 0,  0, 0, 10, 0,  0, 0, 0, 0, 0, 0, 20, 255, 255,
                       255, 255, 0, 0, 0,    15, 0, 0, 0,  10, 0, 0, 0, 1, 0, 0, 0,  2};
    struct gainmap_numbers numbers;
    assert_true(gainmap_iso_read((struct bytes){bytes, sizeof bytes}, &numbers));
    assert_int_equal(numbers.headroom, 2 * GAINMAP_ONE);
    assert_int_equal(numbers.channel[2].min, -100000);
    assert_int_equal(numbers.channel[2].max, 1500000);
    assert_int_equal(numbers.channel[2].offset, 200000);
    bytes[8] = 0;
    assert_false(gainmap_iso_read((struct bytes){bytes, sizeof bytes}, &numbers));
    bytes[8] = 10, bytes[4] |= 4; /* the base is HDR */
    assert_false(gainmap_iso_read((struct bytes){bytes, sizeof bytes}, &numbers));
}

static void test_bounds(void **state) {
    (void)state;
    int32_t number;
    assert_true(gainmap_number(64, &number) && number == GAINMAP_MOST);
    assert_true(gainmap_number(-64, &number) && number == -GAINMAP_MOST);
    assert_false(gainmap_number(64.000001, &number));
    assert_false(gainmap_number((double)NAN, &number));
    assert_false(gainmap_number((double)-INFINITY, &number));
}

static void test_neutral_samples(void **state) {
    (void)state;
    static const struct {
        struct gainmap_channel channel;
        uint8_t sample;
    } cases[] = {
        {{0, 2000000, 1000000, 0, 0}, 0},           {{500000, 2000000, 1000000, 0, 0}, 0},
        {{-2000000, -1000000, 1000000, 0, 0}, 255}, {{-1000000, 1000000, 1000000, 0, 0}, 128},
        {{-1000000, 3000000, 500000, 0, 0}, 128},   {{-1000000, -1000000, 1000000, 0, 0}, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gainmap_neutral(&cases[i].channel), cases[i].sample);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_packets),         cmocka_unit_test(test_three_channels),
        cmocka_unit_test(test_damaged_packets),          cmocka_unit_test(test_iso_there_and_back),
        cmocka_unit_test(test_iso_with_one_denominator), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_neutral_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
