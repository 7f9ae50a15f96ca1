/* SPDX-License-Identifier: MIT
 * JPEGs for the benchmark, in memory that is registered with the driver. */
#ifndef BLURD_BENCH_GPU_JPEG_FILES_H
#define BLURD_BENCH_GPU_JPEG_FILES_H

#include "bench/gpu/bench.h"
#include "core/bytes.h"
#include "core/image.h"
#include "filters/backend.h"

enum { JPEG_FILES_MAX = 16, JPEG_FILES_ROOM = 8 << 20, JPEG_FILES_QUALITY = 85 };

struct jpeg_file {
    struct bytes bytes; /* registered with the driver */
    struct image_shape shape;
};

struct jpeg_files {
    struct jpeg_file file[JPEG_FILES_MAX];
    unsigned count;
};

/* The JPEGs of the folder bench->pictures. */
void jpeg_files_load(struct bench *bench, struct jpeg_files *files);
void jpeg_files_unload(struct bench *bench, struct jpeg_files *files);

/* The picture in a smaller width, made by the CPU. */
void jpeg_files_shrink(struct bench *bench, const struct jpeg_file *from, int width, struct jpeg_file *file);

/* Plans a mask of four regions in a picture of this shape. Returns the memory of its list, which the caller
 * frees by cuMemFreeHost. */
void *jpeg_files_mask(struct bench *bench, const struct image_shape *shape, bool redact,
                      struct transcode_mask *mask);

#endif
