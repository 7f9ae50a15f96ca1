/* SPDX-License-Identifier: MIT
 * JPEG bytes in, JPEG bytes out on the GPU, without HTTP: measures the highest throughput by the number of
 * lanes, and its CPU time. Each lane is a thread with a picture in progress, as in the engine. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/jpeg_files.h"
#include "core/clock.h"
#include "gpu/detect/detect.h"
#include "gpu/engine/submitter.h"
#include "gpu/jpeg/decode.h"
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/huffman_sync.h"
#include "tests/filters/network_fixture.h"

/* As many threads enqueue as in the engine. */
enum { WAY_CHOSEN = 3, LANES_MAX = 64, TIMES_MAX = 1 << 16, SUBMITTERS = 3, SUBMITTER_LANES = 8 };

/* The work of a lane on each picture. */
enum work { DECODE, ENCODE, WALK, ALL, WORKS };
static const char *const work_names[WORKS] = {"decode", "encode", "walk", "all"};

/* What becomes of each picture. */
struct job {
    const char *name;
    const struct chain *chain;
    const struct transcode_mask *mask; /* NULL: none */
    const struct chain *search;        /* for faces, before the chain; NULL: none */
    bool optimal;                      /* codes of the picture's own */
    bool patch;                        /* keeps blocks that the mask does not touch */
    enum transcode_colours colours;
};

struct runner {
    struct bench *bench;
    const struct jpeg_files *files;
    const struct job *job;
    struct submitter *submitter;
    enum work work;
    unsigned first;           /* picture to begin with */
    pthread_barrier_t *ready; /* all lanes have their means */
    double seconds;
    struct jpeg_stream jpeg;
    uint64_t picture; /* number of the last one searched */
    void *output;
    uint64_t done, bytes;
    double *ms;
    unsigned times;
    struct lane_timing sum;
};

/* ---- work ---- */

static struct image on_device(const struct image_shape *shape, CUdeviceptr data) {
    struct image image;
    image_layout(&image, shape);
    image_place(&image, (uint8_t *)(uintptr_t)data);
    return image;
}

static struct transcode job_of(const struct runner *runner, const struct jpeg_file *file) {
    return (struct transcode){.chain = runner->job->chain,
                              .mask = runner->job->mask,
                              .optimal = runner->job->optimal,
                              .patch = runner->job->patch,
                              .colours = runner->job->colours,
                              .orientation = 1,
                              .shape = file->shape,
                              .input = file->bytes,
                              .output = runner->output,
                              .room = JPEG_FILES_ROOM,
                              .quality = JPEG_FILES_QUALITY};
}

/* Runs one part alone: a codec of the GPU, or the walk over the scan. The planes are those of the first
 * complete run. */
static enum status run_part(struct runner *runner, const struct jpeg_file *file, struct error *err) {
    const struct transcode job = job_of(runner, file);
    struct jpeg_stream *jpeg = &runner->jpeg;
    struct gpu_stream *stream = &jpeg->stream;
    struct image image = on_device(&file->shape, stream->source.data);
    enum status status = ST_OK;
    if (runner->work == ENCODE) {
        const struct gpu_encode_job encoding = {
            .image = &image, .room = JPEG_FILES_ROOM, .quality = JPEG_FILES_QUALITY};
        status = gpu_encode_begin(&jpeg->encode, stream, &encoding, err);
    } else if (runner->work == WALK) {
        status = huffman_sync_parse(&jpeg->sync, stream, file->bytes, &file->shape, err);
        status = status == ST_OK ? huffman_sync_begin(&jpeg->sync, stream, file->bytes, err) : status;
    } else {
        status = jpeg_stream_parse(jpeg, &job, err);
        status = status == ST_OK ? huffman_sync_begin(&jpeg->sync, stream, file->bytes, err) : status;
        status = status == ST_OK ? gpu_decode_begin(&jpeg->decode, stream, &jpeg->sync, &image, err) : status;
    }
    return status == ST_OK ? CUDA_TRY(&runner->bench->cuda, err, cuStreamSynchronize, stream->handle)
                           : status;
}

