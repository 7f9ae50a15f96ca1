/* SPDX-License-Identifier: MIT
 * What the engine knows of a filter. Each filter of filters/filters.def has a constant `gpu_filter_NAME`,
 * which stands with its code. */
#ifndef BLURD_GPU_FILTER_H
#define BLURD_GPU_FILTER_H

#include "filters/filter.h"
#include "gpu/stream/stream.h"

struct gpu_filter {
    /* Enqueues the kernels and does not wait for them. Pictures lie on the device: plane data pointers are
     * device addresses, the layout is the host's. All backends produce the same bytes (docs/filters.md). Only
     * statistics read `mask` (or NULL). Status as of gpu_chain_run; ST_UNSUPPORTED for a picture that is the
     * CPU's. */
    enum status (*run)(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err);
    /* How many times as long a byte of the picture takes as in other runs of the filter. NULL: it matters
     * little. */
    double (*slowness)(const void *plan, const struct image_shape *source);
    void (*finish)(
        void *result); /* puts what the first row of the target has, on the host, into its final form */
};

#define FILTER(ID, name, type) extern const struct gpu_filter gpu_filter_##name;
#include "filters/filters.def"
#undef FILTER

const struct gpu_filter *gpu_filter_get(enum filter_id id);

#endif
