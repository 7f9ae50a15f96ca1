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

/* The picture as a progressive file. */
void jpeg_files_make_progressive(struct bench *bench, const struct jpeg_file *from, struct jpeg_file *file);

/* A blur of sigma 5 in RGB, and in linear light. */
enum { JPEG_COLOURS = 2 };
struct jpeg_colours {
    const char *name;
    enum transcode_colours colours;
    struct chain chain;
};

/* Plans both for pictures of this shape. */
void jpeg_colours_plan(struct jpeg_colours ways[JPEG_COLOURS], const struct image_shape *shape);

/* Four regions of about the size of a face, pixelated: inside, or after they are redacted. */
struct jpeg_regions {
    struct chain chain;
    struct transcode_mask inside, redacted;
    void *memory[2]; /* of both lists, pinned */
};

/* Plans them for pictures of this shape. The caller closes them. */
void jpeg_regions_open(struct jpeg_regions *regions, struct bench *bench, const struct image_shape *shape);
void jpeg_regions_close(struct jpeg_regions *regions, struct bench *bench);

#endif
