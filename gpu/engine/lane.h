/* SPDX-License-Identifier: MIT
 * One stream of a GPU with its device memory, for one thread: upload, kernels, download,
 * one synchronisation. Buffers grow to a high-water mark; once warm, a run allocates
 * nothing. All lanes of a GPU together keep no more than device->memory_share between
 * runs (gpu_lane_settle). Inside the engine process only. */
#ifndef BLURD_GPU_ENGINE_LANE_H
#define BLURD_GPU_ENGINE_LANE_H

#include "filters/backend.h"
#include "filters/chain.h"
#include "gpu/cuda/device.h"
#include "gpu/jpeg/jpeg_header.h"

struct gpu_buffer {
    CUdeviceptr data;
    size_t size;
};

/* Of a lane: gpu/jpeg/huffman_sync.h. */
struct huffman_sync {
    struct jpeg_header scan;           /* of the picture that was parsed last */
    uint32_t blocks;                   /* of 8x8 samples in it */
    struct gpu_buffer memory;          /* tables, the scan's bytes, what the walk finds */
    struct huffman_sync_mailbox *note; /* in pinned memory: tables, verdict */
    CUdeviceptr note_device;
};

/* Of a lane: gpu/jpeg/encode.h. */
struct gpu_encode {
    CUdeviceptr tables;           /* of Huffman codes */
    struct gpu_buffer memory;     /* coefficients, bits, the file */
    CUdeviceptr direct;           /* the host's memory for the file as the device sees it; 0: it does not */
    CUdeviceptr output;           /* where the file of the picture that was encoded last lies */
    struct gpu_encode_note *note; /* in pinned memory: tables, size */
    CUdeviceptr note_device;
};

struct gpu_lane {
    struct gpu_device *device;
    CUstream stream;
    CUevent begin, uploaded, filtered, done; /* with timing; `done` blocks the waiting thread */
    struct gpu_buffer source, target, scratch;
    struct gpu_buffer spare, mask; /* of runs with a mask: for chains, and the mask itself */
    unsigned purges;               /* of the device's, those that it has followed */
    volatile uint32_t *mark;       /* in pinned memory: the device writes here how many steps it has done */
    CUdeviceptr mark_device;
    uint32_t steps; /* begun */
    /* All zero without gpu_lane_init_jpeg. */
    struct huffman_sync sync; /* whether a JPEG's data is whole */
    struct gpu_buffer values; /* what gpu/jpeg/decode.h has of a JPEG on its way to samples */
    struct gpu_encode encode;
};

/* A JPEG in, a JPEG out. */
struct gpu_transcode {
    const struct chain *chain; /* planned for the upright picture */
    struct image_shape shape;  /* of what the file holds: grey, or YCbCr as it is stored */
    uint8_t orientation; /* EXIF, to be undone before the chain, orient_is_exact; 0 or 1: none. The result
                            is of the shape orient_shape says, and is upright. */
    struct bytes input;
    uint8_t *output; /* best registered with the driver, like the input */
    size_t room;     /* bytes at `output` */
    uint8_t quality; /* 1 to 100, as libjpeg counts */
};

/* Creates stream and events on the current context. Finish after failure, too. */
enum status gpu_lane_init(struct gpu_lane *lane, struct gpu_device *device, struct error *err);

/* Then gives it the means for JPEGs. ST_UNSUPPORTED with a driver that cannot write marks, ST_BUSY without
 * memory, else ST_DEVICE. */
enum status gpu_lane_init_jpeg(struct gpu_lane *lane, struct error *err);

void gpu_lane_finish(struct gpu_lane *lane);

/* Runs the chain; the images lie in host memory as image_layout() lays them out, best registered with the
 * driver (run->slot is not used). As lane_run of filters/backend.h: no overlap, source unchanged, target
 * undefined on failure. ST_BUSY without device memory (not sticky), ST_DEVICE for anything else. */
enum status gpu_lane_run(struct gpu_lane *lane, const struct run *run, struct lane_timing *timing,
                         struct error *err);

/* A JPEG goes in three steps, to the byte what the CPU's codecs and filters make of it. None waits for the
 * device; the next one may begin, and the job is done, when gpu_lane_reached says so. The job and its bytes
 * stay as they are until then. ST_UNSUPPORTED: for a JPEG that gpu/jpeg/jpeg_header.h does not take or that
 * is damaged (gpu/jpeg/huffman_sync.h), an orientation that is not exact, a result larger than job->room: the
 * CPU may do it, and knows better. Else as gpu_lane_run. After a failure nothing is under way, and
 * job->output is undefined.
 *
 * parse: takes memory and reads the header, ten microseconds of work for the processor; on the caller's
 * thread. begin: enqueues all that makes the JPEG. end: looks whether the data was whole, and how large the
 * result is; enqueues its copy to job->output where the device does not write there itself. */
enum status gpu_lane_parse(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err);
enum status gpu_lane_begin(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err);
enum status gpu_lane_end(struct gpu_lane *lane, const struct gpu_transcode *job, size_t *size,
                         struct error *err);

/* Whether the device has done what was enqueued: a look at memory. Any thread. */
bool gpu_lane_reached(const struct gpu_lane *lane);

/* Asks the driver whether the device has failed, and will never reach anything: ST_DEVICE. */
enum status gpu_lane_query(const struct gpu_lane *lane, struct error *err);

/* Where the time went, after the last step: decoding, filtering, encoding in the places of upload, filter,
 * download. */
enum status gpu_lane_timing(struct gpu_lane *lane, struct lane_timing *timing, struct error *err);

/* After a run that ended with `status`, with nothing under way. Where the lanes of a GPU keep more than their
 * share of its memory, or there was none left, each gives its buffers back when it settles next: so those go
 * that were large once. That stops the GPU for a moment. After ST_DEVICE nothing is freed. */
void gpu_lane_settle(struct gpu_lane *lane, enum status status);

/* Whether an idle lane has been told to give its buffers back, and did not settle since. */
bool gpu_lane_is_stale(const struct gpu_lane *lane);

/* Enqueues one step; the images lie in device memory. `mask` (NULL: none) is looked at by statistics alone.
 * Status as of gpu_lane_run. */
enum status gpu_lane_step(struct gpu_lane *lane, const struct step *step, const struct image *source,
                          const struct image *mask, const struct image *target, struct error *err);

/* Device memory of at least `size` bytes for the kernels of one run, aligned to 256
 * bytes; what it held before is lost. */
enum status gpu_lane_scratch(struct gpu_lane *lane, size_t size, CUdeviceptr *data, struct error *err);

#endif
