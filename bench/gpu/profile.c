/* SPDX-License-Identifier: MIT
 * Every kernel of JPEG to JPEG, a few times and one after the other, for a profiler: bench/gpu/kernels.py. */
#include <stdio.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/jpeg_files.h"
#include "gpu/engine/entropy_decoder.h"
#include "gpu/engine/submitter.h"

struct profile {
    struct bench *bench;
    struct submitter *submitter;
    struct jpeg_stream jpeg;
    void *output;
};

/* What becomes of each picture. */
struct profile_job {
    const char *name;
    const struct chain *chain;
    const struct transcode_mask *mask; /* NULL: none */
    bool optimal, patch;               /* as of struct transcode */
    enum transcode_colours colours;
};

static void run_once(struct profile *profile, const struct jpeg_file *file, const struct profile_job *what) {
    struct error err = {0};
    struct lane_timing timing;
    size_t size = 0;
    const struct transcode job = {.chain = what->chain,
                                  .mask = what->mask,
                                  .optimal = what->optimal,
                                  .patch = what->patch,
                                  .colours = what->colours,
                                  .orientation = 1,
                                  .shape = file->shape,
                                  .input = file->bytes,
                                  .output = profile->output,
                                  .room = JPEG_FILES_ROOM,
                                  .quality = JPEG_FILES_QUALITY};
    must(submitter_run(profile->submitter, &profile->jpeg, &job, &size, &timing, &err), &err);
    printf("%s, %s codes: %zu bytes\n", what->name, what->optimal ? "optimal" : "standard", size);
}

static void profile_blurs(struct profile *profile, const struct jpeg_files *files) {
    static const double sigmas[] = {1.5, 5, 20, 100};
    struct error err = {0};
    for (unsigned s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        struct chain chain = {0};
        char name[32];
        const struct blur_arguments arguments = {.sigma = sigmas[s]};
        struct profile_job job = {.name = name, .chain = &chain, .optimal = true};
        snprintf(name, sizeof name, "sigma %g", sigmas[s]);
        must(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &files->file[0].shape, &err), &err);
        for (unsigned i = 0; i < files->count; i++) {
            run_once(profile, &files->file[i], &job);
        }
        job.optimal = false;
        run_once(profile, &files->file[0], &job);
    }
}

static void profile_colours(struct profile *profile, const struct jpeg_files *files) {
    struct jpeg_colours ways[JPEG_COLOURS];
    jpeg_colours_plan(ways, &files->file[0].shape);
    for (unsigned w = 0; w < JPEG_COLOURS; w++) {
        const struct profile_job job = {
            .name = ways[w].name, .chain = &ways[w].chain, .optimal = true, .colours = ways[w].colours};
        for (unsigned i = 0; i < files->count; i++) {
            run_once(profile, &files->file[i], &job);
        }
    }
}

static void profile_resize(struct profile *profile, const struct jpeg_files *files) {
    const struct resize_arguments arguments = {.width = 400};
    struct error err = {0};
    struct chain chain = {0};
    const struct profile_job job = {.name = "to 400 wide", .chain = &chain, .optimal = true};
    must(chain_append(&chain, filter_get(FILTER_RESIZE), &arguments, &files->file[0].shape, &err), &err);
    for (unsigned i = 0; i < files->count; i++) {
        run_once(profile, &files->file[i], &job);
    }
}

static void profile_regions(struct profile *profile, const struct jpeg_files *files) {
    static struct jpeg_regions regions;
    jpeg_regions_open(&regions, profile->bench, &files->file[0].shape);
    const struct chain *chain = &regions.chain;
    const struct profile_job jobs[] = {
        {"pixelate", chain, NULL, true, false, TRANSCODE_PLANES},
        {"4 regions", chain, &regions.inside, true, false, TRANSCODE_PLANES},
        {"4 regions, blocks kept", chain, &regions.inside, true, true, TRANSCODE_PLANES},
        {"4 regions redacted, blocks kept", chain, &regions.redacted, true, true, TRANSCODE_PLANES}};
    for (unsigned j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        for (unsigned i = 0; i < files->count; i++) {
            run_once(profile, &files->file[i], &jobs[j]);
        }
    }
    jpeg_regions_close(&regions, profile->bench);
}

/* Only the scans, from which coefficients come: the rest is that of the other files. */
static void profile_scans(struct bench *bench, const struct jpeg_files *files) {
    struct entropy_decoder *reader;
    struct entropy_decode *reading;
    struct error err = {0};
    must(entropy_decoder_create(&reader, &bench->device, 1, &err), &err);
    for (unsigned i = 0; i < files->count; i++) {
        static struct jpeg_files made = {.count = 1};
        jpeg_files_make_progressive(bench, &files->file[i], &made.file[0]);
        enum status status =
            entropy_decoder_run(reader, made.file[0].bytes, &made.file[0].shape, &reading, &err);
        if (status != ST_UNSUPPORTED) { /* a file that is too large */
            must(status, &err);
            entropy_decoder_give_back(reader, reading);
            printf("scans of a progressive file: %zu bytes\n", made.file[0].bytes.size);
        }
        jpeg_files_unload(bench, &made);
    }
    entropy_decoder_destroy(reader);
}

void bench_profile(struct bench *bench) {
    static struct jpeg_files files;
    struct profile profile = {.bench = bench};
    struct error err = {0};
    jpeg_files_load(bench, &files);
    if (files.count == 0) {
        return;
    }
    must(jpeg_stream_init(&profile.jpeg, &bench->device, &err), &err);
    must(submitter_create(&profile.submitter, &bench->device, &err), &err);
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostAlloc, &profile.output, JPEG_FILES_ROOM,
                  CU_MEMHOSTALLOC_PORTABLE),
         &err);
    profile_blurs(&profile, &files);
    profile_resize(&profile, &files);
    profile_colours(&profile, &files);
    profile_regions(&profile, &files);
    profile_scans(bench, &files);
    submitter_destroy(profile.submitter);
    jpeg_stream_finish(&profile.jpeg);
    bench->cuda.cuMemFreeHost(profile.output);
    jpeg_files_unload(bench, &files);
}
