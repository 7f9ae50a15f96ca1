/* SPDX-License-Identifier: MIT */
#include "gpu/front/patience.h"

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

struct patience_wait patience_begin(struct patience *patience, const struct wire_run *run) {
    struct patience_wait wait = {patience, largest_of(run), atomic_load(&patience->ended)};
    atomic_fetch_add(&patience->begun, wait.bytes);
    return wait;
}

void patience_end(struct patience_wait *wait) {
    atomic_fetch_add(&wait->patience->ended, wait->bytes);
}

int64_t patience_ms(const struct patience_wait *wait) {
    const struct patience *patience = wait->patience;
    const double bytes = (double)(atomic_load(&patience->begun) - wait->ended);
    const double ms = (double)patience->least_ms * (bytes / PATIENCE_BYTES);
    if (ms <= (double)patience->least_ms || patience->most_ms <= patience->least_ms) {
        return patience->least_ms;
    }
    return ms < (double)patience->most_ms ? (int64_t)ms : patience->most_ms;
}
