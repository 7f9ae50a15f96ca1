/* SPDX-License-Identifier: MIT
 * Our blur beside the CPU's and the textbook's, over sizes and over sigmas. */
#include <math.h>
#include <stdio.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/pictures.h"
#include "core/clock.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/gpu_chain.h"

enum { IN_A_ROW = 20, ROUNDS = 25, RUNS = 40, CPU_RUNS = 7, BLOCK = 16, ROUNDS_QUICK = 2 };

static const struct image_shape rgb = {.model = PIXEL_RGB, .depth = 8};
static const struct image_shape planar = {
    .model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1};

/* All times in µs; 0: not measured. */
struct times {
    double cpu, textbook_copies, textbook, copies, alone, row;
};

struct subject {
    struct bench *bench;
    struct pictures *pictures;
    struct chain chain;
    struct textbook_weights weights;
};

/* ---- one run of each kind ---- */

static void run_cpu(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct pictures *pictures = subject->pictures;
    i %= PICTURES;
    must(lane_run(subject->bench->cpu_lane,
                  &(struct chain_run){.chain = &subject->chain,
                                      .source = &pictures->source[i],
                                      .target = &pictures->expected[i]},
                  NULL, &err),
         &err);
}

static void run_copies(struct subject *subject, unsigned i) {
    struct error err = {0};
    struct lane_timing timing;
    struct pictures *pictures = subject->pictures;
    i %= PICTURES;
    must(gpu_chain_run(&subject->bench->stream,
                       &(struct chain_run){.chain = &subject->chain,
                                           .source = &pictures->source[i],
                                           .target = &pictures->target[i]},
                       &timing, &err),
         &err);
}

static void run_kernels(void *context, unsigned i) {
    struct subject *subject = context;
    struct error err = {0};
    struct pictures *pictures = subject->pictures;
    i %= PICTURES;
    must(gpu_blur(&subject->bench->stream, &subject->chain.step[0].blur, &pictures->device_source[i],
                  &pictures->device_target[i], &err),
         &err);
}

static void run_textbook(void *context, unsigned i) {
    struct subject *subject = context;
    struct pictures *pictures = subject->pictures;
    int width = (int)pictures->shape.width, height = (int)pictures->shape.height, channels = 3;
    i %= PICTURES;
    CUdeviceptr from = pictures->packed_source[i], to = pictures->packed_target[i];
    void *parameters[] = {&from, &to, &width, &height, &channels, &subject->weights};
    bench_launch_kernel(subject->bench, subject->bench->kernels.textbook,
                        ((unsigned)width + BLOCK - 1) / BLOCK, ((unsigned)height + BLOCK - 1) / BLOCK, BLOCK,
                        BLOCK, parameters);
}

static void run_textbook_copies(struct subject *subject, unsigned i) {
    struct error err = {0};
    const struct cuda *cuda = &subject->bench->cuda;
    CUstream stream = subject->bench->stream.handle;
    struct pictures *pictures = subject->pictures;
    i %= PICTURES;
    must(CUDA_TRY(cuda, &err, cuMemcpyHtoDAsync, pictures->packed_source[i], pictures->pageable_source[i],
                  pictures->packed_size, stream),
         &err);
    run_textbook(subject, i);
    must(CUDA_TRY(cuda, &err, cuMemcpyDtoHAsync, pictures->pageable_target[i], pictures->packed_target[i],
                  pictures->packed_size, stream),
         &err);
    must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream), &err);
}

/* Microseconds of the host's clock. */
static double host_us(struct subject *subject, void (*run)(struct subject *subject, unsigned i),
                      unsigned runs) {
    static double took[RUNS];
    for (unsigned i = 0; i < PICTURES; i++) {
        run(subject, i);
    }
    for (unsigned i = 0; i < runs; i++) {
        int64_t begin = clock_ns();
        run(subject, i);
        took[i] = (double)(clock_ns() - begin) / 1000;
    }
    return quantile(took, runs, 0.5);
}

/* ---- one line ---- */

