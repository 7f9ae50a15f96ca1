/* SPDX-License-Identifier: MIT */
#include "gpu/front/job_timeout.h"

#include <stdatomic.h>

#include "core/orient.h"
#include "filters/backend.h"

/* Bytes of the largest picture on the way from the source, as the chain reads it, to the result. */
static int64_t largest_of(const struct wire_run *run) {
    struct image_shape source = run->shape;
    if (run->jpeg.size > 0) {
        source = transcode_read(&source, (enum transcode_colours)run->jpeg.colours);
        source = orient_shape(&source, run->jpeg.orientation);
    }
    return (int64_t)chain_largest(&run->chain, &source);
}

struct job_timeout_wait job_timeout_begin(struct job_timeout *timeout, const struct wire_run *run) {
    struct job_timeout_wait wait = {timeout, largest_of(run), atomic_load(&timeout->ended)};
    atomic_fetch_add(&timeout->begun, wait.bytes);
    return wait;
}

void job_timeout_end(struct job_timeout_wait *wait) {
    atomic_fetch_add(&wait->timeout->ended, wait->bytes);
}

int64_t job_timeout_ms(const struct job_timeout_wait *wait) {
    const struct job_timeout *timeout = wait->timeout;
    const double bytes = (double)(atomic_load(&timeout->begun) - wait->ended);
    const double ms = (double)timeout->least_ms * (bytes / JOB_TIMEOUT_BYTES);
    if (ms <= (double)timeout->least_ms || timeout->most_ms <= timeout->least_ms) {
        return timeout->least_ms;
    }
    return ms < (double)timeout->most_ms ? (int64_t)ms : timeout->most_ms;
}
