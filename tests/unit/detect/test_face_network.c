/* SPDX-License-Identifier: MIT
 * The plain network of the tests, which backends are compared with, against a second program: the hashes were
 * made by NumPy. */
#include "tests/filters/network_fixture.h"
#include "tests/filters/reference/reference_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WIDTH = 96, HEIGHT = 64 };

static const uint64_t expected[FACE_LAYERS] = {
    [FACE_stem] = UINT64_C(0xab50605cdb7986bf),
    [FACE_first_depth] = UINT64_C(0xbad56dbc5fe8d487),
    [FACE_first_project] = UINT64_C(0x5b87207c719863a8),
    [FACE_block1_expand] = UINT64_C(0xa1d7e4766b4af3a0),
    [FACE_block1_depth] = UINT64_C(0xc8a2afd428898a87),
    [FACE_block1_project] = UINT64_C(0xd09b76a9a9e1731e),
    [FACE_block2_expand] = UINT64_C(0x1afca97c571d520c),
    [FACE_block2_depth] = UINT64_C(0x9a7c6cc908bb6801),
    [FACE_block2_project] = UINT64_C(0x13aa75177f1deae3),
    [FACE_block3_expand] = UINT64_C(0xffbca97b3a1c1131),
    [FACE_block3_depth] = UINT64_C(0x0970a16f238cbce7),
    [FACE_block3_project] = UINT64_C(0x439c86b8be4e0641),
    [FACE_block4_expand] = UINT64_C(0xdb678fe5c9ee07af),
    [FACE_block4_depth] = UINT64_C(0x3e837cb6851bf3a6),
    [FACE_block4_project] = UINT64_C(0xbcb8a75a73d0c960),
    [FACE_block5_expand] = UINT64_C(0x7b9b6ae7b5dffff1),
    [FACE_block5_depth] = UINT64_C(0xa16eca0a99a38f0f),
    [FACE_block5_project] = UINT64_C(0x51d13e1e5787da51),
    [FACE_block6_expand] = UINT64_C(0x3c2d91f81a777095),
    [FACE_block6_depth] = UINT64_C(0x02e8ccf13a52a899),
    [FACE_block6_project] = UINT64_C(0xa9f93c8122acf6aa),
    [FACE_block7_expand] = UINT64_C(0x5cf7933c33ae7fee),
    [FACE_block7_depth] = UINT64_C(0x69e2117930b6bf98),
    [FACE_block7_project] = UINT64_C(0xeaf5511a89288b89),
    [FACE_block8_expand] = UINT64_C(0x8de62c43d2abe4fe),
    [FACE_block8_depth] = UINT64_C(0xd5b31475abb535e6),
    [FACE_block8_project] = UINT64_C(0x9c8db90e4efe19f2),
    [FACE_block9_expand] = UINT64_C(0xa098040d46d89c7f),
    [FACE_block9_depth] = UINT64_C(0xdfcdfaa37d4a912b),
    [FACE_block9_project] = UINT64_C(0x60767ee57c172190),
    [FACE_block10_expand] = UINT64_C(0x498a1732b0eec184),
    [FACE_block10_depth] = UINT64_C(0xc1d51a170324220b),
    [FACE_block10_project] = UINT64_C(0x33f88a97af2c9af0),
    [FACE_block11_expand] = UINT64_C(0x75d748853eae8b19),
    [FACE_block11_depth] = UINT64_C(0x14786fc98b06905e),
    [FACE_block11_project] = UINT64_C(0x72b74f6541775fd9),
    [FACE_block12_expand] = UINT64_C(0x20b03ed08bededf8),
    [FACE_block12_depth] = UINT64_C(0x8b1f75c909066049),
    [FACE_block12_project] = UINT64_C(0xe36fc3adb5c7a1f4),
    [FACE_block13_expand] = UINT64_C(0x5c6b9fcc4e759d4f),
    [FACE_block13_depth] = UINT64_C(0x87e16aff3a207c8b),
    [FACE_block13_project] = UINT64_C(0x72a1d6fea3247efe),
    [FACE_block14_expand] = UINT64_C(0x164fc18a681f248f),
    [FACE_block14_depth] = UINT64_C(0xab42d2a4f2f65d54),
    [FACE_block14_project] = UINT64_C(0x68929db3b29d6d3c),
    [FACE_block15_expand] = UINT64_C(0x8387d60347ac69d6),
    [FACE_block15_depth] = UINT64_C(0xecdb3d4edaf7e0bb),
    [FACE_block15_project] = UINT64_C(0x34e461eaf4900375),
    [FACE_block16_expand] = UINT64_C(0xa1638f89aabc78d0),
    [FACE_block16_depth] = UINT64_C(0x8e8985d097780bf6),
    [FACE_block16_project] = UINT64_C(0x72423d719d413996),
    [FACE_neck32] = UINT64_C(0x4a198347f65c4b9b),
    [FACE_up16] = UINT64_C(0x46e67014e4174bd1),
    [FACE_neck16] = UINT64_C(0x490f1ab04c8ce24a),
    [FACE_up8] = UINT64_C(0xd81f320f0743e76c),
    [FACE_neck8] = UINT64_C(0x2c6a47d012b3f466),
    [FACE_up4] = UINT64_C(0x0a16f7ee72194825),
    [FACE_neck4] = UINT64_C(0xa3127599ecc5b2bf),
    [FACE_smooth] = UINT64_C(0x2fc3e7814597b698),
    [FACE_heads] = UINT64_C(0xce6fdc657beae143),
};

static void test_all_layers(void **state) {
    (void)state;
    static uint8_t rgb[WIDTH * HEIGHT * 3];
    struct network_fixture fixture;
    uint64_t hashes[FACE_LAYERS];
    network_fixture_make(&fixture, &detector_faces);
    network_fixture_paint(rgb, sizeof rgb);
    free(reference_network(&fixture.weights, 0, rgb, WIDTH, HEIGHT, hashes));
    for (int i = 0; i < FACE_LAYERS; i++) {
        if (hashes[i] != expected[i]) {
            fail_msg("layer %s differs", detector_faces.network->layer[i].name);
        }
    }
    network_fixture_free(&fixture);
}

/* An input is the output of an earlier layer with as many channels, and so is an addend. */
static void test_the_table_fits_together(void **state) {
    (void)state;
    for (int i = 0; i < FACE_LAYERS; i++) {
        const struct network_layer *layer = &detector_faces.network->layer[i];
        assert_true(layer->input < i && layer->addend < i);
        assert_int_equal(layer->inputs, layer->input == NETWORK_PICTURE
                                            ? 3
                                            : detector_faces.network->layer[layer->input].outputs);
        assert_true(layer->addend == NETWORK_NONE ||
                    detector_faces.network->layer[layer->addend].outputs == layer->outputs);
        assert_true(layer->outputs <= 960);
        bool pads = layer->kind == NETWORK_DENSE || layer->kind == NETWORK_DEPTH;
        assert_true(!pads || layer->input == NETWORK_PICTURE ||
                    detector_faces.network->layer[layer->input].activation == NETWORK_RELU);
    }
}

/* What is planned for a detector fits its network. */
static void test_rows(void **state) {
    (void)state;
    for (unsigned i = 0; i < DETECTORS; i++) {
        const struct detector *detector = detector_get(i);
        struct error err;
        assert_non_null(detector->search);
        if (detector->network) {
            assert_int_equal(network_check(detector->network, &err), ST_OK);
            assert_int_equal(detector->unit % detector->network->unit, 0);
            assert_int_equal(detector->cell, network_cell(detector->network, detector->output));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_layers),
        cmocka_unit_test(test_the_table_fits_together),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
