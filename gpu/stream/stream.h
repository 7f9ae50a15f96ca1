/* SPDX-License-Identifier: MIT
 * A stream of a GPU with its device memory, for one thread. Buffers grow to a high-water mark, so a warm
 * run allocates nothing. Between runs all streams of a GPU together keep at most device->memory_share
 * (gpu_stream_trim). Inside the engine process only. */
#ifndef BLURD_GPU_STREAM_STREAM_H
#define BLURD_GPU_STREAM_STREAM_H

#include "filters/backend.h"
#include "gpu/stream/buffer.h"
#include "gpu/stream/marks.h"

struct gpu_stream {
    struct gpu_device *device; /* NULL: not opened */
    CUstream handle;
    CUevent begin, uploaded, filtered, done; /* with timing; `done` blocks the waiting thread */
    struct gpu_buffer source, target, scratch;
    struct gpu_buffer spare, mask;       /* for runs with a mask: a third picture, and the mask */
    struct gpu_buffer ground;            /* a canvas that becomes the background of a picture */
    unsigned trim_epoch;                 /* value of the device's trim_epoch at this stream's last trim */
    volatile struct kernel_marks *marks; /* in pinned memory; NULL: the driver cannot write the fence */
    CUdeviceptr marks_device;
    uint32_t steps;          /* number of steps enqueued */
    struct gpu_batch *batch; /* launches that were gathered; NULL: none ever were */
    bool gathers;            /* gpu_launch adds to the batch */
};

/* Creates the stream, its events and its marks on the current context. ST_BUSY without memory, else
 * ST_DEVICE. Call gpu_stream_finish after a failure, too. */
enum status gpu_stream_init(struct gpu_stream *stream, struct gpu_device *device, struct error *err);
void gpu_stream_finish(struct gpu_stream *stream);

/* As gpu_buffer_reserve, behind what is enqueued. */
enum status gpu_stream_reserve(struct gpu_stream *stream, struct gpu_buffer *buffer, size_t size,
                               struct error *err);

/* Stores device memory for one run: at least `size` bytes, aligned to 256, with undefined contents. */
enum status gpu_stream_scratch(struct gpu_stream *stream, size_t size, CUdeviceptr *data, struct error *err);

/* Waits for all steps, the last of which recorded the event `done`. `watch` is that of a run whose work is
 * being handed over. After ST_DEVICE nothing may be asked of the device. */
enum status gpu_stream_wait(struct gpu_stream *stream, struct hang_detector_watch *watch, struct error *err);

/* Waits for all enqueued work, which may use the caller's memory, and ignores its result. Launches that were
 * gathered are forgotten. Returns `status`. After a fault this takes as long as the driver does to notice it.
 */
enum status gpu_stream_abandon(struct gpu_stream *stream, enum status status);

/* From now on launches are gathered, and go to the driver together, before a copy, a fill or the end of the
 * step (gpu/stream/batch.h). Other calls with the stream's handle do not wait for them. Without graphs in the
 * driver launches go to it one by one, as always. */
void gpu_stream_gather(struct gpu_stream *stream);

/* Enqueues a copy to the device from memory that stays until it is done. */
enum status gpu_stream_upload(struct gpu_stream *stream, CUdeviceptr to, const void *from, size_t size,
                              struct error *err);

/* Enqueues a copy to the host. */
enum status gpu_stream_download(struct gpu_stream *stream, void *to, CUdeviceptr from, size_t size,
                                struct error *err);

/* Enqueues a copy from device memory to other device memory. */
enum status gpu_stream_copy(struct gpu_stream *stream, CUdeviceptr to, CUdeviceptr from, size_t size,
                            struct error *err);

/* Enqueues filling device memory with a byte. */
enum status gpu_stream_fill(struct gpu_stream *stream, CUdeviceptr to, uint8_t value, size_t size,
                            struct error *err);

/* Enqueues a write of the fence, which ends a step and the gathering of launches. Without marks there
 * is no fence. */
enum status gpu_stream_signal(struct gpu_stream *stream, struct error *err);

/* Whether the device has finished all steps. Reads memory only, and takes marks. Thread-safe. */
bool gpu_stream_reached(const struct gpu_stream *stream);

/* Looks at the watch of a run that has not reached its fence. ST_DEVICE when the device is lost and will
 * never finish its steps. If the watch cannot tell, this asks the driver, which may take a second. */
enum status gpu_stream_check(const struct gpu_stream *stream, struct hang_detector_watch *watch,
                             struct error *err);

/* The times between the four events, once `done` is reached. */
enum status gpu_stream_timing(struct gpu_stream *stream, struct lane_timing *timing, struct error *err);

/* The device's time between two stamps of the marks, in nanoseconds; 0 if one of them is lacking. */
int64_t gpu_stream_between(const struct gpu_stream *stream, enum kernel_stamp from, enum kernel_stamp to);

/* Call after a run that ended with `status`, with nothing enqueued. When the streams of a GPU keep more than
 * their share of its memory, or an allocation failed, each frees its buffers in its next call. Returns true
 * when it has freed the stream's buffers; the caller then frees its own, and empties the pool
 * (gpu_buffer_empty_pool). After ST_DEVICE nothing is freed. */
bool gpu_stream_trim(struct gpu_stream *stream, enum status status);

/* Whether the stream was told to free its buffers and has not yet. */
bool gpu_stream_is_stale(const struct gpu_stream *stream);

#endif
