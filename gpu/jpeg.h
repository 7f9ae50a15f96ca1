/* SPDX-License-Identifier: MIT
 * JPEG decoding and encoding on the GPU: the hardware decoders and the encoder of nvJPEG, from bytes in host
 * memory to planes in device memory and back. Baseline pictures in grey or YCbCr alone; the caller has walked
 * the file and knows its shape. Inside the engine process only.
 *
 * A hardware decoder's samples may differ from libjpeg-turbo's by 1 or 2. */
#ifndef BLURD_GPU_JPEG_H
#define BLURD_GPU_JPEG_H

#include "core/bytes.h"
#include "core/image.h"
#include "gpu/nvjpeg.h"

/* Of a device; shared by its lanes. */
struct gpu_jpeg {
    const struct nvjpeg *nvjpeg;
    nvjpegHandle handle;
    nvjpegDecoder decoder;
};

/* How to encode. */
struct gpu_jpeg_options {
    uint8_t quality;   /* 1 to 100, as libjpeg counts */
    uint8_t optimised; /* Huffman tables made for the picture; else the standard's */
};

/* Of a lane: one picture at a time. */
struct gpu_jpeg_lane {
    const struct gpu_jpeg *jpeg;
    CUstream on;
    nvjpegState state;
    nvjpegPinned pinned;
    nvjpegMemory memory;
    nvjpegStream stream;
    nvjpegDecodeParams decoding;
    nvjpegEncoder encoder;
    nvjpegEncoderParams encoding;
    struct gpu_jpeg_options set; /* in `encoding`; setting anew waits for the device */
    int set_chroma;
};

/* On the current context. ST_UNSUPPORTED where the GPU has no hardware decoders. Finish after failure, too.
 */
enum status gpu_jpeg_open(struct gpu_jpeg *jpeg, const struct nvjpeg *nvjpeg, struct error *err);
void gpu_jpeg_close(struct gpu_jpeg *jpeg);

/* Means to work on `stream`. Takes tens of milliseconds. Finish after failure, too. */
enum status gpu_jpeg_lane_init(struct gpu_jpeg_lane *lane, const struct gpu_jpeg *jpeg, CUstream stream,
                               struct error *err);
void gpu_jpeg_lane_finish(struct gpu_jpeg_lane *lane);

/* Walks the file, which takes the processor a third of a microsecond per kilobyte and no lock. The bytes stay
 * until they are decoded. ST_UNSUPPORTED for a file that nvJPEG does not take. */
enum status gpu_jpeg_parse(struct gpu_jpeg_lane *lane, struct bytes bytes, struct error *err);

/* Enqueues decoding of what was parsed last into `image`, in device memory, which nothing may be using any
 * more: the hardware decoder does not wait for what is on the stream already. */
enum status gpu_jpeg_decode(struct gpu_jpeg_lane *lane, const struct image *image, struct error *err);

/* Enqueues encoding of `image`, in device memory. */
enum status gpu_jpeg_encode(struct gpu_jpeg_lane *lane, const struct image *image,
                            const struct gpu_jpeg_options *options, struct error *err);

/* The size of what was encoded, once the stream has got that far; then the bytes themselves, of that size,
 * enqueued: they are there when the stream has got that far again. */
enum status gpu_jpeg_size(struct gpu_jpeg_lane *lane, size_t *size, struct error *err);
enum status gpu_jpeg_fetch(struct gpu_jpeg_lane *lane, uint8_t *bytes, size_t size, struct error *err);

#endif
