/* SPDX-License-Identifier: MIT */
#include "gpu/front/patience.h"

#include <stdatomic.h>

#include "core/orient.h"
#include "filters/backend.h"

static int64_t bytes_of(const struct image_shape *shape) {
    struct image layout;
    return (int64_t)image_layout(&layout, shape);
}

/* Bytes of the largest picture on the way from the source, as the chain reads it, to the result. */
static int64_t largest_of(const struct wire_run *run) {
    struct image_shape source = run->shape;
    if (run->jpeg.size > 0) {
        source = transcode_read(&source, (enum transcode_colours)run->jpeg.colours);
        source = orient_shape(&source, run->jpeg.orientation);
    }
    int64_t largest = 0;
    for (uint32_t i = 0; i <= run->chain.count; i++) {
        struct image_shape shape = chain_shape(&run->chain, &source, i);
        int64_t bytes = bytes_of(&shape);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
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
    const int64_t most = patience->most_ms > patience->least_ms ? patience->most_ms : patience->least_ms;
    return ms < (double)patience->least_ms ? patience->least_ms : ms < (double)most ? (int64_t)ms : most;
}
