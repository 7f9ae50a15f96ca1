/* SPDX-License-Identifier: MIT
 * Time of the search of a detector on one thread: the least processor time of several runs, in milliseconds.
 * A report, not a test.
 *
 *     detect DETECTORS MODEL level width height runs     one line: milliseconds, and nanoseconds a pixel
 *
 * DETECTORS: a name, or names of detectors with the same network, with commas between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/noise.h"
#include "core/clock.h"
#include "cpu/cpu.h"
#include "detect/detectors.h"
#include "detect/model.h"
#include "filters/chain.h"

static void must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static int64_t processor_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The first run packs the weights and does not count. */
static int64_t least_ns(struct lane *lane, const struct chain_run *run, long runs) {
    struct error err = {0};
    int64_t least = INT64_MAX;
    must(lane_run(lane, run, NULL, &err), &err);
    for (long i = 0; i < runs; i++) {
        int64_t start = processor_ns();
        must(lane_run(lane, run, NULL, &err), &err);
        int64_t took = processor_ns() - start;
        least = took < least ? took : least;
    }
    return least;
}

/* Of one name, or of several with commas between them. */
static uint32_t detectors_named(const char *names) {
    uint32_t set = 0;
    for (const char *p = names; *p; p += strcspn(p, ","), p += *p == ',') {
        unsigned id = 0;
        while (id < DETECTORS && strncmp(detector_get((enum detector_id)id)->name, p, strcspn(p, ",")) != 0) {
            id++;
        }
        if (id == DETECTORS) {
            fprintf(stderr, "there is no detector %s\n", p);
            exit(64);
        }
        set |= UINT32_C(1) << id;
    }
    return set;
}

int main(int argc, char **argv) {
    struct error err = {0};
    struct model model = {0};
    struct backend *backend = NULL;
    struct lane *lane = NULL;
    if (argc != 7) {
        fprintf(stderr, "usage: detect DETECTORS MODEL level width height runs\n");
        return 64;
    }
    const uint32_t wanted = detectors_named(argv[1]);
    const enum detector_id detector = detectors_first(wanted);
    const struct image_shape shape = {.model = PIXEL_RGB,
                                      .depth = 8,
                                      .width = (uint32_t)strtoul(argv[4], NULL, 10),
                                      .height = (uint32_t)strtoul(argv[5], NULL, 10)};
    const struct detect_arguments arguments = {.wanted = wanted, .threshold = {[0 ... DETECTORS - 1] = 0.5}};
    struct chain chain = {0};
    must(model_open(&model, detector_get(detector), argv[2], &err), &err);
    must(cpu_backend_open(argv[3], &backend, &err), &err);
    must(lane_create(backend, &lane, &err), &err);
    must(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &shape, &err), &err);
    cpu_backend_use_model(backend, detector, &model);
    const struct image_shape result = chain_result(&chain, &shape);
    const struct image source = make_image(&shape), target = make_image(&result);
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &target};
    int64_t ns = least_ns(lane, &run, strtol(argv[6], NULL, 10));
    printf("%.2f %.1f\n", clock_ns_to_ms(ns), (double)ns / shape.width / shape.height);
    free(source.plane[0].data);
    free(target.plane[0].data);
    lane_destroy(lane);
    backend_close(backend);
    model_close(&model);
    return 0;
}