static enum status run_job(struct runner *runner, const struct transcode *job, struct error *err) {
    struct lane_timing timing = {0};
    size_t size = 0;
    enum status status = submitter_run(runner->submitter, &runner->jpeg, job, &size, &timing, err);
    runner->bytes += size;
    runner->sum.upload_ns += timing.upload_ns;
    runner->sum.filter_ns += timing.filter_ns;
    runner->sum.download_ns += timing.download_ns;
    return status;
}

/* The search leaves its decoded picture for the job after it. */
static enum status run_one(struct runner *runner, const struct jpeg_file *file, struct error *err) {
    struct transcode job = job_of(runner, file), search = job;
    enum status status = ST_OK;
    if (runner->job->search) {
        runner->picture++;
        search.chain = runner->job->search;
        search.mask = NULL;
        job.picture = search.picture = &runner->picture;
        status = run_job(runner, &search, err);
    }
    return status == ST_OK ? run_job(runner, &job, err) : status;
}

static void open_runner(struct runner *runner) {
    struct bench *bench = runner->bench;
    struct error err = {0};
    must(gpu_device_enter(&bench->device, &err), &err);
    must(jpeg_stream_init(&runner->jpeg, &bench->device, &err), &err);
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostAlloc, &runner->output, JPEG_FILES_ROOM,
                  CU_MEMHOSTALLOC_PORTABLE),
         &err);
    for (unsigned i = 0; i < runner->files->count; i++) { /* memory is taken here */
        must(run_one(runner, &runner->files->file[i], &err), &err);
    }
    runner->bytes = 0;
    runner->sum = (struct lane_timing){0};
}

static void *runner_main(void *argument) {
    struct runner *runner = argument;
    struct error err = {0};
    open_runner(runner);
    pthread_barrier_wait(runner->ready); /* the measuring thread waits, too */
    int64_t now = clock_ns(), until = now + (int64_t)(runner->seconds * 1e9);
    for (unsigned i = runner->first; now < until; i++) {
        const struct jpeg_file *file = &runner->files->file[i % runner->files->count];
        int64_t start = now;
        must(runner->work == ALL ? run_one(runner, file, &err) : run_part(runner, file, &err), &err);
        now = clock_ns();
        runner->done++;
        if (runner->times < TIMES_MAX) {
            runner->ms[runner->times++] = clock_ns_to_ms(now - start);
        }
    }
    pthread_barrier_wait(runner->ready);
    runner->bench->cuda.cuMemFreeHost(runner->output);
    jpeg_stream_finish(&runner->jpeg);
    return NULL;
}

