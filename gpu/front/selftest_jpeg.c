/* SPDX-License-Identifier: MIT */
#include "gpu/front/selftest_jpeg.h"

#include <string.h>

#include "core/log.h"

enum { RUN_TIMEOUT_MS = 10000 }; /* the first launch may load code */

/* The output must not have the right bytes already. */
static enum status run_sample(struct engine_link *link, const struct gpu_sample *sample, unsigned number,
                              struct error *err) {
    const struct transcode *job = &sample->job;
    struct link_timeout timeout = {.least_ms = RUN_TIMEOUT_MS};
    struct wire_done done;
    struct wire_run run = link_transcode(job, 0);
    memset(job->output, 0, sample->expected.size < job->room ? sample->expected.size : job->room);
    enum status status = link_run(link, &run, job->slot, &timeout, &done, err);
    if (status != ST_OK) {
        return status;
    }
    bool same = done.size == sample->expected.size &&
                memcmp(job->output, sample->expected.data, sample->expected.size) == 0;
    return same ? ST_OK
                : fail(err, ST_UNSUPPORTED, "a wrong %s (sample %u)", job->pixels ? "picture" : "file",
                       number);
}

/* ST_NOTHING when all samples are right. */
static enum status run_all(struct engine_link *link, struct slot *slot, const struct gpu_options *options,
                           struct error *err) {
    struct lane *reference = NULL;
    struct gpu_sample sample;
    enum status status = lane_create(options->reference, &reference, err);
    bool made = false;
    for (unsigned i = 0; status == ST_OK; i++) {
        slot->used = 0;
        status = options->sample(i, reference, slot, &sample, err);
        made = status == ST_OK;
        status = made ? run_sample(link, &sample, i, err) : status;
    }
    lane_destroy(reference);
    return made || status == ST_NOTHING ? status : ST_UNSUPPORTED; /* the engine has not failed */
}

enum status selftest_jpeg_run(struct engine_link *link, struct slot *slot, const struct gpu_options *options,
                              uint32_t *pictures, _Atomic uint32_t *refused, struct error *err) {
    if (*pictures == 0 || !options->sample) {
        return ST_OK;
    }
    enum status status = ST_UNSUPPORTED; /* an earlier engine has shown it */
    if (!(*refused & SELFTEST_JPEGS)) {
        status = run_all(link, slot, options, err);
        if (status == ST_NOTHING) {
            return ST_OK;
        }
        atomic_fetch_or(refused, SELFTEST_JPEGS);
        log_message(LOG_WARNING, "gpu", "the self-test leaves JPEGs to the CPU's codecs until a restart: %s",
                    err->text);
    }
    *pictures = 0;
    return status == ST_UNSUPPORTED || status == ST_BUSY ? ST_OK : ST_DEVICE;
}
