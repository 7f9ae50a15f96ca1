/* SPDX-License-Identifier: MIT
 * Inverted residual blocks: a layer that makes many channels of few, a depthwise one, and one that makes few
 * of many. Only the rows of many channels that the depthwise layer reads exist at a time. */
#include <string.h>

#include "cpu/detect/detect_job.h"

struct detect_block {
    const struct detect_kernels *kernels;
    const struct detect_packed *expand, *depth, *project;
    struct detect_ring ring; /* outputs of `expand` */
    uint8_t *deep;           /* a row of outputs of `depth` */
};

/* The first of the three layers of a block is `first`. */
static void place_block(struct detect_block *block, const struct detect_job *job, int first, uint32_t columns,
                        struct detect_memory *memory) {
    const struct network_layer *depth = &detector_faces.network->layer[first + 1];
    const size_t channels = (size_t)depth->outputs;
    block->ring = (struct detect_ring){.width = job->tensors[first].width,
                                       .height = job->tensors[first].height,
                                       .stride = (unsigned)depth->stride};
    uint8_t *rows = detect_job_take(memory, detect_rows_bytes(columns, block->ring.stride, channels));
    block->deep = detect_job_take(memory, columns * channels);
    if (memory->begin) {
        detect_rows_place(&block->ring, channels, columns, rows);
        block->kernels = job->network->kernels;
        block->expand = &job->network->layer[first][0];
        block->depth = &job->network->layer[first + 1][0];
        block->project = &job->network->layer[first + 2][0];
    }
}

static void expand_row(const struct detect_block *block, struct detect_dense *dense, uint8_t *to) {
    dense->layer = block->expand;
    dense->to = to;
    dense->pixels = block->ring.read.to - block->ring.read.from;
    block->kernels->dense(dense);
}

/* Makes a row of the block of the rows that its window reads. */
static void finish_row(const struct detect_block *block, const uint8_t *const window[DETECT_ROWS],
                       const uint8_t *addend, uint8_t *to) {
    const size_t pixels = block->ring.made.to - block->ring.made.from;
    const struct detect_depth depth = {.layer = block->depth,
                                       .from = {window[0], window[1], window[2]},
                                       .stride = block->ring.stride,
                                       .to = block->deep,
                                       .pixels = pixels};
    block->kernels->depth(&depth);
    const struct detect_dense project = {.layer = block->project,
                                         .from = {block->deep},
                                         .step = block->depth->outputs,
                                         .addend = addend,
                                         .to = to,
                                         .pixels = pixels};
    block->kernels->dense(&project);
}

/* ---- a block between two tensors ---- */

struct detect_single {
    const struct detect_job *job;
    int input, addend, output; /* layers */
    struct detect_block block;
};

static void place_single(void *state, const struct detect_job *job, const struct detect_pass *pass,
                         uint32_t columns, struct detect_memory *memory) {
    struct detect_single *single = state;
    single->job = job;
    single->input = detector_faces.network->layer[pass->first].input;
    single->addend = detector_faces.network->layer[pass->last].addend;
    single->output = pass->last;
    place_block(&single->block, job, pass->first, columns, memory);
}

static void begin_single(void *state, struct detect_columns columns) {
    detect_rows_begin(&((struct detect_single *)state)->block.ring, columns);
}

static void expand_tensor(void *context, uint32_t y, uint8_t *to) {
    const struct detect_single *single = context;
    const struct detect_block *block = &single->block;
    struct detect_dense dense = {
        .from = {detect_job_pixel(single->job, single->input, y, block->ring.read.from)},
        .step = (size_t)detector_faces.network->layer[single->input].outputs};
    expand_row(block, &dense, to);
}

static void row_single(void *state, uint32_t y) {
    struct detect_single *single = state;
    const uint32_t x = single->block.ring.made.from;
    const uint8_t *window[DETECT_ROWS];
    detect_rows_window(&single->block.ring, y, expand_tensor, single, window);
    finish_row(&single->block, window,
               single->addend == NETWORK_NONE ? NULL : detect_job_pixel(single->job, single->addend, y, x),
               detect_job_pixel(single->job, single->output, y, x));
}

const struct detect_runner detect_runner_block = {place_single, begin_single, row_single};

/* ---- the first block, whose input is made of the picture row by row ---- */

struct first {
    const struct detect_job *job;
    int output;
    struct detect_ring picture;
    struct detect_block stem; /* its first layer reads windows of the picture */
    uint8_t *narrow;          /* a row of its outputs */
    struct detect_block block;
};

static void place_first(void *state, const struct detect_job *job, const struct detect_pass *pass,
                        uint32_t columns, struct detect_memory *memory) {
    struct first *first = state;
    first->job = job;
    first->output = pass->last;
    place_block(&first->block, job, FACE_block1_expand, columns, memory);
    const uint32_t middle = 2 * columns + 1, stem = middle + 2; /* columns that are read */
    first->narrow =
        detect_job_take(memory, middle * (size_t)detector_faces.network->layer[FACE_first_project].outputs);
    place_block(&first->stem, job, FACE_stem, middle, memory);
    first->picture = (struct detect_ring){.width = 2 * job->tensors[FACE_stem].width,
                                          .height = 2 * job->tensors[FACE_stem].height,
                                          .stride = 2};
    uint8_t *rows = detect_job_take(memory, detect_rows_bytes(stem, 2, DETECT_PICTURE));
    if (memory->begin) {
        detect_rows_place(&first->picture, DETECT_PICTURE, stem, rows);
    }
}

static void begin_first(void *state, struct detect_columns columns) {
    struct first *first = state;
    detect_rows_begin(&first->block.ring, columns);
    detect_rows_begin(&first->stem.ring, first->block.ring.read);
    detect_rows_begin(&first->picture, first->stem.ring.read);
}

static void read_picture(void *context, uint32_t y, uint8_t *to) {
    const struct first *first = context;
    first->stem.kernels->picture(first->job->source, y, first->picture.read.from, first->picture.read.to, to);
}

static void expand_picture(void *context, uint32_t y, uint8_t *to) {
    struct first *first = context;
    const uint8_t *window[DETECT_ROWS];
    detect_rows_window(&first->picture, y, read_picture, first, window);
    struct detect_dense dense = {.from = {window[0], window[1], window[2]},
                                 .step = (size_t)2 * DETECT_PICTURE};
    expand_row(&first->stem, &dense, to);
}

static void expand_stem(void *context, uint32_t y, uint8_t *to) {
    struct first *first = context;
    const uint8_t *window[DETECT_ROWS];
    detect_rows_window(&first->stem.ring, y, expand_picture, first, window);
    finish_row(&first->stem, window, NULL, first->narrow);
    struct detect_dense dense = {.from = {first->narrow}, .step = first->stem.project->outputs};
    expand_row(&first->block, &dense, to);
}

static void row_first(void *state, uint32_t y) {
    struct first *first = state;
    const uint8_t *window[DETECT_ROWS];
    detect_rows_window(&first->block.ring, y, expand_stem, first, window);
    finish_row(&first->block, window, NULL,
               detect_job_pixel(first->job, first->output, y, first->block.ring.made.from));
}

_Static_assert(sizeof(struct first) <= DETECT_STATE_BYTES, "the largest state");

const struct detect_runner detect_runner_first = {place_first, begin_first, row_first};
