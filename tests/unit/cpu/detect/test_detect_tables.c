/* SPDX-License-Identifier: MIT
 * The runner of networks on the CPU loops over tables: made-up networks give the sums of the reference at
 * each level, and what the kernels cannot run is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/processor.h"
#include "cpu/detect/detect_search.h"
#include "cpu/detect/detect_tensors.h"
#include "detect/faces/faces.h"
#include "tests/filters/network_fixture.h"
#include "tests/filters/networks.h"
#include "tests/filters/reference/reference_network.h"
#include "tests/filters/tiles_emulated.h"
#include "tests/filters/tiles_kernels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct level {
    const char *name;
    enum processor_level level;
    const struct detect_kernels *(*kernels)(void);
} levels[] = {
    {"plain", PROCESSOR_PLAIN, detect_kernels_plain},
    {"amx, emulated", PROCESSOR_PLAIN, tiles_kernels_plain},
    {"baseline", PROCESSOR_BASELINE, detect_kernels_baseline},
#if defined(__x86_64__)
    {"avx2", PROCESSOR_AVX2, detect_kernels_avx2},
    {"avx512", PROCESSOR_AVX512, detect_kernels_avx512},
    {"amx, emulated, with avx512", PROCESSOR_AVX512, tiles_kernels_avx512},
#if PROCESSOR_TILES
    {"amx", PROCESSOR_AMX, detect_kernels_amx},
#endif
#elif defined(__aarch64__)
    {"neon", PROCESSOR_NEON, detect_kernels_neon},
#endif
};

static struct candidates found;

/* Compares the sums of all cells. */
static void check_sums(const struct network *network, const int32_t *sums, uint32_t width, uint32_t height,
                       const char *level) {
    const uint32_t side = (uint32_t)network_cell(network, 0), columns = width / side, rows = height / side;
    const size_t bytes = (size_t)network->sums * sizeof *sums;
    assert_int_equal(found.count, columns * rows);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct candidate *cell = &found.candidate[i];
        assert_int_equal(cell->y * columns + cell->x, i);
        if (memcmp(cell->sum, sums + i * (size_t)network->sums, bytes) != 0) {
            fail_msg("%s at %ux%u: cell %u has other sums", level, width, height, i);
        }
        for (int j = network->sums; j < CANDIDATES_SUMS; j++) {
            assert_int_equal(cell->sum[j], 0);
        }
    }
}

/* Compares the bytes of a map, or of cells. */
static void check_map(const struct image *map, const int32_t *bytes, const char *level) {
    for (uint32_t y = 0; y < map->height; y++) {
        for (uint32_t x = 0; x < map->width; x++) {
            const int byte = plane_row(&map->plane[0], y)[x];
            if (byte != bytes[(size_t)y * map->width + x]) {
                fail_msg("%s at %ux%u: the map has %d at (%u, %u)", level, map->width, map->height, byte, x,
                         y);
            }
        }
    }
}

/* Runs a search for these outputs, which writes their maps or, of heads, the sums. */
static void run_level(const struct level *level, const struct network_fixture *fixture,
                      const struct image *image, const struct detect_wanted output[NETWORK_OUTPUTS_MAX]) {
    struct detect_network *packed = NULL;
    struct error err = {0};
    struct scratch scratch = {0};
    const struct cpu_context context = {.scratch = &scratch};
    assert_int_equal(detect_pack(&fixture->weights, level->kernels(), &packed, &err), ST_OK);
    struct detect_search search = {.network = packed,
                                   .source = image,
                                   .width = image->width,
                                   .height = image->height,
                                   .candidates = fixture->detector->network->sums > 0 ? &found : NULL};
    memcpy(search.output, output, sizeof search.output);
    assert_int_equal(detect_search_run(&context, &search, &err), ST_OK);
    assert_null(tiles_emulated_fault());
    assert_false(tiles_emulated_configured()); /* nothing of a picture stays in them */
    detect_pack_free(packed);
    scratch_finish(&scratch);
}

static struct image make_map(const struct network *network, unsigned output, const struct image *image) {
    const uint32_t cell = (uint32_t)network_cell(network, output);
    const struct image_shape shape = {.model = PIXEL_GRAY,
                                      .depth = 8,
                                      .width =
                                          image->width / cell * (uint32_t)network_cell_bytes(network, output),
                                      .height = image->height / cell};
    struct image map;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&map, &shape));
    assert_non_null(memory);
    image_place(&map, memory);
    return map;
}

