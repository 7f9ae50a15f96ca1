/* SPDX-License-Identifier: MIT
 * What cores do of a picture: they read it, search it, draw its regions, filter it and write the answer. On
 * WAY_GPU_FILTER a GPU runs the chains. On WAY_GPU_DECODE and WAY_GPU_ENCODE it has done, or does, the rest.
 */
#ifndef BLURD_SERVER_PICTURE_CORES_H
#define BLURD_SERVER_PICTURE_CORES_H

#include "codecs/codec.h"
#include "server/metrics.h"
#include "server/picture/frames/found_frames.h"
#include "server/picture/frames/frame_source.h"
#include "server/picture/workspace.h"
#include "server/planner/plan.h"

struct request;
struct worker;

/* A run over one picture. Zero-initialise; before the functions below the caller sets request, worker, err,
 * plan, work (open), way and clock. Only the worker's thread uses it. */
struct cores {
    struct request *request;
    struct worker *worker;
    struct error *err;
    struct work_plan plan;
    struct workspace work;
    struct frame_source frames;  /* of an animation, in place of the codec; the caller closes it */
    struct frames_writer writer; /* of an animation that is answered */
    struct found_frames found;   /* in an animation */
    bool covered;                /* something is, in a frame */
    uint32_t index; /* of the frame in progress, from the first one on that is taken; those before it wrap
                       around */
    struct image source, result;
    enum way way;              /* that is being tried */
    bool gpu_failed;           /* a GPU failed after decoding: the next way continues with `source` */
    bool searched;             /* what was found is in the selection already */
    bool decoded;              /* `source` is complete */
    bool drawn;                /* its regions are drawn, too, and it is upright */
    bool opened;               /* the answer's body is */
    int64_t decode_ns;         /* time of decoding within the filter stage */
    int64_t follow_ns;         /* time of filtering and encoding during the decoder's call */
    struct encoding *encoding; /* encodes rows while filters run; NULL: the encoder runs afterwards */
    int64_t encode_ns;         /* time of encoding within the filter stage */
    int64_t clock;             /* when the current stage began */
    bool complete;             /* the answer is complete */
};

/* Adds the time since the last stage to this one. */
void cores_end_stage(struct cores *run, enum stage stage);

/* Decodes the picture, or the frame in progress, and searches it. What was found is in run->plan.detection.
 * Fails like codec_decode and detection_read; run->gpu_failed as cores_run sets it. */
enum status cores_search(struct cores *run);

/* Decodes the whole picture, searches it and draws its regions, once. Fails like codec_decode and
 * selection.h.
 */
enum status cores_decode(struct cores *run);

/* Writes the answer's body from `result`, which is complete. Fails like codec_encode. */
enum status cores_write(struct cores *run);

/* Reads and filters the picture, or the frame in progress, into `result`. Fails like cores_run. */
enum status cores_filter(struct cores *run);

/* Reads, filters and writes the whole picture; on WAY_GPU_FILTER a GPU runs the chains. Fails like the
 * functions above and lane_run. Where a GPU fails, it sets run->gpu_failed: then the caller ignores the
 * status and calls again with WAY_CPU, which continues with what was decoded. */
enum status cores_run(struct cores *run);

#endif
