/* SPDX-License-Identifier: MIT
 * The neck: a smaller tensor is enlarged and added to one of the blocks'. The last enlargement goes on to the
 * heads. */
#include "cpu/detect/detect_job.h"
#include "cpu/detect/detect_sink.h"

/* ---- a layer from tensor to tensor ---- */

struct point {
    const struct detect_job *job;
    int layer;
    struct detect_columns columns;
};

static void place_point(void *state, const struct detect_job *job, const struct detect_pass *pass,
                        uint32_t columns, struct detect_memory *memory) {
    struct point *point = state;
    (void)columns, (void)memory;
    point->job = job;
    point->layer = pass->last;
}

static void begin_point(void *state, struct detect_columns columns) {
    ((struct point *)state)->columns = columns;
}

static void row_point(void *state, uint32_t y) {
    const struct point *point = state;
    const int input = detector_faces.network->layer[point->layer].input;
    const struct detect_dense dense = {.layer = &point->job->network->layer[point->layer][0],
                                       .from = {detect_job_pixel(point->job, input, y, point->columns.from)},
                                       .step = (size_t)detector_faces.network->layer[input].outputs,
                                       .to =
                                           detect_job_pixel(point->job, point->layer, y, point->columns.from),
                                       .pixels = point->columns.to - point->columns.from};
    point->job->network->kernels->dense(&dense);
}

const struct detect_runner detect_runner_point = {place_point, begin_point, row_point};

/* ---- an enlargement and what it is added to ---- */

struct neck {
    const struct detect_job *job;
    int up, lateral; /* layers */
    struct detect_columns columns;
    uint8_t *enlarged; /* a row of outputs of `up` */
};

static void place_lateral(struct neck *neck, const struct detect_job *job, int up, uint32_t columns,
                          struct detect_memory *memory) {
    neck->job = job;
    neck->up = up;
    neck->lateral = up + 1;
    neck->enlarged =
        detect_job_take(memory, (columns + 2) * (size_t)detector_faces.network->layer[up].outputs);
}

/* A pixel is enlarged to two rows of two: both columns are made though only one may be needed. */
static void lateral_row(const struct neck *neck, uint32_t y, uint8_t *to) {
    const struct detect_job *job = neck->job;
    const int small = detector_faces.network->layer[neck->up].input,
              input = detector_faces.network->layer[neck->lateral].input;
    const uint32_t from = neck->columns.from / 2, end = (neck->columns.to + 1) / 2;
    const struct detect_dense up = {.layer = &job->network->layer[neck->up][y % 2],
                                    .from = {detect_job_pixel(job, small, y / 2, from)},
                                    .step = (size_t)detector_faces.network->layer[small].outputs,
                                    .to = neck->enlarged,
                                    .pixels = end - from};
    job->network->kernels->dense(&up);
    const size_t before =
        (neck->columns.from - 2 * from) * (size_t)detector_faces.network->layer[neck->up].outputs;
    const struct detect_dense lateral = {.layer = &job->network->layer[neck->lateral][0],
                                         .from = {detect_job_pixel(job, input, y, neck->columns.from)},
                                         .step = (size_t)detector_faces.network->layer[input].outputs,
                                         .addend = neck->enlarged + before,
                                         .to = to,
                                         .pixels = neck->columns.to - neck->columns.from};
    job->network->kernels->dense(&lateral);
}

static void place_neck(void *state, const struct detect_job *job, const struct detect_pass *pass,
                       uint32_t columns, struct detect_memory *memory) {
    place_lateral(state, job, pass->first, columns, memory);
}

static void begin_neck(void *state, struct detect_columns columns) {
    ((struct neck *)state)->columns = columns;
}

static void row_neck(void *state, uint32_t y) {
    const struct neck *neck = state;
    lateral_row(neck, y, detect_job_pixel(neck->job, neck->lateral, y, neck->columns.from));
}

const struct detect_runner detect_runner_neck = {place_neck, begin_neck, row_neck};

/* ---- the last enlargement, and the heads ---- */

struct heads {
    struct neck neck;
    struct detect_ring ring; /* outputs of the lateral layer */
    uint8_t *smooth;         /* a row of outputs of the layer `smooth` */
    int32_t *sums;           /* a row of the heads */
};

static void place_heads(void *state, const struct detect_job *job, const struct detect_pass *pass,
                        uint32_t columns, struct detect_memory *memory) {
    struct heads *heads = state;
    const size_t pixel = (size_t)detector_faces.network->layer[FACE_neck4].outputs;
    place_lateral(&heads->neck, job, pass->first, columns + 2, memory);
    heads->ring = (struct detect_ring){
        .width = job->tensors[FACE_neck4].width, .height = job->tensors[FACE_neck4].height, .stride = 1};
    uint8_t *rows = detect_job_take(memory, detect_rows_bytes(columns, 1, pixel));
    heads->smooth =
        detect_job_take(memory, columns * (size_t)detector_faces.network->layer[FACE_smooth].outputs);
    heads->sums = (int32_t *)(void *)detect_job_take(memory, columns * DETECT_SUMS * sizeof *heads->sums);
    if (memory->begin) {
        detect_rows_place(&heads->ring, pixel, columns, rows);
    }
}

static void begin_heads(void *state, struct detect_columns columns) {
    struct heads *heads = state;
    detect_rows_begin(&heads->ring, columns);
    heads->neck.columns = heads->ring.read;
}

static void make_lateral(void *context, uint32_t y, uint8_t *to) {
    lateral_row(&((const struct heads *)context)->neck, y, to);
}

static void row_heads(void *state, uint32_t y) {
    struct heads *heads = state;
    const struct detect_job *job = heads->neck.job;
    const struct detect_columns made = heads->ring.made;
    const uint8_t *window[DETECT_ROWS];
    detect_rows_window(&heads->ring, y, make_lateral, heads, window);
    const struct detect_dense smooth = {.layer = &job->network->layer[FACE_smooth][0],
                                        .from = {window[0], window[1], window[2]},
                                        .step = heads->ring.pixel,
                                        .to = heads->smooth,
                                        .pixels = made.to - made.from};
    job->network->kernels->dense(&smooth);
    const struct detect_dense sums = {.layer = &job->network->layer[FACE_heads][0],
                                      .from = {heads->smooth},
                                      .step = (size_t)detector_faces.network->layer[FACE_smooth].outputs,
                                      .to = heads->sums,
                                      .pixels = made.to - made.from};
    job->network->kernels->sums(&sums);
    detect_sink_row(job->sink, y, made.from, heads->sums, made.to - made.from);
}

const struct detect_runner detect_runner_heads = {place_heads, begin_heads, row_heads};
