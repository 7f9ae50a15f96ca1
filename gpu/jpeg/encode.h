/* SPDX-License-Identifier: MIT
 * Encodes pictures on the device as baseline JPEGs, with the standard's Huffman codes or with codes of the
 * picture's own. The bytes equal those of codecs/jpeg/jpeg_encode.c without metadata, or those of
 * codecs/jpeg/jpeg_patch.c. No function waits for the device. Inside the engine process only; one picture of
 * a stream at a time. */
#ifndef BLURD_GPU_JPEG_ENCODE_H
#define BLURD_GPU_JPEG_ENCODE_H

#include "core/jpeg/segments.h"
#include "gpu/jpeg/encode_kernels.h"
#include "gpu/stream/stream.h"

struct gpu_encode {
    CUdeviceptr kept;                   /* a struct encode_kept */
    bool uncounted;                     /* its counts are zero */
    struct gpu_buffer memory;           /* lists of symbols, bits, the file */
    CUdeviceptr direct;                 /* device address of the caller's output; 0: it has none */
    CUdeviceptr output;                 /* file of the last picture */
    struct gpu_encode_mailbox *mailbox; /* in pinned memory: tables, outcome */
    CUdeviceptr mailbox_device;
};

/* What a picture has from the JPEG that it was made of (codecs/jpeg/jpeg_patch.h). */
struct gpu_encode_patch {
    const uint16_t (*quantiser)[JPEG_COEFFICIENTS]; /* JPEG_QUANTISERS tables, row by row: 1 to 255 */
    struct decode_result source; /* coefficients, of the picture's shape and in the order of its blocks */
    struct image mask;           /* on the device, in the picture's size: blocks stay where it is 0 */
};

/* A picture in device memory, grey or YCbCr of 8 bits, and how it is encoded. */
struct gpu_encode_job {
    const struct image *image;
    size_t room;                          /* bytes of the file at most */
    uint8_t quality;                      /* 1 to 100; not of a patch */
    bool optimal;                         /* with codes of the picture's own, as a patch always has */
    const struct gpu_encode_patch *patch; /* NULL: all blocks are made of samples */
};

/* Allocates the mailbox and uploads the tables. Status as of gpu_stream_init. Call gpu_encode_finish after a
 * failure, too. */
enum status gpu_encode_init(struct gpu_encode *encode, struct gpu_stream *stream, struct error *err);
void gpu_encode_finish(struct gpu_encode *encode, struct gpu_stream *stream);

/* Reserves device memory, as gpu_buffer_reserve does, for a picture laid out like `image` and a file of at
 * most `room` bytes at `output`. ST_UNSUPPORTED for pictures that no JPEG can hold: sides above 65500, chroma
 * reduced by 4 x 4. */
enum status gpu_encode_reserve(struct gpu_encode *encode, struct gpu_stream *stream,
                               const struct image *image, uint8_t *output, size_t room, struct error *err);

/* Enqueues encoding of a picture with the layout and the room reserved. */
enum status gpu_encode_begin(struct gpu_encode *encode, struct gpu_stream *stream,
                             const struct gpu_encode_job *job, struct error *err);

/* Stores the file's size once the stream is done. ST_UNSUPPORTED for a patch with a coefficient for which
 * baseline files of 8-bit samples have no symbol, and for a file of more than `room` bytes, of which nothing
 * was written; *size may then be too large. */
enum status gpu_encode_end(const struct gpu_encode *encode, size_t room, size_t *size, struct error *err);

/* Whether the kernels write to `output` themselves, as to memory known to the driver. Otherwise
 * gpu_encode_fetch enqueues the copy. */
bool gpu_encode_is_direct(const struct gpu_encode *encode);
enum status gpu_encode_fetch(struct gpu_encode *encode, struct gpu_stream *stream, uint8_t *output,
                             size_t size, struct error *err);

#endif
