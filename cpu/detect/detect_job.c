/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_job.h"

#include <string.h>

#include "cpu/detect/detect_sink.h"

static uint8_t *take(struct detect_memory *memory, size_t bytes) {
    uint8_t *taken = memory->begin ? memory->begin + memory->used : NULL;
    memory->used += bytes_align_up(bytes + DETECT_SLACK, IMAGE_ALIGNMENT);
    return taken;
}

/* A pixel of the output of a layer that is kept. */
static uint8_t *pixel_of(const struct detect_job *job, int layer, uint32_t y, uint32_t x) {
    const struct detect_tensor *tensor = &job->tensors[layer];
    return job->memory + tensor->offset + y * tensor->stride +
           (size_t)x * (size_t)job->form->layer[layer].outputs;
}

static bool reads_window(const struct detect_stage *stage) {
    return stage->form->kind == NETWORK_DENSE || stage->form->kind == NETWORK_DEPTH;
}

/* Whether a stage finds the rows of the one before it in its ring, where that one makes them. */
static bool fills_ring(const struct detect_stage *stage) {
    return reads_window(stage) && stage->form->input == stage->before;
}

/* ---- memory ---- */

static void place_ring(struct detect_stage *stage, uint32_t columns, struct detect_memory *memory) {
    const struct detect_tensor *made = &stage->job->tensors[stage->layer];
    const unsigned stride = (unsigned)stage->form->stride;
    const size_t pixel = (size_t)stage->form->inputs;
    stage->ring = (struct detect_ring){
        .width = made->width * stride, .height = made->height * stride, .stride = stride};
    uint8_t *rows = take(memory, detect_rows_bytes(columns, stride, pixel));
    if (memory->begin) {
        detect_rows_place(&stage->ring, pixel, columns, rows);
    }
}

/* Returns how many columns the stage before this one has to make. */
static uint32_t place_stage(struct detect_stage *stage, uint32_t columns, bool into_row,
                            struct detect_memory *memory) {
    const size_t outputs = (size_t)stage->form->outputs;
    if (stage->form->kind == NETWORK_UP) {
        stage->row = take(memory, (columns + 2) * outputs);
    } else if (into_row) {
        stage->row = take(memory, columns * outputs);
    }
    if (reads_window(stage)) {
        place_ring(stage, columns, memory);
    }
    return fills_ring(stage) ? (columns - 1) * (uint32_t)stage->form->stride + DETECT_ROWS : columns;
}

void detect_job_place(struct detect_line *line, const struct detect_job *job, const struct detect_pass *pass,
                      uint32_t columns, struct detect_memory *memory) {
    line->count = (unsigned)(pass->last - pass->first + 1);
    if (job->form->layer[pass->last].kind == NETWORK_HEADS) {
        line->sums = (int32_t *)(void *)take(memory, columns * DETECT_SUMS * sizeof *line->sums);
    }
    for (unsigned i = line->count; i-- > 0;) {
        struct detect_stage *stage = &line->stage[i];
        const int layer = pass->first + (int)i;
        *stage = (struct detect_stage){.job = job,
                                       .form = &job->form->layer[layer],
                                       .layer = layer,
                                       .before = i > 0 ? layer - 1 : NETWORK_NONE};
        bool last = i + 1 == line->count;
        columns = place_stage(stage, columns, !last && !fills_ring(stage + 1), memory);
    }
}

void detect_job_begin(struct detect_line *line, struct detect_columns columns) {
    for (unsigned i = line->count; i-- > 0;) {
        struct detect_stage *stage = &line->stage[i];
        stage->made = columns;
        if (reads_window(stage)) {
            detect_rows_begin(&stage->ring, columns);
        }
        columns = fills_ring(stage) ? stage->ring.read : columns;
    }
}

/* ---- rows ---- */

static const uint8_t *make_row(struct detect_stage *stage, uint32_t y, uint8_t *to);

/* A row of a layer that is read where this stage makes its own. */
static const uint8_t *row_of(struct detect_stage *stage, int layer, uint32_t y) {
    return layer == stage->before ? make_row(stage - 1, y, (stage - 1)->row)
                                  : pixel_of(stage->job, layer, y, stage->made.from);
}

static void fill_ring(void *context, uint32_t y, uint8_t *to) {
    struct detect_stage *stage = context;
    const struct detect_job *job = stage->job;
    const struct detect_columns read = stage->ring.read;
    const int input = stage->form->input;
    if (input == NETWORK_PICTURE) {
        job->network->kernels->picture(job->source, y, read.from, read.to, to);
    } else if (input == stage->before) {
        make_row(stage - 1, y, to);
    } else {
        memcpy(to, pixel_of(job, input, y, read.from), (read.to - read.from) * stage->ring.pixel);
    }
}

static void make_depth(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    struct detect_depth depth = {.layer = &stage->job->network->layer[stage->layer][0],
                                 .stride = stage->ring.stride,
                                 .to = to,
                                 .pixels = stage->made.to - stage->made.from};
    detect_rows_window(&stage->ring, y, fill_ring, stage, depth.from);
    stage->job->network->kernels->depth(&depth);
}

/* DENSE, POINT and HEADS. */
static void make_dense(struct detect_stage *stage, uint32_t y, void *to) {
    const struct network_layer *form = stage->form;
    const struct detect_kernels *kernels = stage->job->network->kernels;
    struct detect_dense dense = {.layer = &stage->job->network->layer[stage->layer][0],
                                 .step = (size_t)form->inputs * (size_t)form->stride,
                                 .to = to,
                                 .pixels = stage->made.to - stage->made.from};
    if (form->kind == NETWORK_DENSE) {
        detect_rows_window(&stage->ring, y, fill_ring, stage, dense.from);
    } else {
        dense.from[0] = row_of(stage, form->input, y);
    }
    dense.addend = form->addend == NETWORK_NONE ? NULL : row_of(stage, form->addend, y);
    (form->kind == NETWORK_HEADS ? kernels->sums : kernels->dense)(&dense);
}

/* A pixel is enlarged to two rows of two: both columns are made though only one may be needed. */
static const uint8_t *enlarge(struct detect_stage *stage, uint32_t y) {
    const struct network_layer *form = stage->form;
    const uint32_t from = stage->made.from / 2, end = (stage->made.to + 1) / 2;
    const struct detect_dense up = {.layer = &stage->job->network->layer[stage->layer][y % 2],
                                    .from = {pixel_of(stage->job, form->input, y / 2, from)},
                                    .step = (size_t)form->inputs,
                                    .to = stage->row,
                                    .pixels = end - from};
    stage->job->network->kernels->dense(&up);
    return stage->row + (stage->made.from - 2 * from) * (size_t)form->outputs;
}

/* Returns where the row lies: at `to`, unless it is enlarged. */
static const uint8_t *make_row(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    if (stage->form->kind == NETWORK_UP) {
        return enlarge(stage, y);
    }
    if (stage->form->kind == NETWORK_DEPTH) {
        make_depth(stage, y, to);
    } else {
        make_dense(stage, y, to);
    }
    return to;
}

void detect_job_row(struct detect_line *line, uint32_t y) {
    struct detect_stage *last = &line->stage[line->count - 1];
    const struct detect_columns made = last->made;
    if (line->sums) {
        make_dense(last, y, line->sums);
        detect_sink_row(last->job->sink, y, made.from, line->sums, made.to - made.from);
        return;
    }
    uint8_t *to = pixel_of(last->job, last->layer, y, made.from);
    const uint8_t *row = make_row(last, y, to);
    if (row != to) {
        memcpy(to, row, (made.to - made.from) * (size_t)last->form->outputs);
    }
}
