/* SPDX-License-Identifier: MIT
 * Takes one picture after the other through the steps of a request, without HTTP and on one thread: decode,
 * blur, encode. Prints a line for each file, with tabs between: file, CPU time of the whole, of decoding,
 * of the filter and of encoding (milliseconds, median of the runs), bytes written, runs.
 *
 *     pipeline [--level LEVEL] [--format jpeg|png] [--effort 0-9] [--optimal] [--seconds S] SIGMA FILE...
 *
 * --level as --cpu-level of blurd; --format: else that of the file; --effort: PNG, as in a request;
 * --optimal: Huffman tables of the picture, as by default in a request; --seconds: how long each file is
 * repeated, else once, as suits callgrind. JPEG quality is 85. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "core/clock.h"
#include "cpu/cpu.h"
#include "filters/chain.h"

enum { RUNS_MAX = 20000, OUTPUT_MAX = 1 << 30 };

enum stage { WHOLE, DECODE, FILTER, ENCODE, STAGES };

struct options {
    const char *level;
    const char *format; /* NULL: as the input */
    int effort;
    bool optimal;
    double seconds;
    double sigma;
};

struct job {
    const struct options *options;
    struct lane *lane;
    struct bytes input;
    uint8_t *memory[2]; /* as a slot's: kept from run to run */
    struct picture picture;
    struct image image[2];
    const struct progress *filter; /* wants to know how far decoding is */
    struct encoding *encoding;
    struct buf output;
    enum stage stage; /* now */
    int64_t since;    /* CPU time */
    int64_t ns[STAGES];
};

static const struct codec_limits limits = {
    .max_pixels = 64000000,
    .max_side = 32768,
    .max_scans = 100,
    .max_memory = 512u << 20,
};

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void must(enum status status, const struct error *err) {
    if (status != ST_OK) {
        fprintf(stderr, "pipeline: %s\n", err->text);
        exit(1);
    }
}

static struct bytes read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct bytes content = {0};
    if (file && fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) {
        content.size = (size_t)ftell(file);
        rewind(file);
        uint8_t *data = malloc(content.size);
        content.data = data && fread(data, 1, content.size, file) == content.size ? data : NULL;
    }
    if (!content.data) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return content;
}

static enum codec_id output_codec(const struct job *job, const struct picture *picture) {
    const char *format = job->options->format;
    return !format ? picture->codec : strcmp(format, "png") == 0 ? CODEC_PNG : CODEC_JPEG;
}

static void take_memory(struct job *job, size_t size) {
    for (unsigned i = 0; i < 2 && !job->memory[i]; i++) {
        job->memory[i] = aligned_alloc(IMAGE_ALIGNMENT, size);
        if (!job->memory[i]) {
            fprintf(stderr, "pipeline: no memory\n");
            exit(1);
        }
    }
}

/* A stage ends and another goes on: CPU time so far belongs to the one that ends. */
static void enter(struct job *job, enum stage stage) {
    int64_t now = cpu_ns();
    job->ns[job->stage] += now - job->since;
    job->since = now;
    job->stage = stage;
}

static void filter_rows(void *context, uint32_t rows) {
    struct job *job = context;
    enter(job, FILTER);
    progress_tell(job->filter, rows);
    enter(job, DECODE);
}

static void encode_rows(void *context, uint32_t rows) {
    struct job *job = context;
    enum stage before = job->stage;
    enter(job, ENCODE);
    codec_encode_rows(job->encoding, rows);
    enter(job, before);
}

static enum status decode(void *context, const struct progress *progress, struct error *err) {
    struct job *job = context;
    struct codec_limits following = limits;
    following.progress = progress ? &(const struct progress){filter_rows, job} : NULL;
    job->filter = progress;
    enter(job, DECODE);
    enum status status = codec_decode(job->input, &job->picture, &following, &job->image[0], err);
    enter(job, FILTER);
    return status;
}

/* Calls for the source, and tells of the result, as in the daemon. */
static void blur(struct job *job) {
    const struct filter *filter = filter_get(FILTER_BLUR);
    struct blur_arguments arguments;
    struct chain chain = {0};
    struct error err = {0};
    struct image_shape shape = image_shape(&job->image[0]);
    arguments_default(filter->arguments, &arguments);
    arguments.sigma = job->options->sigma;
    must(chain_append(&chain, filter, &arguments, &shape, &err), &err);
    const struct chain_run run = {
        .chain = &chain,
        .source = &job->image[0],
        .target = &job->image[1],
        .producer = &(const struct producer){decode, job},
        .progress = job->encoding ? &(const struct progress){encode_rows, job} : NULL,
    };
    must(lane_run(job->lane, &run, NULL, &err), &err);
}

