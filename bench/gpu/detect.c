/* SPDX-License-Identifier: MIT
 * Measures searches with random weights: each step, all of them, and several pictures side by side.
 * DETECT_SIZE=1920x1088 in the environment: only that size, for a profiler. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/pictures.h"
#include "core/clock.h"
#include "detect/detectors.h"
#include "gpu/detect/detect.h"
#include "gpu/detect/pack.h"
#include "tests/filters/network_fixture.h"

enum { IN_A_ROW = 20, ROUNDS = 25, FEW = 2, STREAMS = 16, EACH = 40 };

struct subject {
    struct bench *bench;
    struct gpu_stream *stream;
    struct detect_plan plan;
    struct image source, target;
    int first, end; /* steps */
};

static struct pack_layout layout; /* of the network that is measured */
static bool needed[NETWORK_LAYERS_MAX];

static bool runs(const struct pack_step *step) {
    return step->kind == PACK_PICTURE || needed[step->last];
}

static void run_kernels(void *context, unsigned i) {
    struct subject *subject = context;
    struct error err = {0};
    (void)i;
    must(gpu_detect_steps(subject->stream, &subject->plan, &subject->source, &subject->target, subject->first,
                          subject->end, &err),
         &err);
}

static double steps_us(struct subject *subject, int first, int end) {
    bool quick = subject->bench->quick;
    subject->first = first, subject->end = end;
    return device_us(subject->bench, run_kernels, subject, quick ? FEW : IN_A_ROW, quick ? FEW : ROUNDS);
}

/* Pictures per second when STREAMS of them are searched side by side. */
static double side_by_side(struct subject *subject) {
    struct gpu_stream streams[STREAMS];
    struct error err = {0};
    unsigned each = subject->bench->quick ? FEW : EACH;
    int64_t begin = 0;
    for (unsigned i = 0; i < STREAMS; i++) {
        must(gpu_stream_init(&streams[i], &subject->bench->device, &err), &err);
    }
    subject->first = 0, subject->end = layout.count;
    for (unsigned round = 0; round <= each; round++) {
        for (unsigned i = 0; i < STREAMS; i++) {
            subject->stream = &streams[i];
            run_kernels(subject, i);
        }
        if (round == 0) { /* allocates */
            for (unsigned i = 0; i < STREAMS; i++) {
                must(gpu_stream_abandon(&streams[i], ST_OK), &err);
            }
            begin = clock_ns();
        }
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        must(gpu_stream_abandon(&streams[i], ST_OK), &err);
    }
    double seconds = (double)(clock_ns() - begin) / 1e9;
    for (unsigned i = 0; i < STREAMS; i++) {
        gpu_stream_finish(&streams[i]);
    }
    return STREAMS * each / seconds;
}

/* Multiplications of a step, in thousands of millions. */
static double products(const struct pack_step *step, const struct detect_plan *plan) {
    double sum = 0;
    for (int i = step->first; i <= step->last && i >= 0; i++) {
        const struct network_layer *form = &layout.network->layer[i];
        const int shift = network_shift(layout.network, i);
        const double pixels = (double)(plan->width >> shift) * (plan->height >> shift);
        sum += pixels * (double)network_weights(form) / (form->kind == NETWORK_UP ? 4e9 : 1e9);
    }
    return sum;
}

static const char *name_of(const struct pack_step *step) {
    return step->kind == PACK_PICTURE ? "picture" : layout.network->layer[step->last].name;
}

