/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_search.h"

#include <string.h>

#include "core/numbers.h"
#include "core/tuned.h"
#include "cpu/bands.h"
#include "cpu/detect/detect_excite.h"
#include "cpu/detect/detect_job.h"
#include "cpu/detect/detect_sink.h"
#include "detect/anchors.h"
#include "detect/components.h"

enum { LEAST_COLUMNS = 64 /* of a tile */ };

/* A thread's part of a pass. */
struct detect_seat {
    bool begun;
    uint32_t tile; /* that the rows belong to */
    _Alignas(IMAGE_ALIGNMENT) struct detect_line line;
};

struct run_of_pass {
    const struct detect_job *job;
    const struct detect_pass *pass;
    uint32_t width;   /* columns of the result */
    uint32_t columns; /* of a tile, at most */
    uint32_t tiles;
    uint8_t *memory;
    size_t seat;
};

/* Bytes of a thread's memory for tiles of so many columns. */
static size_t seat_bytes(const struct detect_job *job, const struct detect_pass *pass, uint32_t columns) {
    struct detect_memory memory = {NULL, sizeof(struct detect_seat)};
    struct detect_line line = {0};
    detect_job_place(&line, job, pass, columns, &memory);
    return bytes_align_up(memory.used, IMAGE_ALIGNMENT);
}

/* Cuts the rows of a pass into tiles that fit into the cache. */
static void cut_tiles(struct run_of_pass *run, const struct detect_job *job, const struct detect_pass *pass) {
    run->job = job;
    run->pass = pass;
    run->width = job->tensors[pass->last].width;
    run->tiles = 0;
    do {
        run->tiles++;
        run->columns = divide_up(run->width, run->tiles);
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
            detect_job_begin(&seat->line, columns);
            seat->begun = true;
            seat->tile = tile;
        }
        for (uint32_t y = band->from; y < band->to; y++) {
            detect_job_row(&seat->line, y);
        }
        detect_job_flush(&seat->line);
    }
}

static void begin_seats(const struct run_of_pass *run, unsigned seats) {
    for (unsigned i = 0; i < seats; i++) {
        uint8_t *begin = run->memory + i * run->seat;
        struct detect_seat *seat = (struct detect_seat *)(void *)begin;
        struct detect_memory memory = {begin, sizeof *seat};
        memset(seat, 0, sizeof *seat);
        detect_job_place(&seat->line, run->job, run->pass, run->columns, &memory);
    }
}

/* Multiplications for a row of the result of a pass, in samples of the blur. */
static uint64_t row_cost(const struct detect_job *job, const struct detect_pass *pass) {
    uint64_t products = 0;
    for (int i = pass->first; i <= pass->last; i++) {
        const struct detect_tensor *tensor = &job->tensors[i];
        const struct network_layer *form = &job->form->layer[i];
        uint64_t pixels = (uint64_t)tensor->width * tensor->height;
        size_t weights = network_weights(form) / (form->kind == NETWORK_UP ? 4 : 1);
        products += pixels * (weights > 0 ? weights : (size_t)form->outputs);
    }
    return products / job->tensors[pass->last].height / TUNED_DETECT_PRODUCTS;
}

/* What the threads of a search share, one behind the other: tensors, what EXCITE layers need, candidates, and
 * maps with what finds candidates in them. */
struct shared_memory {
    size_t tensors, excite, candidates, map[NETWORK_OUTPUTS_MAX], components;
};

static size_t map_layout(const struct detect_job *job, int output, struct image *map) {
    const struct detect_tensor *made = &job->tensors[job->form->output[output]];
    const struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = (uint32_t)made->stride, .height = made->height};
    return image_layout(map, &shape);
}

/* Cuts the layers that the outputs need into passes. */
static struct shared_memory plan_job(struct detect_job *job,
                                     const struct detect_wanted output[NETWORK_OUTPUTS_MAX], uint32_t width,
                                     uint32_t height) {
    uint32_t outputs = 0;
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        if (output[i].detector) {
            outputs |= UINT32_C(1) << i;
            job->form = output[i].detector->network;
            job->border = (uint32_t)output[i].detector->border;
        }
    }
    detect_passes_cut(job->form, outputs, &job->passes);
    struct shared_memory shared = {
        .tensors = detect_tensors_plan(job->form, &job->passes, job->tensors, width, height),
        .excite = detect_excite_place(job, NULL),
        .candidates = bytes_align_up(sizeof(struct candidates), IMAGE_ALIGNMENT)};
    for (int i = 0; i < job->form->outputs && job->form->sums == 0; i++) {
        struct image map;
        if (outputs >> i & 1) {
            shared.map[i] = map_layout(job, i, &map);
            shared.components =
                max_size(shared.components, job->form->anchors[i] > 0 ? 0 : components_bytes(map.width));
        }
    }
    return shared;
}

