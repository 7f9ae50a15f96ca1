/* SPDX-License-Identifier: MIT
 * The file with the weights of the face detector: what is refused, and with which sentence. */
#include "detect/faces/faces.h"
#include "tests/filters/network_fixture.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct network_fixture fixture;

static int set_up(void **state) {
    (void)state;
    network_fixture_make(&fixture, &detector_faces);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    network_fixture_free(&fixture);
    return 0;
}

static struct bytes whole(void) {
    return (struct bytes){fixture.file, model_size(detector_faces.network)};
}

/* What the reader says of the fixture as it is now. */
static enum status parsed(struct error *err) {
    struct model_weights weights;
    *err = (struct error){0};
    return model_parse(&detector_faces, whole(), &weights, err);
}

static void *place(int layer, enum model_array array) {
    return fixture.file + network_fixture_offset(&fixture, layer, array);
}

/* Writes over a place, with or without a checksum that is right, and expects the sentence. */
static void refused(void *at, const void *value, size_t size, bool sealed, const char *sentence) {
    uint8_t before[64];
    struct error err;
    memcpy(before, at, size);
    memcpy(at, value, size);
    if (sealed) {
        network_fixture_seal(&fixture);
    }
    assert_int_equal(parsed(&err), ST_CORRUPT);
    if (!strstr(err.text, sentence)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, sentence);
    }
    memcpy(at, before, size);
    network_fixture_seal(&fixture);
    assert_int_equal(parsed(&err), ST_OK);
}

static void refused_float(void *at, float value, const char *sentence) {
    refused(at, &value, sizeof value, true, sentence);
}

static void test_all_arrays_are_found(void **state) {
    (void)state;
    for (int i = 0; i < FACE_LAYERS; i++) {
        const struct model_layer *layer = &fixture.weights.layers[i];
        assert_ptr_equal(layer->weights, place(i, MODEL_WEIGHTS));
        assert_ptr_equal(layer->scale, place(i, MODEL_SCALES));
        assert_ptr_equal(layer->bias, place(i, MODEL_BIASES));
        assert_memory_equal(&layer->addend_scale, place(i, MODEL_TERMS), sizeof(float));
        assert_int_equal((uintptr_t)layer->weights % MODEL_ALIGNMENT, 0);
    }
    assert_int_equal(model_size(detector_faces.network), 1936640);
}

static void test_wrong_start_size_or_sum(void **state) {
    (void)state;
    struct error err = {0};
    struct model_weights weights;
    refused(fixture.file, "blurdfc2", 8, true, "this is not a face model");
    refused(fixture.file + 8, "\1", 1, true, "beside the face model's magic");
    refused(fixture.file + model_size(detector_faces.network) - 1, "\1", 1, false,
            "beside the face model's magic or checksum");
    refused(fixture.file + model_size(detector_faces.network) - MODEL_ALIGNMENT, "?", 1, false,
            "checksum is wrong");
    refused(fixture.file + 100, "?", 1, false, "checksum is wrong");
    for (size_t size = 0; size < model_size(detector_faces.network); size = 2 * size + 1) {
        assert_int_equal(model_parse(&detector_faces, (struct bytes){fixture.file, size}, &weights, &err),
                         ST_CORRUPT);
        assert_non_null(strstr(err.text, size < 8 ? "this is not" : "it must have 1936640"));
    }
}

static void test_wrong_numbers(void **state) {
    (void)state;
    float *scale = place(FACE_first_project, MODEL_SCALES), *pair = place(FACE_block2_project, MODEL_TERMS);
    refused_float(scale + 3, 0, "layer first_project has the scale 0 in channel 3");
    refused_float(scale + 3, -1, "has the scale -1");
    refused_float(scale + 3, NAN, "has the scale");
    refused_float(scale + 3, INFINITY, "has the scale inf");
    refused_float(scale + 15, 1e20f, "the scale 1e+20 of layer first_project is too large in channel 15");
    refused_float(pair, 0, "layer block2_project has the addend_scale 0");
    refused_float(pair, -1, "has the addend_scale -1");
    refused_float(pair, INFINITY, "has the addend_scale inf");
    refused_float(pair, 1e9f, "is too large");
    refused_float(pair + 1, NAN, "layer block2_project has the offset");
    refused_float(pair + 1, -2e9f, "has the offset -2e+09");
    refused_float(place(FACE_stem, MODEL_TERMS), 1, "layer stem has the addend_scale 1");
    refused(place(FACE_up8, MODEL_WEIGHTS), "\x80", 1, true, "layer up8 has a weight of -128");
    refused((uint8_t *)place(FACE_heads, MODEL_SCALES) + 60, "\1", 1, true,
            "something lies between the arrays of layer heads");
}

