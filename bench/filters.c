/* SPDX-License-Identifier: MIT
 * Time of the CPU filters on a 1080p picture, one thread: the median of several runs in
 * milliseconds, beside a memcpy of the same bytes. A report, not a test.
 *
 *     filters [level ...]      baseline, avx2, avx512, neon; without: those that the processor has
 *
 * Four tables: the blur by sigma, other filters, resizes, and with 1, 2, ... threads, by the best level. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/noise.h"
#include "config/cores.h"
#include "core/clock.h"
#include "core/crew.h"
#include "core/tuned.h"
#include "cpu/cpu.h"
#include "filters/chain.h"

enum { WIDTH = 1920, HEIGHT = 1080, RUNS = 15 };

struct subject {
    const char *name;
    struct image_shape shape;
};

static const struct subject subjects[] = {
    {"RGB", {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT}},
    {"4:2:0",
     {.model = PIXEL_YCBCR,
      .depth = 8,
      .chroma_shift_x = 1,
      .chroma_shift_y = 1,
      .width = WIDTH,
      .height = HEIGHT}},
    {"RGBA", {.model = PIXEL_RGBA, .depth = 8, .width = WIDTH, .height = HEIGHT}},
    {"RGB 16", {.model = PIXEL_RGB, .depth = 16, .width = WIDTH, .height = HEIGHT}},
};

static const double sigmas[] = {0.5, 1, 1.5, 3, 5, 8, 20, 50, 100, 200};

struct other {
    const char *name; /* of a filter beside the blur */
    enum filter_id filter;
    const char *argument; /* one that is not the default; NULL: none */
    const char *value;
};

static const struct other others[] = {
    {"convolve 3", FILTER_CONVOLVE, "kernel", "0,-1,0;-1,5,-1;0,-1,0"},
    {"edge 3", FILTER_CONVOLVE, "preset", "edge"},
    {"box 3", FILTER_CONVOLVE, "preset", "box"},
    {"direct 7", FILTER_CONVOLVE, "kernel",
     "1,2,3,4,5,6,7;2,1,2,3,4,5,6;3,2,1,2,3,4,5;4,3,2,1,2,3,4;5,4,3,2,1,2,3;6,5,4,3,2,1,2;7,6,5,4,3,2,1"},
    {"sharpen 1.5", FILTER_SHARPEN, "sigma", "1.5"},
    {"sharpen 5", FILTER_SHARPEN, "sigma", "5"},
    {"pixelate 2", FILTER_PIXELATE, "block", "2"},
    {"pixelate 16", FILTER_PIXELATE, "block", "16"},
    {"crop 50%", FILTER_CROP, "width", "50%"},
    {"rotate 90", FILTER_ROTATE, "angle", "90"},
    {"saturation 2", FILTER_ADJUST, "saturation", "2"},
    {"gamma 2.2", FILTER_ADJUST, "gamma", "2.2"},
    {"grey", FILTER_ADJUST, "grayscale", "true"},
    {"placeholder", FILTER_PLACEHOLDER, NULL, NULL},
    {"median 1", FILTER_MEDIAN, "radius", "1"},
    {"median 5", FILTER_MEDIAN, "radius", "5"},
    {"median 25", FILTER_MEDIAN, "radius", "25"},
    {"dilate 1", FILTER_DILATE, "radius", "1"},
    {"dilate 25", FILTER_DILATE, "radius", "25"},
    {"stats", FILTER_STATS, NULL, NULL},
};

/* Resizes by one kernel, between pictures of these widths and heights. */
static const struct {
    const char *name;
    uint32_t from[2], to[2];
} resizes[] = {
    {"12 MP>1080", {4000, 3000}, {1440, 1080}},
    {"1080>400", {1920, 1080}, {400, 225}},
    {"400>1080", {400, 225}, {1920, 1080}},
    {"12 MP>200", {4000, 3000}, {200, 150}},
};
static const char *const resize_kernels[] = {"lanczos3", "cubic", "linear", "area", "nearest"};

enum {
    SUBJECTS = sizeof subjects / sizeof subjects[0],
    SIGMAS = sizeof sigmas / sizeof sigmas[0],
    OTHERS = sizeof others / sizeof others[0],
    RESIZES = sizeof resizes / sizeof resizes[0],
    RESIZE_KINDS = sizeof resize_kernels / sizeof resize_kernels[0],
};

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median_ms(int64_t ns[RUNS]) {
    qsort(ns, RUNS, sizeof ns[0], compare);
    return clock_ns_to_ms(ns[RUNS / 2]);
}

static double time_copy(const struct image *source, const struct image *target, size_t size) {
    int64_t ns[RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        int64_t start = clock_ns();
        memcpy(target->plane[0].data, source->plane[0].data, size);
        ns[i] = clock_ns() - start;
    }
    return median_ms(ns);
}

