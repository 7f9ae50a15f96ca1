/* SPDX-License-Identifier: MIT
 * Checks that a JPEG's entropy-coded data is intact, and finds the first bit of each block of samples. The
 * kernel of gpu/jpeg/huffman_sync.cu reads all codes; gpu/jpeg/decode.h decodes them. Inside the engine
 * process only; one picture of a stream at a time.
 *
 * libjpeg decodes a file accepted here without a warning, but for odd numbers in the scan's header. Some
 * files that libjpeg takes are refused: padding bits other than ones, surplus bytes before a marker, runs of
 * zeros beyond their block, and headers that gpu/jpeg/jpeg_header.h refuses. The CPU then decides, so that
 * the rule of docs/api.md ("Damaged files") holds for both. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_SYNC_H
#define BLURD_GPU_JPEG_HUFFMAN_SYNC_H

#include "gpu/jpeg/jpeg_header.h"
#include "gpu/stream/stream.h"

struct huffman_sync {
    struct jpeg_header header;            /* of the last parsed picture */
    uint32_t blocks;                      /* of 8x8 samples in it */
    struct gpu_buffer memory;             /* tables, scan, and the states that the kernel finds */
    struct gpu_buffer zeros;              /* borrowed memory that the kernel fills with zeros; set by
                                           * gpu_decode_reserve, and forgotten by huffman_sync_parse */
    struct huffman_sync_mailbox *mailbox; /* in pinned memory: tables, verdict */
    CUdeviceptr mailbox_device;
};

/* Allocates the mailbox. Status as of gpu_stream_init. Call huffman_sync_finish after a failure, too. */
enum status huffman_sync_init(struct huffman_sync *sync, struct gpu_stream *stream, struct error *err);
void huffman_sync_finish(struct huffman_sync *sync, struct gpu_stream *stream);

/* Reads the header and reserves device memory, as gpu_buffer_reserve does. ST_UNSUPPORTED for a file that
 * jpeg_header_parse refuses, or of another shape. */
enum status huffman_sync_parse(struct huffman_sync *sync, struct gpu_stream *stream, struct bytes file,
                               const struct image_shape *shape, struct error *err);

/* Reserves the memory that a file of that size needs, with that many samples. Nothing is parsed then. */
enum status huffman_sync_reserve(struct huffman_sync *sync, struct gpu_stream *stream, size_t size,
                                 uint32_t samples, struct error *err);

/* Enqueues reading the last parsed file. Its bytes must stay until the stream has read them. */
enum status huffman_sync_begin(struct huffman_sync *sync, struct gpu_stream *stream, struct bytes file,
                               struct error *err);

/* The same two steps for a picture whose coefficients the front has read (core/jpeg/coefficients.h): there
 * are no codes, and the data is intact. */
enum status huffman_sync_parse_coefficients(struct huffman_sync *sync, struct gpu_stream *stream,
                                            struct bytes input, const struct image_shape *shape,
                                            struct error *err);
enum status huffman_sync_skip(struct huffman_sync *sync, struct gpu_stream *stream, struct error *err);

/* The number of ranges into which the last parsed picture's scan is divided. */
uint32_t huffman_sync_ranges(const struct huffman_sync *sync);

/* The kernel's parameters, which the decoder uses, too. */
struct sync_pass huffman_sync_pass(const struct huffman_sync *sync, const struct gpu_stream *stream);

/* Call it once the stream has finished. ST_OK for an intact scan, else ST_UNSUPPORTED. */
enum status huffman_sync_end(const struct huffman_sync *sync, struct error *err);

#endif
