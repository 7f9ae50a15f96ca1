/* SPDX-License-Identifier: MIT
 * The interface that cpu/ and gpu/ implement: run a chain on an image. A *backend* is shared, immutable after
 * opening and thread-safe. A *lane* belongs to one worker (scratch, stream, buffers) and is not thread-safe,
 * so the hot path takes no lock. The functions below check their arguments; implementations trust them. */
#ifndef BLURD_FILTERS_BACKEND_H
#define BLURD_FILTERS_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/image.h"
#include "core/producer.h"
#include "core/status.h"
#include "filters/chain.h"
#include "filters/mask/mask_plan.h"

struct codes_reader; /* detect/codes/symbols.h */
struct crew;
struct slot;
struct backend;
struct lane;

enum backend_state { BACKEND_STARTING, BACKEND_SERVING, BACKEND_DOWN };

enum { BACKEND_REASON_MAX = 256 };

/* Time of the parts of a run, in nanoseconds; 0 for parts that did not happen. */
struct lane_timing {
    int64_t upload_ns;
    int64_t filter_ns;
    int64_t download_ns;
    int unit; /* the device used, from 0; -1 for a backend with a single one */
};

/* Working memory of a run, aligned like a picture, of undefined content. */
struct working {
    uint8_t *memory; /* NULL: none */
    size_t size;
};

/* A run of a chain. The pictures lie in `slot`; a backend in this process also takes other memory (slot
 * NULL). */
struct chain_run {
    const struct chain *chain;
    struct slot *slot;
    const struct image *source; /* not changed, so another backend can repeat the run */
    const struct image *target; /* has the shape of chain_result(); no overlap with the others */
    const struct image *mask; /* coverage, PIXEL_GRAY of 8 bits and the size of the picture: where it is 0 the
                                 target is the source, where it is 255 the chain's result, between them a
                                 mixture (docs/filters.md). NULL: 255 everywhere */
    int64_t deadline_ns; /* core/deadline.h: ST_LIMIT soon after it from a backend in this process; others
                            have a limit of their own */
    struct crew *crew;   /* may help a backend in this process; NULL: none */
    const struct producer *producer;   /* makes the source; NULL: the source is complete */
    const struct progress *progress;   /* told of rows of the target, on the calling thread, by a backend that
                                          is the last to be tried; NULL: not told */
    const struct codes_reader *reader; /* for a detector that reads; NULL: none */
    struct working working;            /* lent until the run ends; without memory the lane takes its own */
};

/* The mask of a transcode, and what is redacted before. */
struct transcode_mask {
    struct mask_plan plan;
    const struct mask_plan_rect *rects; /* aligned like a picture */
    const uint8_t *weights; /* laid out like a picture of mask_plan_shape(); NULL unless plan.weighs */
};

/* What a transcode begins with. */
enum transcode_form {
    TRANSCODE_SCAN,         /* a file of one scan */
    TRANSCODE_SCANS,        /* a progressive file, whose scans the device reads */
    TRANSCODE_COEFFICIENTS, /* a file's coefficients: core/jpeg/coefficients.h */
    TRANSCODE_PIXELS        /* a picture that is decoded, as image_layout() lays it out */
};

/* What the chain of a transcode reads and writes: the planes as the file stores them; RGB of 8 bits with the
 * values of libjpeg; or RGB of 16 bits in linear light (filters/colour/light.h). A result in RGB is encoded
 * with chroma that is reduced as the name says. */
enum transcode_colours {
    TRANSCODE_PLANES,
    TRANSCODE_RGB_420,
    TRANSCODE_RGB_422,
    TRANSCODE_RGB_444,
    TRANSCODE_LINEAR_420, /* the result is no grey picture */
    TRANSCODE_LINEAR_422,
    TRANSCODE_LINEAR_444
};

/* A JPEG turned into a JPEG by a device with codecs of its own, or pixels on one of both sides. The bytes are
 * those of the CPU. The result of
 * a chain that ends with `detect` is a struct candidates instead, of which only the part with candidates
 * is written. */
