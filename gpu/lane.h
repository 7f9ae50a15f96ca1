/* SPDX-License-Identifier: MIT
 * One stream of a GPU with its device memory, for one thread: upload, kernels, download,
 * one synchronisation. Buffers grow to a high-water mark; once warm, a run allocates
 * nothing. Inside the engine process only. */
#ifndef BLURD_GPU_LANE_H
#define BLURD_GPU_LANE_H

#include "core/backend.h"
#include "filters/chain.h"
#include "gpu/device.h"
#include "gpu/jpeg.h"

struct gpu_buffer {
    CUdeviceptr data;
    size_t size;
};

struct gpu_lane {
    struct gpu_device *device;
    CUstream stream;
    CUevent begin, uploaded, filtered, done; /* with timing; `done` blocks the waiting thread */
    struct gpu_buffer source, target, scratch;
    struct gpu_buffer spare, mask; /* of runs with a mask: for chains, and the mask itself */
    volatile uint32_t *mark;       /* in pinned memory: the device writes here how many steps it has done */
    CUdeviceptr mark_device;
    uint32_t steps;            /* begun */
    bool fresh;                /* memory was taken and is being filled, on the stream */
    struct gpu_jpeg_lane jpeg; /* all zero where the device has no hardware decoders */
};

/* A JPEG in, a JPEG out. */
struct gpu_transcode {
    const struct chain *chain;
    struct image_shape shape; /* of what the file holds: grey, or YCbCr as it is stored */
    struct bytes input;
    uint8_t *output; /* best registered with the driver, like the input */
    size_t room;     /* bytes at `output` */
    struct gpu_jpeg_options options;
};

/* Creates stream and events on the current context. Finish after failure, too. */
enum status gpu_lane_init(struct gpu_lane *lane, struct gpu_device *device, struct error *err);
void gpu_lane_finish(struct gpu_lane *lane);

/* Runs the chain; the images lie in host memory as image_layout() lays them out, best registered with the
 * driver (run->slot is not used). As lane_run of core/backend.h: no overlap, source unchanged, target
 * undefined on failure. ST_BUSY without device memory (not sticky), ST_DEVICE for anything else. */
enum status gpu_lane_run(struct gpu_lane *lane, const struct run *run, struct lane_timing *timing,
                         struct error *err);

/* A JPEG goes in four steps. All but the first enqueue work and return at once; the next one may begin when
 * gpu_lane_reached says so. The job and its bytes stay as they are until the last has been reached.
 * ST_UNSUPPORTED: for a JPEG that the hardware does not take or finds broken, a device without decoders, a
 * result larger than job->room: the CPU may do it, and knows better. Else as gpu_lane_run. After a failure
 * nothing is under way.
 *
 * parse: takes memory and walks the file, a quarter of a millisecond of work for the processor.
 * encode: filters, too. fetch: *size is that of the JPEG that will be at job->output. */
enum status gpu_lane_parse(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err);
enum status gpu_lane_decode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err);
enum status gpu_lane_encode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err);
enum status gpu_lane_fetch(struct gpu_lane *lane, const struct gpu_transcode *job, size_t *size,
                           struct error *err);

/* Whether the device has done what was enqueued: a look at memory. Any thread. */
bool gpu_lane_reached(const struct gpu_lane *lane);

/* Where the time went, after the last step: decoding, filtering, encoding in the places of upload, filter,
 * download. */
enum status gpu_lane_timing(struct gpu_lane *lane, struct lane_timing *timing, struct error *err);

/* Enqueues one step; the images lie in device memory. `mask` (NULL: none) is looked at by statistics alone.
 * Status as of gpu_lane_run. */
enum status gpu_lane_step(struct gpu_lane *lane, const struct step *step, const struct image *source,
                          const struct image *mask, const struct image *target, struct error *err);

/* Device memory of at least `size` bytes for the kernels of one run, aligned to 256
 * bytes; what it held before is lost. */
enum status gpu_lane_scratch(struct gpu_lane *lane, size_t size, CUdeviceptr *data, struct error *err);

#endif
