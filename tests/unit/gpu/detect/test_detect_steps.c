/* SPDX-License-Identifier: MIT
 * The patterns that kernels of the GPU have are found in tables of layers, other layers are steps of their
 * own, and tables with what there is no kernel for are refused. tests/gpu/faces.c runs made-up networks of
 * them. */
#include "detect/faces/faces.h"
#include "detect/text/text.h"
#include "gpu/detect/pack.h"
#include "tests/filters/network_fixture.h"
#include "tests/filters/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct pack_layout layout;

static void test_steps_of_faces(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(pack_layout(detector_faces.network, &layout, &err), ST_OK);
    assert_int_equal(layout.count, 22);
    for (int i = 0; i < layout.count; i++) {
        const enum pack_kind kind = i == 0   ? PACK_STEM
                                    : i < 17 ? PACK_BLOCK
                                    : i < 21 ? PACK_NECK
                                             : PACK_HEADS;
        assert_int_equal(layout.step[i].kind, kind);
    }
    assert_int_equal(layout.step[16].last, FACE_block16_project);
    assert_int_equal(layout.step[17].last, FACE_neck32);
    assert_int_equal(pack_up_layer(&layout.step[17]), NETWORK_NONE);
    assert_int_equal(pack_up_layer(&layout.step[20]), FACE_up4);
}

static void test_steps_of_another_network(void **state) {
    (void)state;
    static const enum pack_kind kinds[] = {PACK_STEM, PACK_BLOCK, PACK_BLOCK, PACK_BLOCK,
                                           PACK_NECK, PACK_NECK,  PACK_HEADS};
    struct error err = {0};
    assert_int_equal(pack_layout(networks_blocks.network, &layout, &err), ST_OK);
    assert_int_equal(layout.count, sizeof kinds / sizeof *kinds);
    for (int i = 0; i < layout.count; i++) {
        assert_int_equal(layout.step[i].kind, kinds[i]);
    }
}

/* The kinds of steps when layer `index` of the network of blocks is another one. */
static void has_steps(int index, const struct network_layer *other, unsigned count,
                      const enum pack_kind *kinds) {
    struct network_layer layers[NETWORK_LAYERS_MAX];
    struct network network = *networks_blocks.network;
    struct error err = {0};
    memcpy(layers, network.layer, (size_t)network.layers * sizeof *layers);
    layers[index] = *other;
    network.layer = layers;
    assert_int_equal(pack_layout(&network, &layout, &err), ST_OK);
    assert_int_equal(layout.count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(layout.step[i].kind, kinds[i]);
    }
}

/* What is no pattern runs layer by layer. */
static void test_single_layers(void **state) {
    (void)state;
    static const enum pack_kind block[] = {PACK_STEM,  PACK_BLOCK, PACK_PRODUCT, PACK_DEPTH, PACK_PRODUCT,
                                           PACK_BLOCK, PACK_NECK,  PACK_NECK,    PACK_HEADS};
    static const enum pack_kind neck[] = {PACK_STEM, PACK_BLOCK,   PACK_BLOCK, PACK_BLOCK,
                                          PACK_NECK, PACK_PRODUCT, PACK_NECK,  PACK_HEADS};
    static const enum pack_kind stem[] = {PACK_PICTURE, PACK_PRODUCT, PACK_DEPTH, PACK_PRODUCT, PACK_BLOCK,
                                          PACK_BLOCK,   PACK_BLOCK,   PACK_NECK,  PACK_NECK,    PACK_HEADS};
    struct network_layer other = networks_blocks.network->layer[8];
    other.activation = NETWORK_RELU; /* a projection with a ReLU */
    has_steps(8, &other, 9, block);
    other = networks_blocks.network->layer[14], other.addend = NETWORK_NONE;
    has_steps(14, &other, 8, neck);
    other = networks_blocks.network->layer[2], other.activation = NETWORK_RELU;
    has_steps(2, &other, 10, stem);
}

static void test_steps_of_a_map(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(pack_layout(networks_map.network, &layout, &err), ST_OK);
    assert_int_equal(layout.count, networks_map.network->layers + 1);
    assert_int_equal(layout.step[0].kind, PACK_PICTURE);
    assert_int_equal(layout.step[2].kind, PACK_POOL);
    assert_int_equal(layout.step[5].kind, PACK_CONCAT);
    assert_int_equal(layout.step[8].kind, PACK_DEPTH);
    assert_int_equal(layout.step[9].kind, PACK_EXCITE);
    assert_int_equal(layout.step[layout.count - 1].kind, PACK_PRODUCT);
    assert_int_equal(pack_layout(detector_text.network, &layout, &err), ST_OK);
}

static void refused(const struct network *network, const char *named) {
    struct error err = {0};
    assert_int_equal(network_check(network, &err), ST_OK);
    assert_int_equal(pack_layout(network, &layout, &err), ST_UNSUPPORTED);
    if (!strstr(err.text, "there is no kernel for layer") || !strstr(err.text, named)) {
        fail_msg("\"%s\" does not name %s", err.text, named);
    }
}

/* Heads that no pattern has, and channels that are no words. */
static void test_refusals(void **state) {
    (void)state;
    refused(networks_mixed.network, "heads");
    refused(networks_odd.network, "stem");
}

/* Kernels leave out offsets within a step. */
static void test_offsets(void **state) {
    (void)state;
    struct network_fixture fixture;
    struct error err = {0};
    network_fixture_make(&fixture, &networks_blocks);
    assert_int_equal(pack_layout(networks_blocks.network, &layout, &err), ST_OK);
    uint8_t *memory = calloc(1, layout.size);
    assert_non_null(memory);
    assert_int_equal(pack_weights(&fixture.weights, &layout, memory, &err), ST_OK);
    fixture.weights.layers[15].offset = 1;
    assert_int_equal(pack_weights(&fixture.weights, &layout, memory, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "layer smooth of the model has an offset"));
    free(memory);
    network_fixture_free(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_of_faces), cmocka_unit_test(test_steps_of_another_network),
        cmocka_unit_test(test_single_layers),  cmocka_unit_test(test_steps_of_a_map),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
