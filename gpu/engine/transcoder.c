/* SPDX-License-Identifier: MIT */
#include "gpu/engine/transcoder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/tuned.h"
#include "gpu/engine/submitter.h"
#include "gpu/filter.h"

enum { WARM_PARTS = 4 /* see transcoder.h */, STAGING_ALIGNMENT = 256 };

struct gpu_transcoder {
    struct gpu_device *device;
    struct submitter *submitter[TUNED_GPU_SUBMITTERS];
    unsigned submitters;
    struct entropy_decoder *reader; /* of progressive files */
    pthread_mutex_t lock;           /* guards `idle` and `waiting` */
    sem_t any;                      /* counts `idle` */
    unsigned waiting; /* streams in `idle`; the last one was used last, so its memory is in the caches */
    struct jpeg_stream *idle[GPU_TRANSCODER_PICTURES_MAX];
    unsigned count;
    struct jpeg_stream stream[];
};

/* Which idle stream to use: the one that keeps the job's picture, else one that has memory to free, else the
 * last that keeps none. */
static unsigned choose(const struct gpu_transcoder *transcoder, const struct transcode *job) {
    unsigned last = transcoder->waiting - 1, stale = last + 1, plain = last + 1;
    for (unsigned i = 0; i <= last; i++) {
        const struct jpeg_stream *stream = transcoder->idle[i];
        if (jpeg_stream_keeps(stream, job)) {
            return i;
        }
        stale = gpu_stream_is_stale(&stream->stream) ? i : stale;
        plain = stream->kept ? plain : i;
    }
    return stale <= last ? stale : plain <= last ? plain : last;
}

static struct jpeg_stream *take(struct gpu_transcoder *transcoder, const struct transcode *job) {
    while (sem_wait(&transcoder->any) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&transcoder->lock);
    unsigned found = choose(transcoder, job), last = --transcoder->waiting;
    struct jpeg_stream *stream = transcoder->idle[found];
    transcoder->idle[found] = transcoder->idle[last];
    pthread_mutex_unlock(&transcoder->lock);
    return stream;
}

static void give_back(struct gpu_transcoder *transcoder, struct jpeg_stream *stream) {
    pthread_mutex_lock(&transcoder->lock);
    transcoder->idle[transcoder->waiting++] = stream;
    pthread_mutex_unlock(&transcoder->lock);
    sem_post(&transcoder->any);
}

/* Opens the stream at its first use, since that takes some milliseconds. */
static enum status open_stream(struct jpeg_stream *stream, struct gpu_device *device, struct error *err) {
    if (stream->stream.device) {
        return ST_OK;
    }
    enum status status = jpeg_stream_init(stream, device, err);
    if (status != ST_OK) {
        jpeg_stream_finish(stream);
    }
    return status;
}

enum status gpu_transcoder_create(struct gpu_transcoder **transcoder, struct gpu_device *device,
                                  unsigned pictures, struct error *err) {
    pictures = pictures > GPU_TRANSCODER_PICTURES_MAX ? GPU_TRANSCODER_PICTURES_MAX : pictures;
    struct gpu_transcoder *made = calloc(1, sizeof *made + pictures * sizeof made->stream[0]);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    sem_init(&made->any, 0, 0);
    enum status status = gpu_device_enter(device, err);
    for (; made->count < pictures; made->count++) {
        give_back(made, &made->stream[made->count]);
    }
    /* This stream is used first; if it opens, the others will. */
    status = status == ST_OK ? open_stream(&made->stream[pictures - 1], device, err) : status;
    unsigned submitters = pictures / TUNED_GPU_SUBMITTER_PICTURES;
    submitters = submitters < 1 ? 1 : submitters > TUNED_GPU_SUBMITTERS ? TUNED_GPU_SUBMITTERS : submitters;
    for (; status == ST_OK && made->submitters < submitters; made->submitters += status == ST_OK) {
        status = submitter_create(&made->submitter[made->submitters], device, err);
    }
    status = status == ST_OK
                 ? entropy_decoder_create(&made->reader, device, pictures * TUNED_GPU_ENTROPY_DECODES, err)
                 : status;
    if (status != ST_OK) {
        gpu_transcoder_destroy(made);
        return status;
    }
    *transcoder = made;
    return ST_OK;
}

void gpu_transcoder_destroy(struct gpu_transcoder *transcoder) {
    if (!transcoder) {
        return;
    }
    for (unsigned i = 0; i < transcoder->submitters; i++) {
        submitter_destroy(transcoder->submitter[i]);
    }
    entropy_decoder_destroy(transcoder->reader);
    for (unsigned i = 0; i < transcoder->count; i++) {
        jpeg_stream_finish(&transcoder->stream[i]);
    }
    pthread_mutex_destroy(&transcoder->lock);
    sem_destroy(&transcoder->any);
    free(transcoder);
}

unsigned gpu_transcoder_pictures(const struct gpu_transcoder *transcoder) {
    return transcoder->count;
}