/* Each map by itself, then all in one search. */
static void check_maps(const struct level *level, const struct network_fixture *fixture,
                       const struct image *image, int32_t *const sums[NETWORK_OUTPUTS_MAX]) {
    const struct network *network = fixture->detector->network;
    const bool anchors = network->anchors[0] > 0;
    const struct detector *const detectors[] = {fixture->detector,
                                                anchors ? fixture->detector : &networks_head};
    for (unsigned wanted = 1; wanted < 1u << network->outputs; wanted++) {
        struct detect_wanted output[NETWORK_OUTPUTS_MAX] = {0};
        struct image map[NETWORK_OUTPUTS_MAX];
        for (unsigned i = 0; i < (unsigned)network->outputs; i++) {
            map[i] = make_map(network, i, image);
            output[i] = (struct detect_wanted){wanted >> i & 1 ? detectors[i] : NULL, INT32_MIN, &map[i]};
        }
        run_level(level, fixture, image, output);
        for (unsigned i = 0; i < (unsigned)network->outputs; i++) {
            if (wanted >> i & 1) {
                check_map(&map[i], sums[i], level->name);
            }
            free(map[i].plane[0].data);
        }
    }
}

static void check_level(const struct level *level, const struct network_fixture *fixture,
                        const struct image *image, int32_t *const sums[NETWORK_OUTPUTS_MAX]) {
    const struct network *network = fixture->detector->network;
    if (network->sums == 0) {
        check_maps(level, fixture, image, sums);
        return;
    }
    const struct detect_wanted output[NETWORK_OUTPUTS_MAX] = {{fixture->detector, INT32_MIN, NULL}};
    run_level(level, fixture, image, output);
    check_sums(network, sums[0], image->width, image->height, level->name);
}

static void check_size(const struct network_fixture *fixture, uint32_t width, uint32_t height) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = width, .height = height};
    struct image image;
    const size_t size = image_layout(&image, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size), *rgb = calloc((size_t)width * height, 3);
    assert_true(memory && rgb);
    image_place(&image, memory);
    network_fixture_paint(rgb, (size_t)width * height * 3);
    for (uint32_t y = 0; y < height; y++) {
        memcpy(plane_row(&image.plane[0], y), rgb + (size_t)y * width * 3, (size_t)width * 3);
    }
    int32_t *sums[NETWORK_OUTPUTS_MAX] = {0};
    for (unsigned i = 0; i < (unsigned)fixture->detector->network->outputs; i++) {
        sums[i] = reference_network(&fixture->weights, i, rgb, (int)width, (int)height, NULL);
    }
    for (unsigned i = 0; i < COUNT(levels); i++) {
        if (processor_allows(levels[i].level)) {
            check_level(&levels[i], fixture, &image, sums);
        }
    }
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        free(sums[i]);
    }
    free(rgb);
    free(memory);
}

/* Small ones, narrow ones, and one that is cut into tiles. */
static void check_detector(const struct detector *detector) {
    const uint32_t unit = (uint32_t)detector->network->unit;
    struct network_fixture fixture;
    struct error err = {0};
    assert_int_equal(network_check(detector->network, &err), ST_OK);
    network_fixture_make(&fixture, detector);
    check_size(&fixture, unit, unit);
    check_size(&fixture, 5 * unit, unit);
    check_size(&fixture, unit, 7 * unit);
    check_size(&fixture, 9 * unit, 4 * unit);
    check_size(&fixture, 4096, unit);
    network_fixture_free(&fixture);
}

static void test_all_kinds_of_layers(void **state) {
    (void)state;
    check_detector(&networks_mixed);
}

static void test_maps(void **state) {
    (void)state;
    check_detector(&networks_map);
}

static void test_anchors(void **state) {
    (void)state;
    check_detector(&networks_anchors);
}

static void test_odd_channels(void **state) {
    (void)state;
    check_detector(&networks_odd);
}

static void test_other_blocks(void **state) {
    (void)state;
    check_detector(&networks_blocks);
}

/* Inverted residual blocks are found in the table of faces, each a pass, and only the first one is made of
 * the picture. */
