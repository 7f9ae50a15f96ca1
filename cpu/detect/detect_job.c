/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_job.h"

#include <string.h>

#include "core/numbers.h"
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
    stage->ring = (struct detect_ring){.width = made->width * stride,
                                       .height = made->height * stride,
                                       .pixel = (size_t)stage->form->inputs,
                                       .stride = stride,
                                       .size = (unsigned)stage->form->size,
                                       .zero = (uint8_t)network_zero(stage->job->form, stage->form->input)};
    uint8_t *rows = take(memory, detect_rows_bytes(&stage->ring, columns));
    if (memory->begin) {
        detect_rows_place(&stage->ring, columns, rows);
    }
}

/* Whether the addend of an EXCITE layer has half of its size. */
static bool enlarges_addend(const struct detect_stage *stage) {
    return stage->form->kind == NETWORK_EXCITE && stage->form->addend != NETWORK_NONE &&
           stage->job->tensors[stage->form->addend].width < stage->job->tensors[stage->layer].width;
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
    if (enlarges_addend(stage)) {
        stage->enlarged = take(memory, columns * outputs);
    }
    if (reads_window(stage)) {
        place_ring(stage, columns, memory);
        if (stage->form->input == NETWORK_PICTURE && stage->job->border > 0) {
            stage->pixels = take(memory, detect_rows_columns(&stage->ring, columns) * DETECT_PICTURE);
        }
    }
    return fills_ring(stage) ? (uint32_t)detect_rows_columns(&stage->ring, columns) : columns;
}