/* A row for all steps, and one for each. */
static void bench_steps(struct subject *subject) {
    const struct detect_plan *plan = &subject->plan;
    double took[PACK_STEPS_MAX], sum = 0, work = 0;
    const double all = steps_us(subject, 0, layout.count);
    for (int i = 0; i < layout.count; i++) {
        if (!runs(&layout.step[i])) {
            continue;
        }
        took[i] = steps_us(subject, i, i + 1);
        sum += took[i];
        work += products(&layout.step[i], plan);
    }
    const double rate = side_by_side(subject);
    printf("\n| %ux%u | us | G products | T products/s |\n|---|--:|--:|--:|\n", plan->width, plan->height);
    for (int i = 0; i < layout.count; i++) {
        if (!runs(&layout.step[i])) {
            continue;
        }
        const double billions = products(&layout.step[i], plan);
        printf("| %s | %.1f | %.3f | %.1f |\n", name_of(&layout.step[i]), took[i], billions,
               billions / took[i] * 1e3);
    }
    printf("| sum of each | %.1f | %.2f | %.1f |\n| one after the other | %.1f | %.2f | %.1f |\n", sum, work,
           work / sum * 1e3, all, work, work / all * 1e3);
    printf("| %d side by side: %.0f pictures/s | %.1f | %.2f | %.1f |\n", STREAMS, rate, 1e6 / rate, work,
           work * rate / 1e3);
    fflush(stdout);
}

static uint32_t padded(uint32_t side, const struct detector *detector) {
    const uint32_t unit = (uint32_t)detector->unit;
    return (side + 2 * (uint32_t)detector->border + unit - 1) / unit * unit;
}

static void bench_size(struct bench *bench, uint32_t detectors, uint32_t width, uint32_t height) {
    const struct detector *detector = detector_get(detectors_first(detectors));
    const struct image_shape shape = {.model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1,
                                      .width = bench->quick ? width / 10 : width,
                                      .height = bench->quick ? height / 10 : height};
    const struct detect_plan plan = {.wanted = detectors,
                                     .threshold = {[0 ... DETECTORS - 1] = 1}, /* no byte is a candidate */
                                     .width = padded(shape.width, detector),
                                     .height = padded(shape.height, detector)};
    const struct image_shape result = detect_shape();
    struct image target;
    struct pictures *pictures = pictures_create(bench, &shape, image_layout(&target, &result));
    image_place(&target, pictures->device_target[0].plane[0].data);
    struct subject subject = {.bench = bench,
                              .stream = &bench->stream,
                              .plan = plan,
                              .source = pictures->device_source[0],
                              .target = target};
    bench_steps(&subject);
    pictures_destroy(bench, pictures);
}

/* Detectors with the same network. */
static void bench_detectors(struct bench *bench, uint32_t detectors) {
    const enum detector_id id = detector_model(detectors_first(detectors));
    const struct detector *detector = detector_get(id);
    uint32_t outputs = 0;
    struct error err = {0};
    struct network_fixture fixture;
    network_fixture_make(&fixture, detector);
    struct model model = {.detector = detector, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    model.weights = fixture.weights;
    must(pack_layout(detector->network, &layout, &err), &err);
    must(gpu_detect_open(&bench->device, id, &model, &err), &err);
    printf("\n### The network for");
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (detectors >> i & 1) {
            outputs |= 1u << detector_get((enum detector_id)i)->output;
            printf(" %s", detector_get((enum detector_id)i)->name);
        }
    }
    network_needed(detector->network, outputs, needed);
    printf("\n\nOf 4:2:0 pictures; microseconds, median.\n");
    uint32_t width, height;
    const char *size = getenv("DETECT_SIZE");
    if (size && sscanf(size, "%" SCNu32 "x%" SCNu32, &width, &height) == 2) {
        bench_size(bench, detectors, width, height);
    } else {
        bench_size(bench, detectors, 640, 384);
    }
    if (!bench->quick && !size) {
        bench_size(bench, detectors, 1280, 736);
        bench_size(bench, detectors, 1920, 1088);
    }
    gpu_detect_close(&bench->device);
    network_fixture_free(&fixture);
}

void bench_faces(struct bench *bench) {
    bench_detectors(bench, 1u << DETECTOR_FACES);
}

void bench_text(struct bench *bench) {
    bench_detectors(bench, 1u << DETECTOR_TEXT);
    bench_detectors(bench, 1u << DETECTOR_PLATES);
    bench_detectors(bench, 1u << DETECTOR_TEXT | 1u << DETECTOR_PLATES);
}

void bench_persons(struct bench *bench) {
    bench_detectors(bench, 1u << DETECTOR_PERSONS);
}