/* Everything runs with this crew; NULL but for the last table. */
static struct crew *crew;

static double time_chain(struct lane *lane, const struct chain *chain, const struct image *source,
                         const struct image *target) {
    struct error err = {0};
    int64_t ns[RUNS];
    for (unsigned i = 0; i < RUNS; i++) {
        struct lane_timing timing;
        struct chain_run run = {.chain = chain, .source = source, .target = target, .crew = crew};
        if (lane_run(lane, &run, &timing, &err) != ST_OK) {
            fprintf(stderr, "%s\n", err.text);
            exit(1);
        }
        ns[i] = timing.filter_ns;
    }
    return median_ms(ns);
}

static struct chain make_chain(const struct filter *filter, const void *arguments,
                               const struct image_shape *shape) {
    struct chain chain = {0};
    struct error err = {0};
    if (chain_append(&chain, filter, arguments, shape, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return chain;
}

static double time_blur(struct lane *lane, double sigma, const struct image *source,
                        const struct image *target) {
    const struct filter *filter = filter_get(FILTER_BLUR);
    struct blur_arguments arguments;
    arguments_default(filter->arguments, &arguments);
    arguments.sigma = sigma;
    struct image_shape shape = image_shape(source);
    struct chain chain = make_chain(filter, &arguments, &shape);
    return time_chain(lane, &chain, source, target);
}

/* Negative: this filter does not take such pictures. */
static double time_other(struct lane *lane, const struct other *other, const struct image *source,
                         const struct image *target) {
    const struct filter *filter = filter_get(other->filter);
    union filter_arguments arguments = {0};
    arguments_default(filter->arguments, &arguments);
    struct error err = {0};
    if (other->argument && argument_parse(argument_find(filter->arguments, other->argument), other->value,
                                          &arguments, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    struct image_shape shape = image_shape(source);
    if (shape.model == PIXEL_YCBCR && !(filter->planar && filter->planar(&arguments, &shape))) {
        return -1;
    }
    struct chain chain = make_chain(filter, &arguments, &shape);
    struct image_shape shape_made = chain_result(&chain, &shape);
    if (image_same_shape(&shape_made, &shape)) {
        return time_chain(lane, &chain, source, target);
    }
    struct image made = make_image(&shape_made);
    double ms = time_chain(lane, &chain, source, &made);
    free(made.plane[0].data);
    return ms;
}

static double time_resize(struct lane *lane, unsigned size, const char *kernel,
                          const struct subject *subject) {
    const struct filter *filter = filter_get(FILTER_RESIZE);
    struct resize_arguments arguments = {0};
    arguments_default(filter->arguments, &arguments);
    struct error err = {0};
    argument_parse(argument_find(filter->arguments, "kernel"), kernel, &arguments, &err);
    arguments.width = (int)resizes[size].to[0];
    arguments.height = (int)resizes[size].to[1];
    arguments.fit = RESIZE_FILL;
    arguments.enlarge = true;
    struct image_shape shape = subject->shape;
    shape.width = resizes[size].from[0];
    shape.height = resizes[size].from[1];
    struct chain chain = make_chain(filter, &arguments, &shape);
    struct image_shape result = chain_result(&chain, &shape);
    struct image source = make_image(&shape), target = make_image(&result);
    double ms = time_chain(lane, &chain, &source, &target);
    free(source.plane[0].data);
    free(target.plane[0].data);
    return ms;
}

static void report_resizes(struct backend *backend, struct lane *lane, const struct subject *subject) {
    for (unsigned k = 0; k < RESIZE_KINDS; k++) {
        printf("%-12s %-7s %-8s", backend->name, subject->name, resize_kernels[k]);
        for (unsigned i = 0; i < RESIZES; i++) {
            printf(" %11.3f", time_resize(lane, i, resize_kernels[k], subject));
        }
        printf("\n");
    }
}

enum table { TABLE_BLUR, TABLE_OTHERS, TABLE_RESIZE };

static void report(enum table table, struct backend *backend, struct lane *lane,
                   const struct subject *subject) {
    if (table == TABLE_RESIZE) {
        report_resizes(backend, lane, subject);
        return;
    }
    struct image layout;
    size_t size = image_layout(&layout, &subject->shape);
    struct image source = make_image(&subject->shape);
    struct image target = make_image(&subject->shape);
    printf("%-12s %-7s %6.3f", backend->name, subject->name, time_copy(&source, &target, size));
    for (unsigned i = 0; i < SIGMAS && table == TABLE_BLUR; i++) {
        printf(" %7.3f", time_blur(lane, sigmas[i], &source, &target));
    }
    for (unsigned i = 0; i < OTHERS && table == TABLE_OTHERS; i++) {
        double ms = time_other(lane, &others[i], &source, &target);
        if (ms < 0) {
            printf(" %12s", "-");
        } else {
            printf(" %12.3f", ms);
        }
    }
    printf("\n");
    free(source.plane[0].data);
    free(target.plane[0].data);
}

static void bench_level(enum table table, const char *level) {
    struct backend *backend;
    struct lane *lane;
    struct error err = {0};
    if (cpu_backend_open(level, &backend, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    if (lane_create(backend, &lane, &err) == ST_OK) {
        for (unsigned i = 0; i < SUBJECTS; i++) {
            report(table, backend, lane, &subjects[i]);
        }
        lane_destroy(lane);
    }
    backend_close(backend);
}

static void print_head(enum table table) {
    if (table == TABLE_RESIZE) {
        printf("%-12s %-7s %-8s", "ms", "", "");
    } else {
        printf("%-12s %-7s %6s", "1080p, ms", "", "copy");
    }
    for (unsigned i = 0; i < RESIZES && table == TABLE_RESIZE; i++) {
        printf(" %11s", resizes[i].name);
    }
    for (unsigned i = 0; i < SIGMAS && table == TABLE_BLUR; i++) {
        printf(" %7g", sigmas[i]);
    }
    for (unsigned i = 0; i < OTHERS && table == TABLE_OTHERS; i++) {
        printf(" %12s", others[i].name);
    }
    printf("\n");
}

/* ---- threads ---- */

static bool leaving; /* under the crew's lock */

static void *help(void *argument) {
    (void)argument;
    crew_lock(crew);
    while (!leaving) {
        if (!crew_help(crew)) {
            crew_wait(crew, INT64_MAX);
        }
    }
    crew_unlock(crew);
    return NULL;
}

static void gather_crew(pthread_t *thread, unsigned count) {
    crew = crew_create(TUNED_GRAIN, false);
    leaving = false;
    for (unsigned i = 0; i < count; i++) {
        if (!crew || pthread_create(&thread[i], NULL, help, NULL) != 0) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    }
}

static void dismiss_crew(const pthread_t *thread, unsigned count) {
    crew_lock(crew);
    leaving = true;
    crew_wake_all(crew);
    crew_unlock(crew);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
    }
    crew_destroy(crew);
    crew = NULL;
}

static const uint32_t sides[][2] = {{512, 512}, {WIDTH, HEIGHT}, {4000, 3000}};
static const double few_sigmas[] = {1.5, 5, 20};

enum {
    SIDES = sizeof sides / sizeof sides[0],
    FEW_SIGMAS = sizeof few_sigmas / sizeof few_sigmas[0],
    CREW_MAX = 64,
};

static void report_threads(struct lane *lane, const struct subject *subject, unsigned threads) {
    printf("%3u %-8s", threads, subject->name);
    for (unsigned i = 0; i < SIDES; i++) {
        struct image_shape shape = subject->shape;
        shape.width = sides[i][0];
        shape.height = sides[i][1];
        struct image source = make_image(&shape);
        struct image target = make_image(&shape);
        for (unsigned s = 0; s < FEW_SIGMAS; s++) {
            printf(" %7.3f", time_blur(lane, few_sigmas[s], &source, &target));
        }
        double ms = time_other(lane, &others[0], &source, &target);
        printf(ms < 0 ? "         -" : " %9.3f", ms);
        free(source.plane[0].data);
        free(target.plane[0].data);
    }
    printf("\n");
}

static void bench_threads(void) {
    struct backend *backend;
    struct lane *lane;
    struct error err = {0};
    if (cpu_backend_open("auto", &backend, &err) != ST_OK || lane_create(backend, &lane, &err) != ST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    printf("threads, ms ");
    for (unsigned i = 0; i < SIDES; i++) {
        printf(" %4ux%u: %g, %g, %g, convolve", sides[i][0], sides[i][1], few_sigmas[0], few_sigmas[1],
               few_sigmas[2]);
    }
    printf("\n");
    for (unsigned i = 0; i < SUBJECTS; i++) {
        for (unsigned threads = 1; threads <= cores_usable() && threads <= CREW_MAX; threads *= 2) {
            pthread_t thread[CREW_MAX];
            gather_crew(thread, threads - 1);
            report_threads(lane, &subjects[i], threads);
            dismiss_crew(thread, threads - 1);
        }
    }
    lane_destroy(lane);
    backend_close(backend);
}

int main(int argc, char **argv) {
    static const char *const all[] = {"baseline", "avx2", "avx512", "neon"};
    const char *const *levels = argc < 2 ? all : (const char *const *)argv + 1;
    int count = argc < 2 ? (int)(sizeof all / sizeof all[0]) : argc - 1;
    for (enum table table = TABLE_BLUR; table <= TABLE_RESIZE; table++) {
        print_head(table);
        for (int i = 0; i < count; i++) {
            bench_level(table, levels[i]);
        }
    }
    bench_threads();
    return 0;
}