static void place_images(struct job *job, const struct image_shape *shape) {
    const size_t room = codec_decode_room(job->picture.codec, shape);
    take_memory(job, image_layout(&job->image[0], shape) + room);
    for (unsigned i = 0; i < 2; i++) {
        image_layout(&job->image[i], shape);
        image_place(&job->image[i], job->memory[i]);
        job->image[i].room = room;
    }
}

static void run(struct job *job) {
    struct error err = {0};
    memset(job->ns, 0, sizeof job->ns);
    job->since = cpu_ns();
    job->stage = DECODE;
    must(codec_probe(job->input, &limits, &job->picture, &err), &err);
    enum codec_id id = output_codec(job, &job->picture);
    place_images(job, id == CODEC_JPEG ? &job->picture.native : &job->picture.pixels);
    const struct encode_options options = {
        .quality = 85, .effort = (uint8_t)job->options->effort, .optimal = job->options->optimal};
    const struct image *result = &job->image[1];
    const struct metadata *metadata = &job->picture.metadata;
    buf_init(&job->output, OUTPUT_MAX);
    must(codec_encode_begin(id, result, &options, metadata, &job->output, &job->encoding, &err), &err);
    enter(job, FILTER);
    blur(job);
    enter(job, ENCODE);
    must(job->encoding ? codec_encode_end(job->encoding, true, &err)
                       : codec_encode(id, result, &options, metadata, &job->output, &err),
         &err);
    enter(job, ENCODE);
    job->ns[WHOLE] = job->ns[DECODE] + job->ns[FILTER] + job->ns[ENCODE];
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const struct options *options, struct lane *lane, const char *path) {
    static int64_t ns[STAGES][RUNS_MAX];
    struct job job = {.options = options, .lane = lane, .input = read_file(path)};
    int64_t until = clock_ns() + (int64_t)(options->seconds * 1e9);
    unsigned runs = 0;
    size_t written = 0;
    do {
        run(&job);
        for (enum stage stage = WHOLE; stage < STAGES; stage++) {
            ns[stage][runs] = job.ns[stage];
        }
        written = job.output.size;
        buf_finish(&job.output);
        runs++;
    } while (runs < RUNS_MAX && clock_ns() < until);
    printf("%s", path);
    for (enum stage stage = WHOLE; stage < STAGES; stage++) {
        qsort(ns[stage], runs, sizeof ns[stage][0], compare);
        printf("\t%.4f", clock_ns_to_ms(ns[stage][runs / 2]));
    }
    printf("\t%zu\t%u\n", written, runs);
    free(job.memory[0]);
    free(job.memory[1]);
    free((void *)(uintptr_t)job.input.data);
}

static bool read_options(struct options *options, int argc, char **argv) {
    static const struct option known[] = {
        {"level", required_argument, NULL, 'l'},   {"format", required_argument, NULL, 'f'},
        {"effort", required_argument, NULL, 'e'},  {"optimal", no_argument, NULL, 'o'},
        {"seconds", required_argument, NULL, 's'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 'l':
            options->level = optarg;
            break;
        case 'f':
            options->format = optarg;
            break;
        case 'e':
            options->effort = (int)strtol(optarg, NULL, 10);
            break;
        case 'o':
            options->optimal = true;
            break;
        case 's':
            options->seconds = strtod(optarg, NULL);
            break;
        default:
            return false;
        }
    }
    options->sigma = optind < argc ? strtod(argv[optind], NULL) : 0;
    return options->sigma > 0 && optind + 1 < argc;
}

int main(int argc, char **argv) {
    struct options options = {.level = "auto", .effort = 1};
    struct backend *backend;
    struct lane *lane;
    struct error err = {0};
    if (!read_options(&options, argc, argv)) {
        fprintf(
            stderr,
            "usage: pipeline [--level LEVEL] [--format jpeg|png] [--effort 0-9] [--optimal] [--seconds S] "
            "SIGMA FILE...\n");
        return 64;
    }
    must(cpu_backend_open(options.level, &backend, &err), &err);
    must(lane_create(backend, &lane, &err), &err);
    for (int i = optind + 1; i < argc; i++) {
        measure(&options, lane, argv[i]);
    }
    lane_destroy(lane);
    backend_close(backend);
    return 0;
}