/* In each kind of layer: the largest sum counts the weights of that channel alone. */
static void test_sums_that_do_not_fit(void **state) {
    (void)state;
    static const int layers[] = {FACE_stem, FACE_block7_depth, FACE_block16_expand, FACE_up4, FACE_heads};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct network_layer *form = &detector_faces.network->layer[layers[i]];
        char sentence[96];
        int32_t least = INT32_MIN;
        int32_t *bias = place(layers[i], MODEL_BIASES);
        int last = form->outputs - 1;
        snprintf(sentence, sizeof sentence, "layer %s may not fit into 32 bits in channel %d", form->name,
                 last);
        refused(bias + last, &least, sizeof least, true, sentence);
        int32_t one = INT32_MAX;
        refused(bias + last, &one, sizeof one, true, sentence);
    }
}

static char path[64];

static void write_file(const void *data, size_t size) {
    snprintf(path, sizeof path, "/tmp/face-model-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void test_a_file_is_read_at_first_use(void **state) {
    (void)state;
    struct model model;
    struct error err = {0};
    const struct model_weights *weights, *again;
    write_file(fixture.file, model_size(detector_faces.network));
    assert_int_equal(model_open(&model, &detector_faces, path, &err), ST_OK);
    unlink(path);
    assert_int_equal(model_read(&model, &weights, &err), ST_OK);
    assert_int_equal(model_read(&model, &again, &err), ST_OK);
    assert_ptr_equal(weights, again);
    assert_memory_equal(weights->layers[FACE_smooth].weights, place(FACE_smooth, MODEL_WEIGHTS), 24 * 24 * 9);
    model_close(&model);
}

static void test_damage_is_found_at_first_use(void **state) {
    (void)state;
    struct model model;
    struct error err = {0};
    const struct model_weights *weights;
    fixture.file[1000]++;
    write_file(fixture.file, model_size(detector_faces.network));
    fixture.file[1000]--;
    assert_int_equal(model_open(&model, &detector_faces, path, &err), ST_OK);
    for (int i = 0; i < 2; i++) {
        err = (struct error){0};
        assert_int_equal(model_read(&model, &weights, &err), ST_CORRUPT);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, "checksum is wrong"));
    }
    model_close(&model);
    assert_int_equal(model_open(&model, &detector_faces, path, &err), ST_OK);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(model_read(&model, &weights, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "cannot be read"));
    model_close(&model);
    unlink(path);
}

static void does_not_open(const char *name, const char *sentence) {
    struct model model;
    struct error err = {0};
    assert_int_equal(model_open(&model, &detector_faces, name, &err), ST_ARGUMENT);
    assert_non_null(strstr(err.text, sentence));
}

static void test_what_is_no_model_does_not_open(void **state) {
    (void)state;
    does_not_open("/nonexistent/model", "cannot open the face model /nonexistent/model: No such file");
    does_not_open("/", "the face model / is not a file");
    does_not_open("/dev/zero", "is not a file");
    write_file(fixture.file, 0);
    does_not_open(path, "this is not a face model");
    unlink(path);
    write_file(fixture.file, model_size(detector_faces.network) - 1);
    does_not_open(path, "the face model has 1936639 bytes, it must have 1936640");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    does_not_open(path, "is not a file");
    unlink(path);
}

/* Beside this program there is none, and a path that is too long is no crash. */
static void test_default_path(void **state) {
    (void)state;
    char found[MODEL_PATH_MAX] = "?";
    model_default(&detector_faces, found);
    assert_string_equal(found, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_arrays_are_found),
        cmocka_unit_test(test_wrong_start_size_or_sum),
        cmocka_unit_test(test_wrong_numbers),
        cmocka_unit_test(test_sums_that_do_not_fit),
        cmocka_unit_test(test_a_file_is_read_at_first_use),
        cmocka_unit_test(test_damage_is_found_at_first_use),
        cmocka_unit_test(test_what_is_no_model_does_not_open),
        cmocka_unit_test(test_default_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
