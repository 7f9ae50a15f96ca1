/* SPDX-License-Identifier: MIT
 * Candidates in the cells that a network with anchors has made: those of detect/anchors.h, in any order. The
 * CPU's function is the reference. */
#ifndef BLURD_GPU_DETECT_ANCHORS_H
#define BLURD_GPU_DETECT_ANCHORS_H

#include "detect/network.h"
#include "gpu/stream/stream.h"

/* In the device's memory, and lent until the stream has run the kernel. cells: of the output of this index,
 * row by row without gaps. candidates: a struct candidates, whose count is right and to which they are added.
 */
struct gpu_anchors {
    const struct network *network;
    unsigned output;
    CUdeviceptr cells, candidates;
    int32_t width, height; /* in cells */
    int32_t least;         /* score */
};

/* Enqueues the kernel. ST_DEVICE with the driver's error. */
enum status gpu_anchors_find(struct gpu_stream *stream, const struct gpu_anchors *anchors, struct error *err);

#endif
