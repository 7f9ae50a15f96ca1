/* SPDX-License-Identifier: MIT */
#include "cpu/filter.h"

#include <string.h>

#include "core/tuned.h"
#include "cpu/bands.h"
#include "cpu/detect/detect_job.h"
#include "cpu/detect/detect_sink.h"
#include "cpu/networks.h"
#include "detect/faces/faces.h"

enum { LEAST_COLUMNS = 64 /* of a tile */ };

/* A thread's part of a pass. */
struct detect_seat {
    bool begun;
    uint32_t tile; /* that the rows belong to */
    _Alignas(IMAGE_ALIGNMENT) uint8_t state[DETECT_STATE_BYTES];
};

struct run_of_pass {
    const struct detect_job *job;
    const struct detect_pass *pass;
    const struct detect_runner *runner;
    uint32_t width;   /* columns of the result */
    uint32_t columns; /* of a tile, at most */
    uint32_t tiles;
    uint8_t *memory;
    size_t seat;
};

static const struct detect_runner *runner_of(const struct detect_pass *pass) {
    return pass->first == FACE_stem     ? &detect_runner_first
           : pass->last == FACE_heads   ? &detect_runner_heads
           : pass->first == pass->last  ? &detect_runner_point
           : pass->first >= FACE_neck32 ? &detect_runner_neck
                                        : &detect_runner_block;
}

/* Bytes of a thread's memory for tiles of so many columns. */
static size_t seat_bytes(const struct detect_job *job, const struct detect_pass *pass, uint32_t columns) {
    struct detect_memory memory = {NULL, sizeof(struct detect_seat)};
    struct detect_seat seat = {0};
    runner_of(pass)->place(seat.state, job, pass, columns, &memory);
    return bytes_align_up(memory.used, IMAGE_ALIGNMENT);
}

/* Cuts the rows of a pass into tiles that fit into the cache. */
static void cut_tiles(struct run_of_pass *run, const struct detect_job *job, const struct detect_pass *pass) {
    run->job = job;
    run->pass = pass;
    run->runner = runner_of(pass);
    run->width = job->tensors[pass->last].width;
    run->tiles = 0;
    do {
        run->tiles++;
        run->columns = (run->width + run->tiles - 1) / run->tiles;
        run->seat = seat_bytes(job, pass, run->columns);
    } while (run->seat > TUNED_TILE_BYTES && run->columns > LEAST_COLUMNS);
}

static void run_band(const void *context, const struct band *band) {
    const struct run_of_pass *run = context;
    struct detect_seat *seat = (struct detect_seat *)(void *)(run->memory + band->seat * run->seat);
    for (uint32_t tile = 0; tile < run->tiles; tile++) {
        const uint32_t from = tile * run->columns, to = from + run->columns;
        const struct detect_columns columns = {from, to < run->width ? to : run->width};
        if (from >= run->width) {
            return;
        }
        if (!seat->begun || seat->tile != tile) {
            run->runner->begin(seat->state, columns);
            seat->begun = true;
            seat->tile = tile;
        }
        for (uint32_t y = band->from; y < band->to; y++) {
            run->runner->row(seat->state, y);
        }
    }
}

static void begin_seats(const struct run_of_pass *run, unsigned seats) {
    for (unsigned i = 0; i < seats; i++) {
        uint8_t *begin = run->memory + i * run->seat;
        struct detect_seat *seat = (struct detect_seat *)(void *)begin;
        struct detect_memory memory = {begin, sizeof *seat};
        memset(seat, 0, sizeof *seat);
        run->runner->place(seat->state, run->job, run->pass, run->columns, &memory);
    }
}

/* Multiplications for a row of the result of a pass, in samples of the blur. */
static uint64_t row_cost(const struct detect_job *job, const struct detect_pass *pass) {
    uint64_t products = 0;
    for (int i = pass->first; i <= pass->last; i++) {
        const struct detect_tensor *tensor = &job->tensors[i];
        uint64_t pixels = (uint64_t)tensor->width * tensor->height;
        products += pixels * network_weights(&detector_faces.network->layer[i]) /
                    (detector_faces.network->layer[i].kind == NETWORK_UP ? 4 : 1);
    }
    return products / job->tensors[pass->last].height / TUNED_DETECT_PRODUCTS;
}

static size_t tensors_bytes(struct detect_job *job, const struct image *source) {
    const struct detect_arguments any = {0};
    const struct image_shape shape = image_shape(source);
    struct detect_plan plan = {0};
    filter_detect.plan(&any, &shape, &plan, NULL);
    job->source = source;
    return detect_tensors_plan(job->tensors, plan.width, plan.height);
}

static struct scratch_need need_of(const struct image *source) {
    struct detect_job job = {0};
    struct scratch_need need = {.shared = tensors_bytes(&job, source) +
                                          bytes_align_up(sizeof(struct candidates), IMAGE_ALIGNMENT)};
    for (unsigned i = 0; i < DETECT_PASSES; i++) {
        struct run_of_pass run = {0};
        cut_tiles(&run, &job, &detect_passes[i]);
        need.seat = run.seat > need.seat ? run.seat : need.seat;
    }
    return need;
}

static enum status run_pass(const struct cpu_context *context, const struct detect_job *job,
                            const struct detect_pass *form, const struct scratch_need *need, unsigned most,
                            struct error *err) {
    struct run_of_pass run = {0};
    cut_tiles(&run, job, form);
    run.memory = context->scratch->memory + need->shared;
    struct pass pass = {.rows = {job->tensors[form->last].height},
                        .cost = {row_cost(job, form)},
                        .band = run_band,
                        .context = &run,
                        .deadline_ns = context->deadline_ns};
    unsigned seats = bands_seats(context->crew, &pass, need->seat);
    seats = seats < most ? seats : most;
    begin_seats(&run, seats);
    return bands_run(context->crew, seats, &pass, err);
}

static enum status search(const struct cpu_context *context, const struct detect_network *network,
                          int32_t least, const struct image *source, const struct image *target,
                          struct error *err) {
    struct detect_job job = {.network = network};
    const struct scratch_need need = need_of(source);
    unsigned seats = crew_idle(context->crew) + 1;
    seats = bands_seats_most(seats < CREW_SEATS_MAX ? seats : CREW_SEATS_MAX, need.seat);
    enum status status = scratch_seats(context->scratch, &need, &seats, err);
    if (status != ST_OK) {
        return status;
    }
    struct detect_sink sink = {.least = least};
    job.memory = context->scratch->memory;
    sink.candidates = (void *)(job.memory + tensors_bytes(&job, source)); /* behind them */
    job.sink = &sink;
    for (unsigned i = 0; i < DETECT_PASSES && status == ST_OK; i++) {
        status = run_pass(context, &job, &detect_passes[i], &need, seats, err);
    }
    if (status == ST_OK) {
        detect_sink_finish(&sink, plane_row(&target->plane[0], 0));
    }
    return status;
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct detect_plan *plan = planned;
    const struct model_weights *weights = NULL;
    const struct detect_network *network = NULL;
    enum status status = cpu_networks_get(context->networks, &weights, &network, err);
    return status == ST_OK
               ? search(context, network, faces_least(weights, plan->threshold), source, target, err)
               : status;
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    (void)rows, (void)planned;
    return need_of(source);
}

const struct cpu_filter cpu_filter_detect = {.run = run, .need = need};