static void plan(struct subject *subject, double sigma, int kernel_size) {
    struct error err = {0};
    const struct blur_arguments arguments = {.sigma = sigma, .kernel_size = kernel_size};
    subject->chain = (struct chain){0};
    must(chain_append(&subject->chain, filter_get(FILTER_BLUR), &arguments, &subject->pictures->shape, &err),
         &err);
    subject->weights = (struct textbook_weights){0};
    for (int y = -3; y <= 3; y++) {
        for (int x = -3; x <= 3; x++) {
            int weight = (int)lround(1000 * exp(-(x * x + y * y) / (2 * sigma * sigma)));
            subject->weights.weight[y + 3][x + 3] = weight;
            subject->weights.sum += weight;
        }
    }
}

static void report_wrong(struct subject *subject, const char *what) {
    const struct image_shape *shape = &subject->pictures->shape;
    printf("\nWRONG: %s, %ux%u %s\n", what, shape->width, shape->height,
           shape->model == PIXEL_RGB ? "RGB" : "4:2:0");
    subject->bench->wrong++;
}

/* Measures everything for the plan. `textbook`: also the textbook kernel, for 7x7. */
static struct times measure(struct subject *subject, bool textbook) {
    struct bench *bench = subject->bench;
    struct pictures *pictures = subject->pictures;
    unsigned rounds = bench->quick ? ROUNDS_QUICK : ROUNDS;
    unsigned row = bench->quick ? ROUNDS_QUICK : IN_A_ROW;
    struct times times = {0};
    times.cpu = host_us(subject, run_cpu, bench->quick ? ROUNDS_QUICK : CPU_RUNS);
    times.copies = host_us(subject, run_copies, bench->quick ? ROUNDS_QUICK : RUNS);
    if (!pictures_equal(pictures)) {
        report_wrong(subject, "our blur with copies");
    }
    device_us(bench, run_kernels, subject, PICTURES, 2); /* warms up, and fills every target */
    if (!pictures_download(bench, pictures) || !pictures_equal(pictures)) {
        report_wrong(subject, "our blur on the device");
    }
    times.alone = device_us(bench, run_kernels, subject, 1, rounds * 4);
    times.row = device_us(bench, run_kernels, subject, row, rounds);
    if (textbook && bench->kernels.textbook) {
        times.textbook_copies = host_us(subject, run_textbook_copies, bench->quick ? ROUNDS_QUICK : RUNS);
        times.textbook = device_us(bench, run_textbook, subject, row, rounds);
        if (!pictures_within_one(pictures)) {
            report_wrong(subject, "the textbook kernel is not within 1 of kernel_size 7");
        }
    }
    return times;
}

static void print_number(double value, int digits) {
    if (value > 0) {
        printf(" %.*f |", digits, value);
    } else {
        printf(" - |");
    }
}

static void print_ratio(double a, double b) {
    if (a > 0 && b > 0) {
        printf(" %.1f |", a / b);
    } else {
        printf(" - |");
    }
}

/* ---- the tables ---- */

static void bench_sizes(struct bench *bench) {
    static const uint32_t sizes[][2] = {{400, 300},   {800, 600},   {1280, 720},
                                        {1920, 1080}, {2560, 1440}, {4000, 3000}};
    unsigned count = bench->quick ? 1 : sizeof sizes / sizeof *sizes;
    printf("\n### Blur over sizes\n\nRGB, 8 bits, sigma 1.5; microseconds, median, input rotated among %d "
           "pictures. "
           "*Textbook*: a thread a pixel, 7x7. *With\ncopies*: host memory to host memory, the textbook's "
           "pageable, "
           "ours registered. *Kernel*: on the device, of %d in a row.\n\n",
           PICTURES, bench->quick ? ROUNDS_QUICK : IN_A_ROW);
    printf("| size | kernel | CPU, one thread | textbook, copies | ours, copies | textbook, kernel | ours, "
           "kernel | "
           "ours, one | textbook / ours, copies | textbook / ours, kernel | CPU / ours, copies |\n"
           "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (unsigned s = 0; s < count; s++) {
        struct image_shape shape = rgb;
        shape.width = sizes[s][0];
        shape.height = sizes[s][1];
        struct subject subject = {.bench = bench, .pictures = pictures_create(bench, &shape, 0)};
        double textbook = 0, textbook_copies = 0;
        for (int kernel_size = 7; kernel_size >= 0; kernel_size -= 7) {
            plan(&subject, 1.5, kernel_size);
            struct times times = measure(&subject, kernel_size == 7);
            textbook = kernel_size == 7 ? times.textbook : textbook;
            textbook_copies = kernel_size == 7 ? times.textbook_copies : textbook_copies;
            printf("| %ux%u | %s |", shape.width, shape.height, kernel_size ? "7x7" : "full");
            print_number(times.cpu, 0);
            print_number(times.textbook_copies, 0);
            print_number(times.copies, 0);
            print_number(times.textbook, 2);
            print_number(times.row, 2);
            print_number(times.alone, 2);
            print_ratio(textbook_copies, times.copies);
            print_ratio(textbook, times.row);
            print_ratio(times.cpu, times.copies);
            printf("\n");
            fflush(stdout);
        }
        pictures_destroy(bench, subject.pictures);
    }
}