static double cpu_ms(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void add(struct runner *sum, const struct runner *one, double *times) {
    memmove(times + sum->times, one->ms, sizeof *times * one->times);
    sum->times += one->times;
    sum->done += one->done;
    sum->bytes += one->bytes;
    sum->sum.upload_ns += one->sum.upload_ns;
    sum->sum.filter_ns += one->sum.filter_ns;
    sum->sum.download_ns += one->sum.download_ns;
}

static void print_row(const struct runner *sum, double *times, double wall, double cpu, enum work work,
                      const char *filter, unsigned lanes) {
    double each = sum->done ? 1.0 / (double)sum->done : 0;
    printf("| %s | %s | %u | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f |\n", work_names[work],
           filter, lanes, (double)sum->done / wall, cpu * each, quantile(times, sum->times, 0.5),
           quantile(times, sum->times, 0.99), clock_ns_to_ms(sum->sum.upload_ns) * each,
           clock_ns_to_ms(sum->sum.filter_ns) * each, clock_ns_to_ms(sum->sum.download_ns) * each,
           (double)sum->bytes * each / 1e3);
}

static unsigned open_submitters(struct bench *bench, unsigned lanes,
                                struct submitter *submitter[SUBMITTERS]) {
    struct error err = {0};
    unsigned count = lanes / SUBMITTER_LANES;
    count = count < 1 ? 1 : count > SUBMITTERS ? SUBMITTERS : count;
    for (unsigned i = 0; i < count; i++) {
        must(submitter_create(&submitter[i], &bench->device, &err), &err);
    }
    return count;
}

static void measure(struct bench *bench, const struct jpeg_files *files, const struct job *job,
                    enum work work, unsigned lanes) {
    static struct runner runner[LANES_MAX];
    pthread_t thread[LANES_MAX];
    double *times = malloc(sizeof *times * TIMES_MAX * lanes);
    struct runner sum = {0};
    pthread_barrier_t ready;
    if (!times || pthread_barrier_init(&ready, NULL, lanes + 1)) {
        give_up("out of memory");
    }
    struct submitter *submitter[SUBMITTERS];
    unsigned submitters = open_submitters(bench, lanes, submitter);
    for (unsigned i = 0; i < lanes; i++) {
        runner[i] = (struct runner){.bench = bench,
                                    .files = files,
                                    .job = job,
                                    .work = work,
                                    .submitter = submitter[i % submitters],
                                    .first = i,
                                    .ready = &ready,
                                    .seconds = bench->quick ? 0.2 : 1,
                                    .ms = times + (size_t)TIMES_MAX * i};
        if (pthread_create(&thread[i], NULL, runner_main, &runner[i])) {
            give_up("no threads");
        }
    }
    pthread_barrier_wait(&ready);
    double cpu = cpu_ms();
    int64_t start = clock_ns();
    pthread_barrier_wait(&ready);
    double wall = (double)(clock_ns() - start) / 1e9;
    cpu = cpu_ms() - cpu;
    for (unsigned i = 0; i < lanes; i++) {
        pthread_join(thread[i], NULL);
        add(&sum, &runner[i], times);
    }
    pthread_barrier_destroy(&ready);
    for (unsigned i = 0; i < submitters; i++) {
        submitter_destroy(submitter[i]);
    }
    print_row(&sum, times, wall, cpu, work, job->name, lanes);
    fflush(stdout);
    free(times);
}

static void measure_resize(struct bench *bench, const struct jpeg_files *files, const char *name,
                           const struct resize_arguments *arguments, const unsigned ways[], size_t count) {
    struct chain chain = {0};
    struct error err = {0};
    must(chain_append(&chain, filter_get(FILTER_RESIZE), arguments, &files->file[0].shape, &err), &err);
    for (size_t i = 0; i < count; i++) {
        measure(bench, files, &(struct job){.name = name, .chain = &chain}, ALL, ways[i]);
    }
}

/* To thumbnails, and back to the size of the pictures. */
static void bench_resizes(struct bench *bench, const struct jpeg_files *files) {
    enum { SMALL = 400 };
    static const unsigned ways[] = {1, 16, 28, 48};
    static struct jpeg_files small;
    int width = (int)files->file[0].shape.width;
    const struct resize_arguments shrinking = {.width = SMALL}, enlarging = {.width = width, .enlarge = true};
    char name[48];
    if (width <= SMALL) {
        return;
    }
    for (small.count = 0; small.count < files->count; small.count++) {
        jpeg_files_shrink(bench, &files->file[small.count], SMALL, &small.file[small.count]);
    }
    snprintf(name, sizeof name, "resize to %d wide", SMALL);
    measure_resize(bench, files, name, &shrinking, ways, sizeof ways / sizeof *ways);
    snprintf(name, sizeof name, "resize %d to %d wide", SMALL, width);
    measure_resize(bench, &small, name, &enlarging, ways, sizeof ways / sizeof *ways);
    jpeg_files_unload(bench, &small);
}

/* Whether the GPU keeps blocks of all files. */
static bool are_plain(const struct jpeg_files *files) {
    static struct scan_tables tables;
    struct jpeg_header header;
    struct error err = {0};
    bool plain = true;
    for (unsigned i = 0; i < files->count; i++) {
        plain =
            plain && jpeg_header_parse(files->file[i].bytes, &header, &tables, &err) == ST_OK && header.plain;
    }
    return plain;
}

/* Regions pixelated inside, redacted, and redacted after a search for faces whose result is not used, as it
 * has random weights. */
static void bench_masks(struct bench *bench, const struct jpeg_files *files, const struct chain *search) {
    static const unsigned ways[] = {1, 8, 28, 48};
    static struct jpeg_regions regions;
    jpeg_regions_open(&regions, bench, &files->file[0].shape);
    const struct chain *chain = &regions.chain;
    const struct transcode_mask *inside = &regions.inside, *redacted = &regions.redacted;
    const struct job jobs[] = {
        {.name = "no regions, optimal codes", .chain = chain, .optimal = true},
        {.name = "4 regions", .chain = chain, .mask = inside},
        {.name = "4 regions, blocks kept", .chain = chain, .mask = inside, .optimal = true, .patch = true},
        {.name = "4 regions redacted", .chain = chain, .mask = redacted},
        {.name = "4 regions redacted, blocks kept",
         .chain = chain,
         .mask = redacted,
         .optimal = true,
         .patch = true},
        {.name = "faces", .chain = search},
        {.name = "faces, 4 regions redacted", .chain = chain, .mask = redacted, .search = search}};
    const bool plain = are_plain(files);
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (plain || !jobs[j].patch) {
                measure(bench, files, &jobs[j], ALL, ways[i]);
            }
        }
    }
    jpeg_regions_close(&regions, bench);
}