/* Takes an idle stream without staging memory; NULL when there is none. */
static struct jpeg_stream *take_cold(struct gpu_transcoder *transcoder) {
    struct jpeg_stream *stream = NULL;
    if (sem_trywait(&transcoder->any) != 0) {
        return NULL;
    }
    pthread_mutex_lock(&transcoder->lock);
    for (unsigned i = 0; i < transcoder->waiting && !stream; i++) {
        if (!transcoder->idle[i]->staging) {
            stream = transcoder->idle[i];
            transcoder->idle[i] = transcoder->idle[--transcoder->waiting];
        }
    }
    pthread_mutex_unlock(&transcoder->lock);
    if (!stream) {
        sem_post(&transcoder->any);
    }
    return stream;
}

/* Takes all cold streams first: jobs wait for a warm one rather than for the driver, where each waits for
 * all. */
void gpu_transcoder_warm(struct gpu_transcoder *transcoder) {
    struct gpu_device *device = transcoder->device;
    struct jpeg_stream *cold[GPU_TRANSCODER_PICTURES_MAX];
    unsigned count = 0;
    struct error err;
    bool fine = true;
    while (count < transcoder->count && (cold[count] = take_cold(transcoder))) {
        count++;
    }
    for (unsigned i = 0; i < count; i++) {
        fine = fine && open_stream(cold[i], device, &err) == ST_OK &&
               atomic_load(&device->memory_kept) < device->memory_share / WARM_PARTS &&
               jpeg_stream_prepare(cold[i], &err) == ST_OK;
        give_back(transcoder, cold[i]);
    }
}

bool gpu_transcoder_stages(size_t input, size_t room) {
    return input < JPEG_STREAM_STAGING && room < JPEG_STREAM_STAGING &&
           input + STAGING_ALIGNMENT + room <= JPEG_STREAM_STAGING;
}

/* Whether the kernels cannot reach the job's memory, but have staging memory for it. */
static bool is_staged(const struct jpeg_stream *stream, const struct transcode *job) {
    CUdeviceptr known;
    return stream->staging && gpu_transcoder_stages(job->input.size, job->room) &&
           stream->stream.device->cuda->cuMemHostGetDevicePointer(&known, job->output, 0) != CUDA_SUCCESS;
}

static enum status run_on(struct submitter *submitter, struct jpeg_stream *stream,
                          const struct transcode *job, size_t *size, struct lane_timing *timing,
                          struct error *err) {
    if (!is_staged(stream, job)) {
        return submitter_run(submitter, stream, job, size, timing, err);
    }
    struct transcode staged = *job;
    staged.output = stream->staging + bytes_align_up(job->input.size, STAGING_ALIGNMENT);
    if (job->form != TRANSCODE_SCANS) { /* whose file was read already */
        staged.input.data = stream->staging;
        memcpy(stream->staging, job->input.data, job->input.size);
    }
    enum status status = submitter_run(submitter, stream, &staged, size, timing, err);
    if (status == ST_OK) {
        memcpy(job->output, staged.output, *size);
    }
    return status;
}

/* Runs the job on a stream. `reading`: what the device has read of a progressive file, else NULL. */
static enum status run_job(struct gpu_transcoder *transcoder, struct jpeg_stream *stream,
                           const struct transcode *job, const struct entropy_decode *reading, size_t *size,
                           struct lane_timing *timing, struct error *err) {
    enum status status = open_stream(stream, transcoder->device, err);
    if (status == ST_OK) {
        size_t number = (size_t)(stream - transcoder->stream);
        struct submitter *submitter = transcoder->submitter[number % transcoder->submitters];
        stream->reading = reading;
        status = run_on(submitter, stream, job, size, timing, err);
        stream->reading = NULL;
        jpeg_stream_trim(stream, status);
        if (status == ST_OK && chain_searches(job->chain)) {
            gpu_filter_get(job->chain->step[job->chain->count - 1].filter)->finish(job->output);
        }
    }
    give_back(transcoder, stream);
    return status;
}

/* Takes the stream that keeps the job's picture; NULL: no idle stream does. */
static struct jpeg_stream *take_keeping(struct gpu_transcoder *transcoder, const struct transcode *job) {
    if (!job->picture || *job->picture == 0) {
        return NULL;
    }
    struct jpeg_stream *stream = take(transcoder, job);
    if (!jpeg_stream_keeps(stream, job)) {
        give_back(transcoder, stream);
        return NULL;
    }
    return stream;
}

/* Reads a progressive file before it takes a stream, of which there are few. */
static enum status run_scans(struct gpu_transcoder *transcoder, const struct transcode *job, size_t *size,
                             struct lane_timing *timing, struct error *err) {
    struct jpeg_stream *stream = take_keeping(transcoder, job);
    struct entropy_decode *reading = NULL;
    int64_t begin = clock_ns();
    if (!stream) {
        enum status status = entropy_decoder_run(transcoder->reader, job->input, &job->shape, &reading, err);
        if (status != ST_OK) {
            return status;
        }
        stream = take(transcoder, job);
    }
    int64_t read_ns = clock_ns() - begin;
    enum status status = run_job(transcoder, stream, job, reading, size, timing, err);
    timing->upload_ns += read_ns;
    if (reading) {
        entropy_decoder_give_back(transcoder->reader, reading);
    }
    return status;
}

enum status gpu_transcoder_run(struct gpu_transcoder *transcoder, const struct transcode *job, size_t *size,
                               struct lane_timing *timing, struct error *err) {
    return job->form == TRANSCODE_SCANS
               ? run_scans(transcoder, job, size, timing, err)
               : run_job(transcoder, take(transcoder, job), job, NULL, size, timing, err);
}