/* Checks the goals of the project for kernels; the printed sentence states them. */
static void print_verdict(const char *what, double ratio, bool met) {
    printf("* %s: %.1f, %s\n", what, ratio, met ? "met" : "NOT met");
}

static void bench_sigmas(struct bench *bench, const struct image_shape *model, double textbook,
                         double row[5]) {
    static const double sigmas[] = {1.5, 5, 20, 100, 300};
    struct image_shape shape = *model;
    shape.width = bench->quick ? 200 : 1920;
    shape.height = bench->quick ? 100 : 1080;
    struct subject subject = {.bench = bench, .pictures = pictures_create(bench, &shape, 0)};
    for (unsigned i = 0; i < 5; i++) {
        plan(&subject, sigmas[i], 0);
        struct times times = measure(&subject, false);
        row[i] = times.row;
        printf("| %s | %g |", shape.model == PIXEL_RGB ? "RGB" : "4:2:0", sigmas[i]);
        print_number(times.cpu, 0);
        print_number(times.copies, 0);
        print_number(times.alone, 2);
        print_number(times.row, 2);
        print_ratio(times.row, row[0]);
        print_ratio(textbook, times.row);
        printf("\n");
        fflush(stdout);
    }
    pictures_destroy(bench, subject.pictures);
}

/* The textbook's and our time for 7x7 at the size of the table over sigmas. */
static struct times reference_times(struct bench *bench) {
    struct image_shape shape = rgb;
    shape.width = bench->quick ? 200 : 1920;
    shape.height = bench->quick ? 100 : 1080;
    struct subject subject = {.bench = bench, .pictures = pictures_create(bench, &shape, 0)};
    plan(&subject, 1.5, TEXTBOOK_TAPS);
    struct times times = measure(&subject, true);
    pictures_destroy(bench, subject.pictures);
    return times;
}

void bench_blur(struct bench *bench) {
    double row[5], planes[5];
    bench_sizes(bench);
    struct times reference = reference_times(bench);
    printf(
        "\n### Blur over sigmas\n\n%s, full Gaussian; microseconds. The last column compares with the "
        "textbook kernel "
        "on RGB, which is always 7x7 (%.2f).\n\n"
        "| pixels | sigma | CPU, one thread | ours, copies | kernel, one | kernel, in a row | of sigma 1.5 | "
        "textbook / ours |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
        bench->quick ? "200x100" : "1920x1080", reference.textbook);
    bench_sigmas(bench, &rgb, reference.textbook, row);
    bench_sigmas(bench, &planar, reference.textbook, planes);
    if (bench->quick) {
        return; /* another size */
    }
    printf("\nWanted at 1080p RGB:\n\n");
    if (reference.textbook > 0) {
        double ratio = reference.textbook / reference.row, full = reference.textbook / row[0];
        print_verdict("7x7 at least ten times as fast as the textbook kernel", ratio, ratio >= 10);
        print_verdict("sigma 1.5 at least ten times as fast as the textbook kernel", full, full >= 10);
    }
    print_verdict("7x7 in 8 µs", reference.row, reference.row <= 8);
    print_verdict("sigma 20 at most 3 times sigma 1.5", row[2] / row[0], row[2] <= 3 * row[0]);
    print_verdict("sigma 100 at most 3 times sigma 1.5", row[3] / row[0], row[3] <= 3 * row[0]);
}
