/* SPDX-License-Identifier: MIT
 * Decodes the components of a baseline JPEG, to the byte as libjpeg-turbo does on x86-64 (JDCT_ISLOW,
 * chroma not upsampled). It follows gpu/jpeg/huffman_sync.h and decodes intact data only. Inside the
 * engine process only; one picture of a stream at a time. */
#ifndef BLURD_GPU_JPEG_DECODE_H
#define BLURD_GPU_JPEG_DECODE_H

#include "gpu/jpeg/huffman_sync.h"

/* All zero at first; gpu_buffer_finish frees the memory. */
struct gpu_decode {
    struct gpu_buffer memory; /* coefficients, and sums of their DC values */
};

/* Reserves device memory, slightly more than 2 bytes per sample, for the picture last parsed by
 * huffman_sync_parse, and lets huffman_sync_begin fill it with zeros. Status as of gpu_buffer_reserve. */
enum status gpu_decode_reserve(struct gpu_decode *decode, struct gpu_stream *stream,
                               struct huffman_sync *sync, struct error *err);

/* Enqueues decoding into `image`, in device memory and of the picture's shape, after gpu_decode_reserve and
 * huffman_sync_begin. Pads planes to full blocks. Writes nothing for damaged data. */
enum status gpu_decode_begin(struct gpu_decode *decode, struct gpu_stream *stream,
                             const struct huffman_sync *sync, const struct image *image, struct error *err);

/* The same for coefficients that were read before (core/jpeg/coefficients.h), by the front or by the device.
 * They are uploaded or copied, and must stay until the stream has read them. It follows huffman_sync_skip. */
struct decode_values {
    const uint8_t *host; /* of the first block; NULL: they are on the device */
    CUdeviceptr device;
};
enum status gpu_decode_coefficients(struct gpu_decode *decode, struct gpu_stream *stream,
                                    const struct huffman_sync *sync, const struct decode_values *values,
                                    const struct image *image, struct error *err);

/* Where the coefficients lie from then on, until the next picture is parsed. */
struct decode_result gpu_decode_result(const struct gpu_decode *decode, const struct huffman_sync *sync);

#endif
