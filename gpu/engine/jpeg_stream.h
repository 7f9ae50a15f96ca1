/* SPDX-License-Identifier: MIT
 * A stream that turns JPEGs into JPEGs: it decodes, filters and encodes on the device, and its bytes equal
 * those of the CPU. Inside the engine process only.
 *
 * A job has three steps, and none waits for the device. The next step may begin once
 * gpu_stream_reached is true. The job and its bytes must stay unchanged until then. All steps return
 * ST_UNSUPPORTED for a JPEG that gpu/jpeg/jpeg_header.h does not take, damaged data
 * (gpu/jpeg/huffman_sync.h), an orientation that is not exact, a patch of a JPEG whose frame is unusual
 * (jpeg_header.plain) or whose coefficients are, and a result larger than job->room; the CPU
 * may then do the job. Other statuses are as of gpu_chain_run. After a failure nothing is enqueued, and
 * job->output is undefined.
 *
 * After a search with a number the decoded picture stays on the device, until the stream's next
 * job. A job with the same number then begins with it, and does not look at the file. */
#ifndef BLURD_GPU_ENGINE_JPEG_STREAM_H
#define BLURD_GPU_ENGINE_JPEG_STREAM_H

#include "gpu/engine/entropy_decoder.h"
#include "gpu/filters/mask/mask.h"
#include "gpu/jpeg/decode.h"
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/huffman_sync.h"
#include "gpu/stream/stream.h"

struct jpeg_stream {
    struct gpu_stream stream; /* stream.device is NULL: not opened */
    struct huffman_sync sync;
    struct gpu_decode decode;
    struct gpu_encode encode;
    struct gpu_mask mask;
    struct gpu_buffer planes; /* of a job in RGB: those of its file, then those of its result */
    CUdeviceptr candidates;   /* of a search */
    struct image result;      /* of the chain, on the device */
    struct image coverage;    /* its mask */
    uint64_t kept;            /* number of the picture in stream.source, decoded and intact; 0: none */
    struct image_shape kept_shape;
    size_t kept_size; /* bytes of its file */
    bool again;       /* the current job uses that picture */
    /* What the device has read of the current job's file, for TRANSCODE_SCANS; set by the caller. */
    const struct entropy_decode *reading;
    uint8_t *staging; /* pinned memory for a file and its result, JPEG_STREAM_STAGING bytes; NULL: none */
};

enum { JPEG_STREAM_STAGING = 3 << 20 /* for 1080p, by 28 streams: 84 MiB */ };

/* Opens the stream and its codecs on the current context. ST_UNSUPPORTED with a driver that cannot write
 * fences, ST_BUSY without memory, else ST_DEVICE. Call jpeg_stream_finish after a failure, too. */
enum status jpeg_stream_init(struct jpeg_stream *jpeg, struct gpu_device *device, struct error *err);

/* Takes the staging memory, and device memory for a picture of 1920x1080, so that the first jobs need not.
 * Statuses as of jpeg_stream_init, after which the stream works all the same. */
enum status jpeg_stream_prepare(struct jpeg_stream *jpeg, struct error *err);

/* Accepts an all-zero struct, and leaves one. */
void jpeg_stream_finish(struct jpeg_stream *jpeg);

/* Reserves memory and reads the header, on the caller's thread, which takes ten microseconds.
 * filters/backend.h describes the job; job->slot is not used. */
enum status jpeg_stream_parse(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err);

/* What the device has to do for the job. */
struct hang_detector_work jpeg_stream_work(const struct transcode *job);

/* Enqueues decoding, filtering and encoding. */
enum status jpeg_stream_begin(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err);

/* Checks that the data was intact and stores the size of the result. Enqueues the copy to job->output unless
 * the device has written there itself. */
enum status jpeg_stream_end(struct jpeg_stream *jpeg, const struct transcode *job, size_t *size,
                            struct error *err);

/* The times of decoding, filtering and encoding of a job that is done, in the upload, filter and download
 * fields. The device's clock gives them; where it does not know when filtering began or ended, as after a
 * search, that is the rest of the `took_ns` that the job took the host. */
struct lane_timing jpeg_stream_timing(const struct jpeg_stream *jpeg, int64_t took_ns);

/* Whether the stream keeps the picture that the job names, decoded by a search. */
bool jpeg_stream_keeps(const struct jpeg_stream *jpeg, const struct transcode *job);

/* Frees memory after a job that ended with `status`; see gpu_stream_trim. */
void jpeg_stream_trim(struct jpeg_stream *jpeg, enum status status);

#endif