void detect_job_place(struct detect_line *line, const struct detect_job *job, const struct detect_pass *pass,
                      uint32_t columns, struct detect_memory *memory) {
    line->count = (unsigned)(pass->last - pass->first + 1);
    if (job->form->layer[pass->last].kind == NETWORK_HEADS) {
        line->sums = (int32_t *)(void *)take(memory, columns * DETECT_SUMS * sizeof *line->sums);
    }
    if (detect_tensors_summed(job->form, &job->passes, pass->last)) {
        const size_t channels = (size_t)job->form->layer[pass->last].outputs;
        line->channel_sums = (uint32_t *)(void *)take(memory, channels * sizeof *line->channel_sums);
        line->all_sums = (uint64_t *)(void *)take(memory, channels * sizeof *line->all_sums);
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
    if (line->all_sums) {
        memset(line->all_sums, 0,
               (size_t)line->stage[line->count - 1].form->outputs * sizeof *line->all_sums);
    }
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

/* The pixel that one of the padded picture mirrors, along an axis. */
static uint32_t mirrored(uint32_t place, uint32_t border, uint32_t size) {
    const uint32_t period = size > 1 ? 2 * size - 2 : 1;
    const uint32_t away = (place < border ? border - place : place - border) % period;
    return away < size ? away : period - away;
}

/* Columns of a row that lie beyond an edge of the picture. */
static void fill_edge(const struct detect_stage *stage, uint32_t y, struct detect_columns beyond,
                      uint8_t *to) {
    const struct detect_job *job = stage->job;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t x = beyond.from; x < beyond.to; x++) {
        const uint32_t from = mirrored(x, job->border, job->source->width);
        low = from < low ? from : low;
        high = from > high ? from : high;
    }
    if (beyond.from < beyond.to) {
        job->network->kernels->picture(job->source, y, low, high + 1, stage->pixels);
    }
    for (uint32_t x = beyond.from; x < beyond.to; x++, to += DETECT_PICTURE) {
        const uint32_t from = mirrored(x, job->border, job->source->width) - low;
        memcpy(to, stage->pixels + (size_t)from * DETECT_PICTURE, DETECT_PICTURE);
    }
}

/* A row of the padded picture whose border mirrors it. */
static void fill_mirrored(const struct detect_stage *stage, uint32_t y, uint8_t *to) {
    const struct detect_job *job = stage->job;
    const struct detect_columns read = stage->ring.read;
    const uint32_t border = job->border, end = border + job->source->width;
    const uint32_t row = mirrored(y, border, job->source->height);
    const uint32_t from = min_u32(max_u32(read.from, border), read.to),
                   last = max_u32(min_u32(read.to, end), from);
    fill_edge(stage, row, (struct detect_columns){read.from, from}, to);
    if (from < last) {
        job->network->kernels->picture(job->source, row, from - border, last - border,
                                       to + (size_t)(from - read.from) * DETECT_PICTURE);
    }
    fill_edge(stage, row, (struct detect_columns){last, read.to},
              to + (size_t)(last - read.from) * DETECT_PICTURE);
}

static void fill_ring(void *context, uint32_t y, uint8_t *to) {
    struct detect_stage *stage = context;
    const struct detect_job *job = stage->job;
    const struct detect_columns read = stage->ring.read;
    const int input = stage->form->input;
    if (input == NETWORK_PICTURE && job->border > 0) {
        fill_mirrored(stage, y, to);
    } else if (input == NETWORK_PICTURE) {
        job->network->kernels->picture(job->source, y, read.from, read.to, to);
    } else if (input == stage->before) {
        make_row(stage - 1, y, to);
    } else {
        memcpy(to, pixel_of(job, input, y, read.from), (read.to - read.from) * stage->ring.pixel);
    }
}

static const uint8_t *table_of(const struct detect_stage *stage) {
    return stage->job->network->weights->layers[stage->layer].table;
}

static void make_depth(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    struct detect_depth depth = {.layer = &stage->job->network->layer[stage->layer][0],
                                 .stride = stage->ring.stride,
                                 .to = to,
                                 .pixels = stage->made.to - stage->made.from};
    detect_rows_window(&stage->ring, y, fill_ring, stage, depth.from);
    for (int i = stage->form->size; i <= NETWORK_WINDOW_MAX; i++) {
        depth.from[i] = depth.from[0]; /* these have weights of 0 */
    }
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
        const uint8_t *window[NETWORK_WINDOW_MAX];
        detect_rows_window(&stage->ring, y, fill_ring, stage, window);
        memcpy(dense.from, window, sizeof dense.from);
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

/* The pixels below the last row are that row again, and those right of the last column that column. */
static void make_pool(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    const struct detect_job *job = stage->job;
    const struct detect_tensor *tensor = &job->tensors[stage->layer];
    const size_t channels = (size_t)stage->form->inputs;
    const uint32_t from = stage->made.from, end = stage->made.to, below = y + 1 < tensor->height ? y + 1 : y;
    const uint8_t *a = pixel_of(job, stage->form->input, y, from),
                  *b = pixel_of(job, stage->form->input, below, from);
    const size_t whole = (end - from - (end == tensor->width ? 1 : 0)) * channels;
    job->network->kernels->pool(a, b, channels, to, whole);
    if (end == tensor->width) {
        job->network->kernels->pool(a + whole, b + whole, 0, to + whole, channels);
    }
}

/* Copies `bytes`, at least 8, in words of which the last two may overlap. */
static inline void copy_words(uint8_t *to, const uint8_t *from, size_t bytes) {
    for (size_t i = 0; i + 8 < bytes; i += 8) {
        memcpy(to + i, from + i, 8);
    }
    memcpy(to + bytes - 8, from + bytes - 8, 8);
}

/* Copies the channels of pixels from column `first` on into others that are `step` bytes apart; each pixel is
 * read 2^shift times. */
static void spread(uint8_t *to, size_t step, const uint8_t *row, size_t channels, uint32_t first,
                   uint32_t pixels, unsigned shift) {
    for (uint32_t x = first; x < first + pixels; x++, to += step) {
        const uint8_t *from = row + ((x >> shift) - (first >> shift)) * channels;
        if (channels >= 8) {
            copy_words(to, from, channels);
        } else {
            memcpy(to, from, channels);
        }
    }
}

static void make_concat(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    const struct detect_job *job = stage->job;
    const struct network_layer *form = stage->form;
    const uint32_t from = stage->made.from, pixels = stage->made.to - from;
    const unsigned shift = job->tensors[form->input].width < job->tensors[stage->layer].width ? 1 : 0;
    const size_t inputs = (size_t)form->inputs, outputs = (size_t)form->outputs;
    const uint8_t *row =
        shift > 0 ? pixel_of(job, form->input, y >> 1, from >> 1) : row_of(stage, form->input, y);
    spread(to, outputs, row, inputs, from, pixels, shift);
    spread(to + inputs, outputs, row_of(stage, form->addend, y), outputs - inputs, from, pixels, 0);
}

static void make_excite(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    const struct detect_job *job = stage->job;
    const struct network_layer *form = stage->form;
    const struct model_layer *layer = &job->network->weights->layers[stage->layer];
    const uint32_t from = stage->made.from, pixels = stage->made.to - from;
    struct detect_excite excite = {.from = pixel_of(job, form->input, y, from),
                                   .factor = job->factors[stage->layer],
                                   .channels = (size_t)form->outputs,
                                   .pixels = pixels,
                                   .zero = (float)network_zero(job->form, form->input),
                                   .addend_scale = layer->addend_scale,
                                   .offset = layer->offset,
                                   .to = to};
    if (stage->enlarged) {
        spread(stage->enlarged, excite.channels, pixel_of(job, form->addend, y / 2, from / 2),
               excite.channels, from, pixels, 1);
        excite.addend = stage->enlarged;
    } else if (form->addend != NETWORK_NONE) {
        excite.addend = pixel_of(job, form->addend, y, from);
    }
    job->network->kernels->excite(&excite);
}

/* Returns where the row lies: at `to`, unless it is enlarged. */
static const uint8_t *make_row(struct detect_stage *stage, uint32_t y, uint8_t *to) {
    switch (stage->form->kind) {
    case NETWORK_UP:
        return enlarge(stage, y);
    case NETWORK_POOL:
        make_pool(stage, y, to);
        break;
    case NETWORK_CONCAT:
        make_concat(stage, y, to);
        break;
    case NETWORK_EXCITE:
        make_excite(stage, y, to);
        break;
    case NETWORK_DEPTH:
        make_depth(stage, y, to);
        break;
    default:
        make_dense(stage, y, to);
        break;
    }
    if (table_of(stage)) {
        stage->job->network->kernels->table(
            table_of(stage), to, (stage->made.to - stage->made.from) * (size_t)stage->form->outputs);
    }
    return to;
}

/* Where a row of a pass's result goes. */
static uint8_t *result_row(const struct detect_stage *last, uint32_t y) {
    const struct network *form = last->job->form;
    for (int i = 0; i < form->outputs; i++) {
        if (form->output[i] == last->layer) {
            return plane_row(&last->job->map[i]->plane[0], y) +
                   (size_t)last->made.from * (size_t)last->form->outputs;
        }
    }
    return pixel_of(last->job, last->layer, y, last->made.from);
}

static void add_sums(const struct detect_line *line, const uint8_t *row) {
    const struct detect_stage *last = &line->stage[line->count - 1];
    const size_t channels = (size_t)last->form->outputs;
    memset(line->channel_sums, 0, channels * sizeof *line->channel_sums);
    last->job->network->kernels->squeeze(row, last->made.to - last->made.from, channels, line->channel_sums);
    for (size_t i = 0; i < channels; i++) {
        line->all_sums[i] += line->channel_sums[i];
    }
}

void detect_job_row(struct detect_line *line, uint32_t y) {
    struct detect_stage *last = &line->stage[line->count - 1];
    const struct detect_columns made = last->made;
    if (line->sums) {
        make_dense(last, y, line->sums);
        detect_sink_row(last->job->sink, y, made.from, line->sums, made.to - made.from);
        return;
    }
    uint8_t *to = result_row(last, y);
    const uint8_t *row = make_row(last, y, to);
    if (row != to) {
        memcpy(to, row, (made.to - made.from) * (size_t)last->form->outputs);
    }
    if (line->all_sums) {
        add_sums(line, to);
    }
}

void detect_job_flush(struct detect_line *line) {
    const struct detect_stage *last = &line->stage[line->count - 1];
    for (int i = 0; i < last->form->outputs && line->all_sums; i++) {
        atomic_fetch_add_explicit(&last->job->channel_sums[last->layer][i], line->all_sums[i],
                                  memory_order_relaxed);
        line->all_sums[i] = 0;
    }
}
