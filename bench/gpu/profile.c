/* SPDX-License-Identifier: MIT
 * Every kernel of JPEG to JPEG, a few times and one after the other, for a profiler:
 *
 *     PICTURES=folder ncu --metrics ... blurd-bench profile */
#include <stdio.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/jpeg_files.h"
#include "gpu/engine/submitter.h"

struct profile {
    struct bench *bench;
    struct submitter *submitter;
    struct jpeg_stream jpeg;
    void *output;
};

static void run_once(struct profile *profile, const struct jpeg_file *file, double sigma, bool optimal) {
    struct error err = {0};
    struct lane_timing timing;
    size_t size = 0;
    struct chain chain = {0};
    const struct blur_arguments arguments = {.sigma = sigma};
    must(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &file->shape, &err), &err);
    const struct transcode job = {.chain = &chain,
                                  .optimal = optimal,
                                  .orientation = 1,
                                  .shape = file->shape,
                                  .input = file->bytes,
                                  .output = profile->output,
                                  .room = JPEG_FILES_ROOM,
                                  .quality = JPEG_FILES_QUALITY};
    must(submitter_run(profile->submitter, &profile->jpeg, &job, &size, &timing, &err), &err);
    printf("sigma %g, %s codes: %zu bytes\n", sigma, optimal ? "optimal" : "standard", size);
}

void bench_profile(struct bench *bench) {
    static const double sigmas[] = {1.5, 5, 20, 100};
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
    for (unsigned s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        for (unsigned i = 0; i < files.count; i++) {
            run_once(&profile, &files.file[i], sigmas[s], true);
        }
    }
    run_once(&profile, &files.file[0], sigmas[0], false);
    submitter_destroy(profile.submitter);
    jpeg_stream_finish(&profile.jpeg);
    bench->cuda.cuMemFreeHost(profile.output);
    jpeg_files_unload(bench, &files);
}
