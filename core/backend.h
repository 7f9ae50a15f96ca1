/* SPDX-License-Identifier: MIT
 * The interface that cpu/ and gpu/ implement: run this chain on this image.
 *
 * Two objects. A *backend* is shared, immutable after opening and thread-safe. A
 * *lane* is one worker's private means (scratch, stream, buffers): not thread-safe,
 * so that the hot path takes no lock. The wrappers below check what the caller
 * passes; implementations trust it. */
#ifndef BLURD_CORE_BACKEND_H
#define BLURD_CORE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"
#include "core/status.h"

struct chain;
struct backend;
struct lane;
struct slot;

/* Whether a backend can be given work now. */
enum backend_state { BACKEND_STARTING, BACKEND_SERVING, BACKEND_DOWN };

enum { BACKEND_REASON_MAX = 256 };

/* Where the time of one run went, in nanoseconds; 0 for what did not happen. */
struct lane_timing {
    int64_t upload_ns;
    int64_t filter_ns;
    int64_t download_ns;
    int unit; /* which of the backend's devices did it, from 0; -1 where there is but one */
};

struct backend_ops {
    /* Gives *lane the means to run; called on the thread that will use it. */
    enum status (*lane_create)(struct backend *backend, struct lane **lane, struct error *err);
    enum status (*lane_run)(struct lane *lane, const struct chain *chain, const struct slot *slot,
                            const struct image *source, const struct image *target,
                            struct lane_timing *timing, struct error *err);
    void (*lane_destroy)(struct lane *lane);
    void (*close)(struct backend *backend);
    /* Optional; NULL: it always serves. Thread-safe; quick, but with `await`: then it returns
     * only when it is no longer starting. */
    enum backend_state (*state)(struct backend *backend, bool await, char reason[BACKEND_REASON_MAX]);
};

/* Common head of every backend; the implementation's own part follows it. */
struct backend {
    const struct backend_ops *ops;
    char name[24]; /* as in X-Backend: "cpu/avx2", "cuda:0" */
};

/* Common head of every lane. */
struct lane {
    struct backend *backend;
};

/* Whether the chain may run on a picture of this shape: ST_INTERNAL when a number in it is out of
 * bounds. Defined in filters/chain.c: core knows that there are chains, not what is in them. */
enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err);

/* A new lane of the backend. ST_BUSY without memory, ST_DEVICE when the device fails. */
enum status lane_create(struct backend *backend, struct lane **lane, struct error *err);

/* Whether lanes can run now; otherwise *reason (may be NULL) says why not, in a sentence. */
enum backend_state backend_state(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* The same, once it is no longer starting. */
enum backend_state backend_await(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* Runs the chain on `source` and leaves the result in `target`, which has the same
 * shape and does not overlap it. `source` is not changed, so that another backend can
 * run the same chain after ST_DEVICE. On failure `target` is undefined. Both lie in `slot`;
 * a backend that works in this process takes other memory, too (slot NULL). */
enum status lane_run(struct lane *lane, const struct chain *chain, const struct slot *slot,
                     const struct image *source, const struct image *target, struct lane_timing *timing,
                     struct error *err);

/* Ends a lane or backend; NULL is allowed. Lanes go before their backend. */
void lane_destroy(struct lane *lane);
void backend_close(struct backend *backend);

#endif