struct transcode {
    const struct chain *chain;
    struct slot *slot;  /* holds the file and the output, and what the mask points to */
    struct bytes input; /* not changed, so the CPU can repeat the job after any failure; coefficients are
                           aligned like a picture */
    enum transcode_form form; /* of the input */
    struct image_shape shape; /* of its planes as stored: grey or YCbCr of 8 bits; of pixels: grey or RGB */
    enum transcode_colours colours; /* in RGB there is no mask and no search, and planes are YCbCr */
    bool pixels; /* the result is what the chain makes, as image_layout() lays it out in all of `room`,
                    and no file. Not of pixels; without a mask and a search */
    uint8_t orientation; /* undone before the chain (core/orient.h); 1: none */
    uint8_t quality;     /* of the result, 1 to 100 */
    bool optimal;        /* Huffman tables for the result, in place of the standard's */
    bool patch; /* blocks that the mask does not touch stay as they are in the file, the others get its tables
                   of quantisation, and Huffman tables are optimal: codecs/jpeg/jpeg_patch.h. The mask limits
                   all steps, and nothing is turned. A search has it if the job after it will */
    const struct transcode_mask *mask; /* in the stored picture; NULL: none. Not with `detect` */
    /* Names the decoded picture, so that searches and the job after them decode the file once. The device may
     * have forgotten it, and decodes again. 0: none. The first search sets it to what the device named the
     * picture; later jobs in the same file and lane may hand that in. */
    uint64_t *picture; /* NULL: none */
    uint8_t *output;   /* aligned like a picture */
    size_t room;       /* bytes at output */
};

/* Shapes of a transcode: of the picture, as stored, that the chain reads, where job->shape is `stored`; and
 * of the planes that are encoded, where the chain makes `result`. */
struct image_shape transcode_read(const struct image_shape *stored, enum transcode_colours colours);
struct image_shape transcode_written(const struct image_shape *result, enum transcode_colours colours);

struct backend_ops {
    /* Called on the thread that will use the lane. */
    enum status (*lane_create)(struct backend *backend, struct lane **lane, struct error *err);
    enum status (*lane_run)(struct lane *lane, const struct chain_run *run, struct lane_timing *timing,
                            struct error *err);
    bool produces; /* lane_run calls run->producer; for other backends the wrapper calls it */
    /* Optional; NULL: the backend uses no memory of this process. */
    size_t (*run_bytes)(const struct backend *backend, const struct chain *chain,
                        const struct image_shape *shape, unsigned threads);
    /* Optional, both or none. */
    unsigned (*transcodes)(struct backend *backend);
    enum status (*lane_transcode)(struct lane *lane, const struct transcode *job, size_t *size,
                                  struct lane_timing *timing, struct error *err);
    void (*lane_destroy)(struct lane *lane);
    void (*close)(struct backend *backend);
    /* Optional; NULL: always serving. Thread-safe. Quick, except with `await`, which waits while the backend
     * is starting. */
    enum backend_state (*state)(struct backend *backend, bool await, char reason[BACKEND_REASON_MAX]);
};

/* Common head of every backend; the implementation's own part follows. */
struct backend {
    const struct backend_ops *ops;
    char name[24]; /* as in X-Backend: "cpu/avx2", "cuda:0" */
};

/* Common head of every lane. */
struct lane {
    struct backend *backend;
    int64_t device_ns; /* time that GPUs of other processes have computed for it; it only grows */
};

/* ST_BUSY without memory, ST_DEVICE when the device fails. */
enum status lane_create(struct backend *backend, struct lane **lane, struct error *err);

/* Whether lanes can run now; if not, *reason (may be NULL) says why in a sentence. */
enum backend_state backend_state(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* The same, but waits while the backend is starting. */
enum backend_state backend_await(struct backend *backend, char reason[BACKEND_REASON_MAX]);

/* Working memory of a run of this valid chain over a picture of this shape on so many threads. The memory for
 * one thread must be lent, more is optional. Thread-safe. */
size_t backend_run_bytes(const struct backend *backend, const struct chain *chain,
                         const struct image_shape *shape, unsigned threads);

/* Runs the chain and the producer; fails like either of them. `timing` may be NULL. On failure the target is
 * undefined. Another backend may repeat the run after ST_DEVICE (it failed) and ST_UNSUPPORTED (it does not
 * do this chain). The slot may have other memory then, at the same addresses and with the same content. */
enum status lane_run(struct lane *lane, const struct chain_run *run, struct lane_timing *timing,
                     struct error *err);

/* JPEGs that the backend takes by lane_transcode at a time; 0: none, or none yet. Thread-safe, quick. */
unsigned backend_transcodes(struct backend *backend);

/* Writes *size bytes to job->output: a baseline JPEG without metadata, or the picture if job->pixels.
 * ST_UNSUPPORTED or ST_BUSY: the device does not take this file, or finds it damaged; ST_DEVICE: it failed.
 * The CPU may do the job then. After ST_DEVICE from file to file the slot may hold no more than what lies
 * before the output. */
enum status lane_transcode(struct lane *lane, const struct transcode *job, size_t *size,
                           struct lane_timing *timing, struct error *err);

/* NULL is allowed. Lanes are destroyed before their backend is closed. */
void lane_destroy(struct lane *lane);
void backend_close(struct backend *backend);

#endif
