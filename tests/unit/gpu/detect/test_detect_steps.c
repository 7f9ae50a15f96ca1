/* SPDX-License-Identifier: MIT
 * The patterns that kernels of the GPU have are found in tables of layers, and other tables are refused.
 * tests/gpu/faces.c runs a made-up network of them. */
#include "detect/faces/faces.h"
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

/* Layer `index` of the made-up network is another one. */
static void refused(int index, const struct network_layer *other, const char *named) {
    struct network_layer layers[NETWORK_LAYERS_MAX];
    struct network network = *networks_blocks.network;
    struct error err = {0};
    memcpy(layers, network.layer, (size_t)network.layers * sizeof *layers);
    layers[index] = *other;
    network.layer = layers;
    assert_int_equal(network_check(&network, &err), ST_OK);
    assert_int_equal(pack_layout(&network, &layout, &err), ST_UNSUPPORTED);
    if (!strstr(err.text, "there are no kernels for layer") || !strstr(err.text, named)) {
        fail_msg("\"%s\" does not name %s", err.text, named);
    }
}

static void test_refusals(void **state) {
    (void)state;
    struct error err = {0};
    struct network_layer other = networks_blocks.network->layer[8];
    other.activation = NETWORK_RELU; /* a projection with a ReLU */
    refused(8, &other, "two_expand");
    other = networks_blocks.network->layer[12], other.activation = NETWORK_LINEAR;
    refused(12, &other, "neck");
    other = networks_blocks.network->layer[13], other.activation = NETWORK_LINEAR;
    refused(13, &other, "up");
    other = networks_blocks.network->layer[14], other.addend = NETWORK_NONE;
    refused(14, &other, "up");
    assert_int_equal(pack_layout(networks_mixed.network, &layout, &err), ST_UNSUPPORTED);
    assert_int_equal(pack_layout(networks_odd.network, &layout, &err), ST_UNSUPPORTED);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_of_faces),
                                       cmocka_unit_test(test_steps_of_another_network),
                                       cmocka_unit_test(test_refusals), cmocka_unit_test(test_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
