/* SPDX-License-Identifier: MIT
 * Faces in photographs: what the network in 8 bits finds, against the boxes of the network in single
 * precision: the photographs and boxes of docs/faces.md, which are not in the repository
 * (FACES=../shared/faces). Skipped without them, or where the build has made no model;
 * tests/http/test_detect.py has a picture of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs/codec.h"
#include "core/json/json_reader.h"
#include "core/numbers.h"
#include "cpu/cpu.h"
#include "detect/faces/faces.h"
#include "tests/filters/filter_levels.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

#define MODEL "build/models/centerface.face"

enum { PLACES_MAX = 64, FILE_MAX = 4 << 20, SKIPPED = 77 };

static const double least_score = 0.2, sure_score = 0.5, invented_score = 0.6;

/* Corners and score. */
struct place {
    double x1, y1, x2, y2, score;
};

struct tally {
    unsigned sure, close, closest, invented; /* overlaps of 0.75 and 0.9 */
};

static const char *folder = "../shared/faces";
static struct model model;
static const struct model_weights *weights;
static struct backend *backend;
static struct lane *lane;

static struct bytes read_file(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(FILE_MAX);
    assert_true(file && data);
    struct bytes whole = {data, fread(data, 1, FILE_MAX, file)};
    fclose(file);
    return whole;
}

static double overlap(const struct place *a, const struct place *b) {
    double both =
        fmax(0, fmin(a->x2, b->x2) - fmax(a->x1, b->x1)) * fmax(0, fmin(a->y2, b->y2) - fmax(a->y1, b->y1));
    double one = (a->x2 - a->x1) * (a->y2 - a->y1), other = (b->x2 - b->x1) * (b->y2 - b->y1);
    return both / (one + other - both);
}

static double best(const struct place *box, const struct place *others, unsigned count) {
    double most = 0;
    for (unsigned i = 0; i < count; i++) {
        most = fmax(most, overlap(box, &others[i]));
    }
    return most;
}

/* ---- a picture's faces ---- */