static void bench_searches(struct bench *bench, const struct jpeg_files *files) {
    const struct detect_arguments arguments = {.wanted = 1, .threshold = {1}};
    struct error err = {0};
    struct network_fixture fixture;
    struct chain chain = {0};
    network_fixture_make(&fixture, &detector_faces);
    struct model model = {
        .detector = &detector_faces, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .tried = true};
    model.weights = fixture.weights;
    must(gpu_detect_open(&bench->device, DETECTOR_FACES, &model, &err), &err);
    must(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, &files->file[0].shape, &err), &err);
    bench_masks(bench, files, &chain);
    gpu_detect_close(&bench->device);
    network_fixture_free(&fixture);
}

static void bench_colours(struct bench *bench, const struct jpeg_files *files) {
    struct jpeg_colours ways[JPEG_COLOURS];
    jpeg_colours_plan(ways, &files->file[0].shape);
    for (unsigned i = 0; i < JPEG_COLOURS; i++) {
        const struct job job = {.name = ways[i].name, .chain = &ways[i].chain, .colours = ways[i].colours};
        measure(bench, files, &job, ALL, 1);
        measure(bench, files, &job, ALL, 28);
    }
}

void bench_jpeg(struct bench *bench) {
    static const unsigned ways[] = {1, 8, 16, 28, 48};
    static const double sigmas[] = {1.5, 5, 20, 100};
    static struct jpeg_files files;
    struct error err = {0};
    jpeg_files_load(bench, &files);
    if (files.count == 0) {
        printf("\nJPEG on the GPU: not measured: PICTURES names no folder with JPEGs\n");
        return;
    }
    printf("\n### JPEG to JPEG on the GPU, %u pictures of %ux%u, without HTTP\n\n"
           "| work | filter | lanes | pictures/s | CPU, ms | p50, ms | p99, ms | "
           "decode | filter | "
           "encode | "
           "kB |\n"
           "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
           files.count, files.file[0].shape.width, files.file[0].shape.height);
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        struct chain chain = {0};
        char name[48];
        const struct blur_arguments arguments = {.sigma = sigmas[s]};
        snprintf(name, sizeof name, "sigma %g", sigmas[s]);
        must(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &files.file[0].shape, &err), &err);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (s == 0) {
                const struct job part = {.name = "", .chain = &chain};
                measure(bench, &files, &part, DECODE, ways[i]);
                measure(bench, &files, &part, ENCODE, ways[i]);
                measure(bench, &files, &part, WALK, ways[i]);
            }
            if (s == 0 || ways[i] == 1 || i == WAY_CHOSEN) {
                measure(bench, &files, &(struct job){.name = name, .chain = &chain}, ALL, ways[i]);
            }
            if (i == WAY_CHOSEN) {
                snprintf(name, sizeof name, "sigma %g, optimal codes", sigmas[s]);
                measure(bench, &files, &(struct job){.name = name, .chain = &chain, .optimal = true}, ALL,
                        ways[i]);
            }
        }
    }
    bench_colours(bench, &files);
    bench_searches(bench, &files);
    bench_resizes(bench, &files);
    jpeg_files_unload(bench, &files);
}