static void test_blocks_are_recognised(void **state) {
    (void)state;
    struct detect_passes passes;
    detect_passes_cut(detector_faces.network, 1, &passes);
    assert_int_equal(passes.count, 20);
    assert_int_equal(passes.pass[0].last, FACE_block1_project);
    for (int i = 1; i < 16; i++) {
        assert_int_equal(passes.pass[i].first, FACE_block2_expand + 3 * (i - 1));
        assert_int_equal(passes.pass[i].last, FACE_block2_project + 3 * (i - 1));
    }
    assert_true(passes.pass[16].first == FACE_neck32 && passes.pass[16].last == FACE_neck32);
    assert_true(passes.pass[17].first == FACE_up16 && passes.pass[18].first == FACE_up8);
    assert_true(passes.pass[19].first == FACE_up4 && passes.pass[19].last == FACE_heads);
}

/* ---- refusals ---- */

/* Layer `index` of the mixed network is another one: the sentence has `reason`. */
static void refused(int index, const struct network_layer *other, const char *reason) {
    struct network_layer layers[NETWORK_LAYERS_MAX];
    struct network network = *networks_mixed.network;
    struct detect_network *packed = NULL;
    struct model_weights weights = {.network = &network};
    struct error err = {0};
    memcpy(layers, network.layer, (size_t)network.layers * sizeof *layers);
    layers[index] = *other;
    network.layer = layers;
    assert_int_equal(detect_pack(&weights, detect_kernels_plain(), &packed, &err), ST_UNSUPPORTED);
    if (!strstr(err.text, reason)) {
        fail_msg("\"%s\" does not have \"%s\"", err.text, reason);
    }
    assert_null(packed);
}

static struct network_layer layer_of(int index) {
    return networks_mixed.network->layer[index];
}

static void test_tables_that_do_not_fit_together(void **state) {
    (void)state;
    struct network_layer other = layer_of(3);
    other.input = 3;
    refused(3, &other, "layer wide reads no layer before it");
    other = layer_of(3), other.inputs = 16;
    refused(3, &other, "layer wide does not have the channels of its input");
    other = layer_of(7), other.stride = 3;
    refused(7, &other, "layer halved has a wrong stride or size");
    other = layer_of(7), other.size = 4;
    refused(7, &other, "layer halved has a wrong stride or size");
    other = layer_of(6), other.activation = NETWORK_TABLE;
    refused(6, &other, "layer halved reads what has no zero");
    other = layer_of(5), other.addend = 1;
    refused(5, &other, "layer added adds what does not fit");
    other = layer_of(12), other.kind = NETWORK_HEADS, other.size = 1;
    refused(12, &other, "layer smooth is in the wrong place");
    other = layer_of(13), other.outputs = 4;
    refused(13, &other, "layer heads is in the wrong place, or has not the 5 channels of a result");
}

static void test_what_no_kernel_does(void **state) {
    (void)state;
    struct network_layer other = layer_of(4);
    other.addend = 3;
    refused(4, &other, "the depthwise layer filter needs a multiple of 16 channels, and no addend");
    other = layer_of(0), other.kind = NETWORK_POINT, other.size = other.stride = 1;
    struct network_layer table[] = {other,
                                    {"heads", NETWORK_HEADS, 1, 0, NETWORK_NONE, 16, 1, 1, NETWORK_LINEAR}};
    struct network network = {.layer = table, .layers = 2, .unit = 1, .sums = 1, .outputs = 1, .output = {1}};
    struct error err = {0};
    assert_int_equal(network_check(&network, &err), ST_OK);
    assert_int_equal(detect_tensors_check(&network, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "layer stem reads the picture"));
    table[0].kind = NETWORK_DENSE, table[0].size = 3, table[0].outputs = table[1].inputs = 2000;
    assert_int_equal(detect_tensors_check(&network, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "layer heads adds more than"));
    network.layers = NETWORK_LAYERS_MAX + 1;
    assert_int_equal(network_check(&network, &err), ST_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_layers),   cmocka_unit_test(test_maps),
        cmocka_unit_test(test_odd_channels),          cmocka_unit_test(test_other_blocks),
        cmocka_unit_test(test_blocks_are_recognised), cmocka_unit_test(test_tables_that_do_not_fit_together),
        cmocka_unit_test(test_what_no_kernel_does),   cmocka_unit_test(test_anchors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