static size_t maps_bytes(const struct shared_memory *shared) {
    size_t bytes = 0;
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        bytes += shared->map[i];
    }
    return bytes;
}

static struct scratch_need need_of(const struct detect_job *job, const struct shared_memory *shared) {
    struct scratch_need need = {.shared = shared->tensors + shared->excite + shared->candidates +
                                          maps_bytes(shared) + shared->components};
    for (unsigned i = 0; i < job->passes.count; i++) {
        struct run_of_pass run = {0};
        cut_tiles(&run, job, &job->passes.pass[i]);
        need.seat = max_size(need.seat, run.seat);
    }
    return need;
}

struct scratch_need detect_search_need(const struct detect_wanted output[NETWORK_OUTPUTS_MAX], uint32_t width,
                                       uint32_t height) {
    struct detect_job job = {0};
    const struct shared_memory shared = plan_job(&job, output, width, height);
    return need_of(&job, &shared);
}

static enum status run_pass(const struct cpu_context *context, const struct detect_job *job,
                            const struct detect_pass *form, const struct scratch_need *need, unsigned most,
                            struct error *err) {
    struct run_of_pass run = {0};
    cut_tiles(&run, job, form);
    if (job->form->layer[form->first].kind == NETWORK_EXCITE) {
        detect_excite_factors(job, form->first);
    }
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

static void find_anchors(const struct detect_job *job, unsigned output, int32_t least,
                         struct candidates *candidates) {
    const struct detect_tensor *made = &job->tensors[job->form->output[output]];
    const struct plane *plane = &job->map[output]->plane[0];
    const struct anchors_cells cells = {plane->data, plane->stride, made->width, made->height};
    anchors_find(job->form, output, &cells, least, candidates);
}

/* Finds the candidates in the maps, or cells. */
static enum status find_in_maps(const struct cpu_context *context, const struct detect_search *search,
                                const struct detect_job *job, uint8_t *memory, struct detect_sink *sink,
                                struct error *err) {
    enum status status = ST_OK;
    sink->candidates->count = 0;
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX && status == ST_OK; i++) {
        const struct detect_wanted *wanted = &search->output[i];
        const struct image *map = job->map[i];
        struct components_bounds bounds;
        if (wanted->detector && job->form->anchors[i] > 0) {
            find_anchors(job, i, wanted->least, sink->candidates);
        } else if (wanted->detector && components_bounds_of(wanted->detector, wanted->least, &bounds)) {
            status = components_find(map->plane[0].data, map->plane[0].stride, map->width, map->height,
                                     bounds, context->deadline_ns, memory, sink->candidates, err);
        }
    }
    sink->count = sink->candidates->count;
    return status;
}

/* Lays the maps without memory of their own behind each other. */
static void place_maps(struct detect_job *job, const struct detect_search *search,
                       const struct shared_memory *shared, struct image own[NETWORK_OUTPUTS_MAX],
                       uint8_t *memory) {
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        job->map[i] = search->output[i].map;
        if (shared->map[i] > 0 && !job->map[i]) {
            map_layout(job, (int)i, &own[i]);
            image_place(&own[i], memory);
            job->map[i] = &own[i];
        }
        memory += shared->map[i];
    }
}

enum status detect_search_run(const struct cpu_context *context, const struct detect_search *search,
                              struct error *err) {
    struct detect_job job = {.network = search->network, .source = search->source};
    const struct shared_memory shared = plan_job(&job, search->output, search->width, search->height);
    const struct scratch_need need = need_of(&job, &shared);
    unsigned seats = crew_idle(context->crew) + 1;
    seats = bands_seats_most(seats < CREW_SEATS_MAX ? seats : CREW_SEATS_MAX, need.seat);
    enum status status = scratch_seats(context->scratch, &need, &seats, err);
    if (status != ST_OK) {
        return status;
    }
    job.memory = context->scratch->memory;
    detect_excite_place(&job, job.memory + shared.tensors);
    uint8_t *behind = job.memory + shared.tensors + shared.excite;
    struct detect_sink sink = {.least = search->output[0].least, .candidates = (void *)behind};
    struct image own[NETWORK_OUTPUTS_MAX];
    job.sink = &sink;
    behind += shared.candidates;
    place_maps(&job, search, &shared, own, behind);
    for (unsigned i = 0; i < job.passes.count && status == ST_OK; i++) {
        status = run_pass(context, &job, &job.passes.pass[i], &need, seats, err);
    }
    if (status == ST_OK && search->candidates && job.form->sums == 0) {
        status = find_in_maps(context, search, &job, behind + maps_bytes(&shared), &sink, err);
    }
    if (status == ST_OK && search->candidates) {
        detect_sink_finish(&sink, search->candidates);
    }
    return status;
}
