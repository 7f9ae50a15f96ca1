/* SPDX-License-Identifier: MIT
 * Measures the search for faces with random weights: each kernel, all of them, and several pictures side by
 * side. FACES_SIZE=1920x1088 in the environment: only that size, for a profiler. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/pictures.h"
#include "core/clock.h"
#include "gpu/detect/detect.h"
#include "tests/filters/network_fixture.h"

enum { DETECT_STEPS = 22, /* kernels */ IN_A_ROW = 20, ROUNDS = 25, FEW = 2, STREAMS = 16, EACH = 40 };

struct subject {
    struct bench *bench;
    struct gpu_stream *stream;
    struct detect_plan plan;
    struct image source, target;
    int first, end; /* kernels */
};

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
    subject->first = 0, subject->end = DETECT_STEPS;
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

static void bench_size(struct bench *bench, uint32_t width, uint32_t height) {
    struct error err = {0};
    struct image_shape shape = {.model = PIXEL_YCBCR,
                                .depth = 8,
                                .chroma_shift_x = 1,
                                .chroma_shift_y = 1,
                                .width = bench->quick ? width / 10 : width,
                                .height = bench->quick ? height / 10 : height};
    struct chain chain = {0};
    const struct detect_arguments arguments = {.threshold = 1};
    struct image target;
    must(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &shape, &err), &err);
    struct image_shape result = chain_result(&chain, &shape);
    struct pictures *pictures = pictures_create(bench, &shape, image_layout(&target, &result));
    image_place(&target, pictures->device_target[0].plane[0].data);
    struct subject subject = {.bench = bench,
                              .stream = &bench->stream,
                              .plan = chain.step[0].detect,
                              .source = pictures->device_source[0]};
    subject.target = target;
    double all = steps_us(&subject, 0, DETECT_STEPS), sum = 0;
    printf("| %ux%u | %.1f |", width, height, all);
    for (int i = 0; i < DETECT_STEPS; i++) {
        double took = steps_us(&subject, i, i + 1);
        sum += took;
        printf(" %.1f%s", took, i + 1 < DETECT_STEPS ? "," : " |");
    }
    printf(" %.1f | %.0f |\n", sum, side_by_side(&subject));
    fflush(stdout);
    pictures_destroy(bench, pictures);
}

void bench_faces(struct bench *bench) {
    struct error err = {0};
    struct network_fixture fixture;
    network_fixture_make(&fixture, &detector_faces);
    struct model model = {
        .detector = &detector_faces, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    model.weights = fixture.weights;
    must(gpu_detect_open(&bench->device, DETECTOR_FACES, &model, &err), &err);
    printf("\n### Faces\n\nThe network on 4:2:0 pictures; microseconds, median. *All*: the kernels of one "
           "picture after "
           "another. *Each*: the stem, 16 blocks, four layers of the neck, the heads.\n\n"
           "| picture | all | each | sum of each | pictures/s, %d side by side |\n|---|--:|---|--:|--:|\n",
           STREAMS);
    uint32_t width, height;
    const char *size = getenv("FACES_SIZE");
    if (size && sscanf(size, "%" SCNu32 "x%" SCNu32, &width, &height) == 2) {
        bench_size(bench, width, height);
    } else {
        bench_size(bench, 640, 384);
    }
    if (!bench->quick && !size) {
        bench_size(bench, 1280, 736);
        bench_size(bench, 1920, 1088);
    }
    gpu_detect_close(&bench->device);
    network_fixture_free(&fixture);
}
