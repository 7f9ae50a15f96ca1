/* SPDX-License-Identifier: MIT
 * Reads progressive JPEGs on the device: from the scans to the coefficients that core/jpeg/coefficients.h
 * describes, many pictures with one launch (docs/adr/0045). A picture takes the device tens of milliseconds,
 * and hundreds of pictures at the same time hardly longer.
 *
 * What is read as intact has the values that the CPU's reader finds (codecs/jpeg/jpeg_coefficients.h). This
 * one is stricter: it refuses restart intervals, more than 32 scans or 1 MiB, surplus bytes behind a scan,
 * and runs that go beyond a block, a band or the picture. The CPU then reads the file. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_H
#define BLURD_GPU_JPEG_PROGRESSIVE_H

#include "core/bytes.h"
#include "core/jpeg/coefficients.h"
#include "gpu/jpeg/progressive/progressive_kernels.h"
#include "gpu/stream/stream.h"

enum {
    PROGRESSIVE_PICTURES = KERNEL_PROGRESSIVE_PICTURES, /* of a launch, at most */
    PROGRESSIVE_FILE_MAX = 1 << 20,                     /* bytes */
};

/* A parsed file. */
struct progressive_source {
    struct coefficients_layout layout;
    struct coefficients_head head; /* the steps of quantisation */
    /* Whether our encoders write such frames, so that blocks can be kept: codecs/jpeg/jpeg_coefficients.h. */
    bool plain;
    size_t input;  /* bytes that were packed, a multiple of 16 */
    size_t memory; /* bytes of device memory that reading needs. The values come first, as in `layout` */
    /* Load of the busiest warp, about in bytes that it reads: a scan that refines counts for a third more
     * than its bytes. The time of the kernel follows from it. */
    size_t longest;
};

/* Parses a progressive JPEG of that shape, checks that its scans complete each coefficient, and packs at
 * `room` what the kernel needs: `size` bytes of pinned memory, at a multiple of 256. The file may change
 * meanwhile: what is parsed was copied before, and nothing relies on bytes that are read again.
 * ST_UNSUPPORTED with the reason for a file that is refused, and where `room` is too small. Takes about as
 * long as copying the file. Thread-safe. */
enum status progressive_parse(struct bytes file, const struct image_shape *shape, uint8_t *room, size_t size,
                              struct progressive_source *source, struct error *err);

/* A `size` that suffices for any file that is accepted. */
size_t progressive_room(void);

/* Enqueues one launch that reads 1 to PROGRESSIVE_PICTURES pictures. The memory of each must stay until its
 * verdict is there or the stream has finished. ST_DEVICE from gpu_launch. */
enum status progressive_begin(struct gpu_stream *stream, const struct progressive_picture *pictures,
                              unsigned count, struct error *err);

#endif
