/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_planes.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/sequential/seq_header.h"
#include "codecs/jpeg/sequential/seq_scan.h"
#include "core/deadline.h"
#include "core/jpeg_head.h"

enum { BLOCK = COEFFICIENTS_SIDE };

/* A progressive file. */
struct progressive {
    struct seq_batch batch;
    struct seq_part part[SEQ_COMPONENTS_MAX];
    struct seq_scale scale[SEQ_COMPONENTS_MAX];
    const struct seq_level *level;
    const struct codec_limits *limits;
    const struct image *image;
    struct coefficients_layout layout;
    struct jpeg_coefficients read;
};
enum { STATE = (sizeof(struct progressive) + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT };

static size_t all_bytes(const struct coefficients_layout *layout) {
    return STATE + bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT);
}

size_t jpeg_planes_progressive_bytes(const struct image_shape *shape) {
    struct coefficients_layout layout;
    return coefficients_lay_out(shape, &layout) ? all_bytes(&layout) + jpeg_coefficients_state() : 0;
}

/* ---- the transform ---- */

static void set_scale(struct progressive *file, unsigned plane) {
    struct seq_part *part = &file->part[plane];
    struct seq_scale *scale = &file->scale[plane];
    uint16_t steps[SEQ_STEPS];
    for (unsigned k = 0; k < SEQ_STEPS; k++) {
        steps[k] = file->read.head->steps[plane][jpeg_head_zigzag[k]];
    }
    seq_part_set_steps(part, steps);
    part->stride = file->image->plane[plane].stride;
    for (unsigned k = 0; k < SEQ_STEPS; k++) {
        unsigned at = file->level->sorts ? k : part->place[k].at;
        int32_t step = k > 0 ? part->place[k].step : part->dc_step;
        scale->step[at] = (int16_t)(file->level->sorts && k > 0 ? 1 : step);
        scale->limit[at] = (int16_t)(SEQ_VALUE_MAX / abs(step));
    }
}

/* Transforms the blocks of a plane in a row of MCUs. */
static bool transform_plane(struct progressive *file, unsigned index, uint32_t mcu_y) {
    const struct plane *plane = &file->image->plane[index];
    uint32_t high = index > 0 ? 1 : file->layout.v;
    bool good = true;
    for (uint32_t y = mcu_y * high; y < (mcu_y + 1) * high && y * BLOCK < plane->height && good; y++) {
        const struct seq_stored row = {
            .values = file->read.values,
            .filled = file->read.filled,
            .row = coefficients_row(&file->layout, index, y),
            .count = (plane->width + BLOCK - 1) / BLOCK,
            .part = &file->part[index],
            .scale = &file->scale[index],
            .to = plane_row(plane, y * BLOCK),
        };
        good = file->level->transform(&file->batch, &row);
    }
    return good;
}

static enum status transform_all(struct progressive *file, bool *left, uint32_t *told, struct error *err) {
    const struct image *image = file->image;
    const uint32_t lines = (uint32_t)BLOCK * file->layout.v;
    enum status status = ST_OK;
    *left = false;
    for (uint32_t y = 0; y < file->layout.mcus_y && status == ST_OK; y++) {
        for (unsigned i = 0; i < image->plane_count && !*left; i++) {
            *left = !transform_plane(file, i, y);
        }
        if (*left) {
            return ST_OK;
        }
        *told = (y + 1) * lines < image->height ? (y + 1) * lines : image->height;
        progress_tell(file->limits->progress, *told);
        status = deadline_check(file->limits->deadline_ns, err);
    }
    return status;
}

/* ---- a file ---- */

static enum status decode_progressive(struct progressive *file, struct bytes input, bool *left,
                                      uint32_t *told, struct error *err) {
    const struct image_shape shape = image_shape(file->image);
    const struct jpeg_coefficients_way way = {.quick = jpeg_coefficients_are_quick(),
                                              .order = file->level->sorts ? JPEG_SCAN : JPEG_ROWS};
    uint8_t *memory = (uint8_t *)file + STATE;
    struct error unusual;
    enum status status = jpeg_coefficients_read_by(&way, input, file->limits, &shape, memory, &unusual);
    *left = status == ST_UNSUPPORTED;
    if (status != ST_OK) {
        return *left ? ST_OK : fail(err, status, "%s", unusual.text);
    }
    file->read = jpeg_coefficients_in(memory, &file->layout);
    memset(&file->batch, 0, sizeof file->batch);
    for (unsigned i = 0; i < file->layout.planes; i++) {
        set_scale(file, i);
    }
    return transform_all(file, left, told, err);
}

static bool is_progressive(struct bytes input) {
    struct seq_header header;
    return seq_header_open(&header, input, true) == SEQ_SCAN && header.progressive;
}

enum status jpeg_planes_decode_at(const struct seq_level *level, struct bytes input,
                                  const struct codec_limits *limits, const struct image *image, bool *left,
                                  uint32_t *told, struct error *err) {
    const struct image_shape shape = image_shape(image);
    struct coefficients_layout layout;
    enum status status = sequential_decode(level, input, limits, image, left, told, err);
    if (status != ST_OK || !*left || limits->reduction > 0 || !is_progressive(input) ||
        !coefficients_lay_out(&shape, &layout) ||
        jpeg_planes_progressive_bytes(&shape) > limits->max_memory) {
        return status;
    }
    struct progressive *file = aligned_alloc(IMAGE_ALIGNMENT, all_bytes(&layout));
    if (!file) {
        return fail(err, ST_BUSY, "no memory to decode a JPEG");
    }
    file->level = level;
    file->limits = limits;
    file->image = image;
    file->layout = layout;
    status = decode_progressive(file, input, left, told, err);
    free(file);
    return status;
}

enum status jpeg_planes_decode(struct bytes input, const struct codec_limits *limits,
                               const struct image *image, bool *left, uint32_t *told, struct error *err) {
    const struct seq_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    *left = true;
    *told = 0;
    return levels[0]->vectors ? jpeg_planes_decode_at(levels[0], input, limits, image, left, told, err)
                              : ST_OK;
}
