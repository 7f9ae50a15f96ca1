/* SPDX-License-Identifier: MIT
 * The interface that cpu/ and gpu/ implement: run this chain on this image.
 *
 * Two objects. A *backend* is shared, immutable after opening and thread-safe. A
 * *lane* is one worker's private means (scratch, stream, buffers): not thread-safe,
 * so that the hot path takes no lock. The wrappers below check what the caller
 * passes; implementations trust it. */
#ifndef BLURD_FILTERS_BACKEND_H
#define BLURD_FILTERS_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/image.h"
#include "core/producer.h"
#include "core/status.h"
#include "filters/chain.h"

struct crew;
struct slot;
struct backend;
struct lane;

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

/* Memory that a run works in, aligned like a picture, contents undefined. */
struct working {
    uint8_t *memory; /* NULL: none */
    size_t size;
};

/* What to run on what. The pictures lie in `slot`; a backend that works in this process takes other
 * memory, too (slot NULL). */
struct run {
    const struct chain *chain;
    const struct slot *slot;
    const struct image *source; /* not changed: another backend can do the same after ST_DEVICE */
    const struct image *target; /* of the shape that chain_result() tells; no overlap with the others */
    const struct image *mask; /* coverage, PIXEL_GRAY of 8 bits and the size of the picture: where it is 0 the
                                 target is the source, where it is 255 the chain's result, between them a
                                 mixture (docs/filters.md). NULL: 255 everywhere */
    int64_t deadline_ns;      /* core/deadline.h: ST_LIMIT soon after it, from a backend that computes in this
                                 process; others have a limit of their own */
    struct crew *crew;        /* may help a backend that computes in this process; NULL: none */
    const struct producer *producer; /* makes the source; NULL: it is there */
    const struct progress *progress; /* may be told of rows of the target on the calling thread, by a backend
                                        after which no other is tried; NULL: not told */
    struct working working;          /* lent for the time of the run; without, the lane takes its own */
};

/* A JPEG in, a JPEG out, by a device that has codecs of its own: with the bytes of the CPU's. */
struct transcode {
    const struct chain *chain;
    const struct slot *slot;  /* in which the file and the room lie */
    struct bytes input;       /* the file; not changed: the CPU can do the same after any failure */
    struct image_shape shape; /* of the planes that it holds, as they are stored: grey or YCbCr of 8 bits */
    uint8_t orientation;      /* to be undone before the chain (core/orient.h); 1: none */
    uint8_t quality;          /* of the result, 1 to 100 */
    uint8_t *output;          /* aligned like a picture */
    size_t room;              /* bytes there */
};

struct backend_ops {
    /* Gives *lane the means to run; called on the thread that will use it. */
    enum status (*lane_create)(struct backend *backend, struct lane **lane, struct error *err);
    enum status (*lane_run)(struct lane *lane, const struct run *run, struct lane_timing *timing,
                            struct error *err);
    bool produces; /* lane_run calls run->producer; otherwise the wrapper has called it */
    /* Optional; NULL: it works in no memory of this process. */
    size_t (*run_bytes)(const struct backend *backend, const struct chain *chain,
                        const struct image_shape *shape, unsigned threads);
    /* Optional, both or none. */
    unsigned (*transcodes)(struct backend *backend);
    enum status (*lane_transcode)(struct lane *lane, const struct transcode *job, size_t *size,
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

/* A new lane of the backend. ST_BUSY without memory, ST_DEVICE when the device fails. */
enum status lane_create(struct backend *backend, struct lane **lane, struct error *err);

/* Whether lanes can run now; otherwise *reason (may be NULL) says why not, in a sentence. */
enum backend_state backend_state(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* The same, once it is no longer starting. */
enum backend_state backend_await(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* Bytes of working memory that a run of this (valid) chain over a picture of this shape takes when so many
 * threads work on it: for one it must be lent, for more it may be. Thread-safe. */
size_t backend_run_bytes(const struct backend *backend, const struct chain *chain,
                         const struct image_shape *shape, unsigned threads);

/* Runs the chain, and what makes its source; fails like that. `timing` may be NULL. On failure the target is
 * undefined; ST_DEVICE: another backend may do it. */
enum status lane_run(struct lane *lane, const struct run *run, struct lane_timing *timing, struct error *err);

/* How many JPEGs the backend takes at the same time by lane_transcode; 0: none, or none yet. Thread-safe and
 * quick. */
unsigned backend_transcodes(struct backend *backend);

/* From JPEG to JPEG: *size bytes at job->output, baseline, without metadata. ST_UNSUPPORTED or ST_BUSY: the
 * device does not take this one, or finds it damaged; ST_DEVICE: it failed. The CPU may do it then. */
enum status lane_transcode(struct lane *lane, const struct transcode *job, size_t *size,
                           struct lane_timing *timing, struct error *err);

/* Ends a lane or backend; NULL is allowed. Lanes go before their backend. */
void lane_destroy(struct lane *lane);
void backend_close(struct backend *backend);

#endif