static struct test_image decoded(struct bytes file, bool native) {
    struct codec_limits limits = {
        .max_pixels = 1u << 26, .max_side = 1u << 14, .max_scans = 100, .max_memory = 1u << 28};
    struct picture picture;
    struct error err = {0};
    assert_int_equal(codec_probe(file, &limits, &picture, &err), ST_OK);
    struct test_image image = test_image_make(native ? &picture.native : &picture.pixels);
    if (codec_decode(file, &picture, &limits, &image.image, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    codec_picture_finish(&picture);
    return image;
}

static unsigned rounded_up(uint32_t side) {
    return divide_up(side, 32) * 32;
}

/* Stretched to multiples of 32, as docs/faces.md says. */
static unsigned find(const struct test_image *source, struct place boxes[PLACES_MAX]) {
    static struct boxes faces;
    struct image_shape shape = image_shape(&source->image);
    char text[128];
    snprintf(text, sizeof text, "resize:width=%u height=%u fit=fill kernel=linear enlarge=true",
             rounded_up(shape.width), rounded_up(shape.height));
    struct chain chain = make_chain(text, &shape);
    struct image_shape seen = chain_result(&chain, &shape);
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {least_score}};
    struct error err = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &seen, &err), ST_OK);
    struct image_shape result = chain_result(&chain, &shape);
    struct test_image target = test_image_make(&result);
    struct chain_run run = {.chain = &chain, .source = &source->image, .target = &target.image};
    const struct boxes_frame frame = {seen.width, seen.height, shape.width, shape.height, false};
    struct candidates *candidates = (void *)plane_row(&target.image.plane[0], 0);
    if (lane_run(lane, &run, NULL, &err) != ST_OK ||
        faces_find(weights, candidates, &frame, &faces, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    assert_true(faces.count <= PLACES_MAX);
    for (unsigned i = 0; i < faces.count; i++) {
        const struct box *face = &faces.box[i];
        boxes[i] =
            (struct place){face->x, face->y, face->x + face->width, face->y + face->height, face->score};
    }
    test_image_free(&target);
    return faces.count;
}

static void compare(const char *name, bool native, const struct place *reference, unsigned count,
                    struct tally *tally) {
    struct bytes file = read_file(name);
    struct test_image source = decoded(file, native);
    struct place found[PLACES_MAX];
    unsigned faces = find(&source, found);
    for (unsigned i = 0; i < count; i++) {
        double most = best(&reference[i], found, faces);
        bool sure = reference[i].score >= sure_score;
        tally->sure += sure;
        tally->close += sure && most >= 0.75;
        tally->closest += sure && most >= 0.9;
        if (sure && most < 0.75) {
            print_message("%s: the face at %.0f, %.0f overlaps by %.2f\n", name, reference[i].x1,
                          reference[i].y1, most);
        }
    }
    for (unsigned i = 0; i < faces; i++) {
        tally->invented += found[i].score >= invented_score && best(&found[i], reference, count) < 0.3;
    }
    test_image_free(&source);
    free((void *)(uintptr_t)file.data);
}

/* ---- the reference ---- */

static void read_box(struct json_reader *reader, struct place *box) {
    double *const number[] = {&box->x1, &box->y1, &box->x2, &box->y2, &box->score};
    bool more;
    assert_true(json_reader_open(reader, '['));
    for (unsigned i = 0; i < 5; i++) {
        assert_true(json_reader_next(reader, ']', &more) && more && json_reader_number(reader, number[i]));
    }
    assert_true(json_reader_next(reader, ']', &more) && !more);
}

static unsigned read_boxes(struct json_reader *reader, struct place boxes[PLACES_MAX]) {
    unsigned count = 0;
    bool more;
    assert_true(json_reader_open(reader, '['));
    while (json_reader_next(reader, ']', &more) && more) {
        assert_true(count < PLACES_MAX);
        read_box(reader, &boxes[count++]);
    }
    return count;
}

static void read_picture(struct json_reader *reader, const char *name, bool native, struct tally *tally) {
    struct place boxes[PLACES_MAX];
    char member[16];
    bool more;
    assert_true(json_reader_open(reader, '{'));
    while (json_reader_next(reader, '}', &more) && more) {
        assert_true(json_reader_name(reader, member, sizeof member));
        if (strcmp(member, "boxes") == 0) {
            compare(name, native, boxes, read_boxes(reader, boxes), tally);
        } else {
            assert_true(json_reader_skip(reader));
        }
    }
}

/* As the issue of this feature demands, and as docs/faces.md tells. */
static void check_all(bool native) {
    struct bytes text = read_file("reference.json");
    struct json_reader reader;
    struct tally tally = {0};
    char name[64];
    bool more;
    json_reader_init(&reader, text);
    assert_true(json_reader_open(&reader, '{'));
    while (json_reader_next(&reader, '}', &more) && more) {
        assert_true(json_reader_name(&reader, name, sizeof name));
        read_picture(&reader, name, native, &tally);
    }
    print_message("%u faces: %u with an overlap of 0.75, %u with 0.9; %u invented\n", tally.sure, tally.close,
                  tally.closest, tally.invented);
    assert_true(tally.sure > 0);
    assert_int_equal(tally.close, tally.sure);
    assert_true(tally.closest * 10 >= tally.sure * 9);
    assert_int_equal(tally.invented, 0);
    free((void *)(uintptr_t)text.data);
}

static void test_pixels(void **state) {
    (void)state;
    check_all(false);
}

/* The planes of a JPEG, which the server searches. */
static void test_planes(void **state) {
    (void)state;
    check_all(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_planes),
    };
    struct error err = {0};
    folder = getenv("FACES") ? getenv("FACES") : folder;
    if (access(MODEL, R_OK) != 0 || access(folder, R_OK) != 0) {
        printf("skipped, there is no %s or no %s\n", MODEL, folder);
        return SKIPPED;
    }
    if (model_open(&model, &detector_faces, MODEL, &err) != ST_OK ||
        model_read(&model, &weights, &err) != ST_OK || cpu_backend_open("auto", &backend, &err) != ST_OK) {
        printf("faces: %s\n", err.text);
        return 1;
    }
    cpu_backend_use_model(backend, DETECTOR_FACES, &model);
    if (lane_create(backend, &lane, &err) != ST_OK) {
        printf("faces: %s\n", err.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lane_destroy(lane);
    backend_close(backend);
    model_close(&model);
    return failed;
}
