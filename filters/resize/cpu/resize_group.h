/* SPDX-License-Identifier: MIT
 * A group of RESIZE_ROWS rows of a resized plane: vertical sums tile by tile, which are turned, then
 * horizontal sums. */
#ifndef BLURD_FILTERS_RESIZE_CPU_RESIZE_GROUP_H
#define BLURD_FILTERS_RESIZE_CPU_RESIZE_GROUP_H

#include <stdbool.h>

#include "core/image.h"
#include "cpu/rows/rows.h"
#include "filters/resize/resize.h"

/* The weights of the columns of a plane. */
struct resize_columns {
    struct resize_span *span;
    float *weight; /* `most` for each column */
    size_t most;
    uint32_t from, to; /* columns of the source that have a weight */
};

struct resize_group {
    const struct row_set *rows;
    const struct plane *source, *target;
    struct row_format format;
    int32_t kernel;
    struct resize_plane_axis x, y;
    const struct resize_columns *columns;
    int64_t deadline_ns; /* core/deadline.h */
};

/* Fills the weights of sample i of an axis whose source has `size` samples. */
struct resize_span resize_group_weights(float *weight, int32_t kernel, const struct resize_plane_axis *axis,
                                        uint32_t size, uint32_t i);

/* Bytes of working memory of a group. */
size_t resize_group_bytes(const struct resize_group *group);

/* Makes the rows from row RESIZE_ROWS * index of the part of the target that shows the picture. False at the
 * deadline, with undefined rows. */
bool resize_group_run(const struct resize_group *group, uint32_t index, uint8_t *memory);

#endif
