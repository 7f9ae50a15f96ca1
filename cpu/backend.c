/* SPDX-License-Identifier: MIT
 * The CPU backend: chooses the instruction set once and runs chains step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/processor.h"
#include "cpu/bands.h"
#include "cpu/blend.h"
#include "cpu/cpu.h"
#include "cpu/filter.h"
#include "cpu/networks.h"
#include "cpu/stages.h"
#include "cpu/window.h"
#include "filters/adjust/cpu/adjust.h"
#include "filters/chain.h"

struct cpu_backend {
    struct backend base;
    struct row_set rows;
    struct cpu_networks networks;
};

struct cpu_lane {
    struct lane base;
    struct scratch scratch; /* working memory of the filters */
    struct scratch spare;   /* the second picture of a chain of several steps */
};

static const struct backend_ops cpu_ops;

static struct cpu_backend *cpu_backend(struct backend *backend) {
    return (struct cpu_backend *)backend;
}

static enum status cpu_lane_create(struct backend *backend, struct lane **lane, struct error *err) {
    struct cpu_lane *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "no memory for a lane now");
    }
    made->base.backend = backend;
    *lane = &made->base;
    return ST_OK;
}

static void cpu_lane_destroy(struct lane *lane) {
    struct cpu_lane *own = (struct cpu_lane *)lane;
    scratch_finish(&own->scratch);
    scratch_finish(&own->spare);
    free(own);
}

static size_t cpu_run_bytes(const struct backend *backend, const struct chain *chain,
                            const struct image_shape *shape, unsigned threads) {
    const struct row_set *rows = &((const struct cpu_backend *)backend)->rows;
    const struct stages apart = stages_of(chain, shape, true), joined = stages_of(chain, shape, false);
    const size_t places = stages_bytes(&apart), fewer = stages_bytes(&joined);
    size_t most = 0;
    for (uint32_t i = 0; i < chain->count; i++) {
        struct image image;
        struct image_shape read = chain_shape(chain, shape, i);
        image_layout(&image, &read);
        const struct step *step = &chain->step[i];
        const struct cpu_filter *filter = cpu_filter_get(step->filter);
        struct scratch_need need = {0};
        if (filter->need) {
            need = filter->need(rows, step_plan(step), &image);
        }
        size_t bytes = scratch_need_bytes(&need, bands_seats_most(threads, need.seat));
        most = bytes > most ? bytes : most;
    }
    return most + (places > fewer ? places : fewer);
}

/* Takes both places from lent memory, whose rest goes to the filters, or from the lane's own. */
static enum status take_places(struct cpu_lane *lane, const struct stages *stages, uint8_t *memory[2],
                               struct error *err) {
    struct scratch *scratch = &lane->scratch;
    size_t size = stages_bytes(stages);
    struct scratch *from = scratch->lent ? scratch : &lane->spare;
    enum status status = size > 0 ? scratch_reserve(from, size, err) : ST_OK;
    if (status == ST_OK && size > 0) {
        memory[0] = from->memory;
        memory[1] = from->memory + stages->spare;
    }
    if (status == ST_OK && scratch->lent) {
        scratch->memory += size;
        scratch->size -= size;
    }
    return status;
}

static bool is_blended(const struct chain_run *run) {
    return run->mask && filter_get(run->chain->step[0].filter)->answer == ANSWER_PICTURE;
}

/* Runs a step, and the adjustment behind it where both are a stage. With a window (NULL: none) only that part
 * of the pictures is read and made. */
static enum status run_stage(struct cpu_context *context, const struct chain_run *run,
                             const struct stages *stages, uint32_t stage, const struct image *source,
                             const struct image *target, const struct crop_plan *window, struct error *err) {
    const struct image from = window ? crop_view(window, source) : *source;
    const struct image to = window ? crop_view(window, target) : *target;
    const uint32_t first = stages_first(stages, stage), last = stages->last[stage];
    const struct step *step = run->chain->step;
    struct adjustment adjustment;
    const struct cpu_row_done done = {adjustment_row, &adjustment};
    if (first < last) {
        adjustment_init(&adjustment, context->rows, &step[last].adjust, &to, &to);
    }
    context->done = first < last ? &done : NULL;
    context->progress = stage + 1 == stages->count && !run->mask ? run->progress : NULL;
    context->mask = run->mask;
    enum status status = ST_OK;
    if (to.width > 0) {
        status = cpu_filter_get(step[first].filter)->run(context, step_plan(&step[first]), &from, &to, err);
    }
    if (status == ST_OK && is_blended(run) && last + 1 == chain_masked(run->chain)) {
        status = blend(run->crew, run->deadline_ns, run->source, target, run->mask, err);
    }
    context->producer = NULL;
    return status;
}

static enum status run_steps(struct cpu_lane *own, const struct chain_run *run, struct error *err) {
    const bool follows = !run->mask && cpu_filter_get(run->chain->step[0].filter)->follows;
    struct cpu_backend *cpu = cpu_backend(own->base.backend);
    struct cpu_context context = {.rows = &cpu->rows,
                                  .scratch = &own->scratch,
                                  .crew = run->crew,
                                  .deadline_ns = run->deadline_ns,
                                  .producer = follows ? run->producer : NULL,
                                  .networks = &cpu->networks,
                                  .reader = run->reader};
    const struct image_shape shape = image_shape(run->source);
    const struct stages stages = stages_of(run->chain, &shape, run->mask != NULL);
    uint8_t *memory[2] = {NULL, NULL};
    enum status status = follows ? ST_OK : producer_make(run->producer, err);
    status = status == ST_OK ? take_places(own, &stages, memory, err) : status;
    const struct crop_plan window = status == ST_OK && is_blended(run)
                                        ? window_under(run->chain, run->source, run->mask)
                                        : (struct crop_plan){0};
    const uint32_t windowed = is_blended(run) ? chain_masked(run->chain) : 0; /* each step is a stage */
    struct image from = *run->source;
    for (uint32_t i = 0; i < stages.count && status == ST_OK; i++) {
        const struct image to = stages_target(&stages, run, i, memory);
        status = run_stage(&context, run, &stages, i, &from, &to, i < windowed ? &window : NULL, err);
        from = to;
    }
    return status;
}

static enum status cpu_lane_run(struct lane *lane, const struct chain_run *run, struct lane_timing *timing,
                                struct error *err) {
    struct cpu_lane *own = (struct cpu_lane *)lane;
    const struct scratch kept = own->scratch;
    if (run->working.memory) {
        own->scratch = (struct scratch){run->working.memory, run->working.size, true};
    }
    int64_t start = clock_ns();
    enum status status = run_steps(own, run, err);
    timing->filter_ns = clock_ns() - start;
    if (run->working.memory) {
        own->scratch = kept;
    }
    return status;
}

static void cpu_close(struct backend *backend) {
    struct cpu_backend *cpu = cpu_backend(backend);
    cpu_networks_finish(&cpu->networks);
    free(cpu);
}

static const struct backend_ops cpu_ops = {
    .lane_create = cpu_lane_create,
    .lane_run = cpu_lane_run,
    .run_bytes = cpu_run_bytes,
    .produces = true,
    .lane_destroy = cpu_lane_destroy,
    .close = cpu_close,
};

struct cpu_level {
    enum processor_level level;
    const char *name;
    void (*fill)(struct row_set *set);
    const struct detect_kernels *(*kernels)(void);
};

/* Best first. */
static const struct cpu_level levels[] = {
#if PROCESSOR_TILES
    {PROCESSOR_AMX, "amx", row_set_avx512, detect_kernels_amx},
#endif
#if defined(__x86_64__)
    {PROCESSOR_AVX512, "avx512", row_set_avx512, detect_kernels_avx512},
    {PROCESSOR_AVX2, "avx2", row_set_avx2, detect_kernels_avx2},
#elif defined(__aarch64__)
    {PROCESSOR_NEON, "neon", row_set_neon, detect_kernels_neon},
#endif
    {PROCESSOR_BASELINE, "baseline", row_set_baseline, detect_kernels_baseline},
    {PROCESSOR_PLAIN, "plain", row_set_plain, detect_kernels_plain},
};

static enum status choose_level(const char *name, const struct cpu_level **level, struct error *err) {
    const enum processor_level best = processor_level(name);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (levels[i].level <= best) {
            *level = &levels[i];
            return ST_OK;
        }
    }
    return fail(err, ST_ARGUMENT, "this processor has no CPU level %.20s", name);
}

enum status cpu_backend_open(const char *level, struct backend **backend, struct error *err) {
    *backend = NULL;
    const struct cpu_level *chosen = NULL;
    enum status status = choose_level(level, &chosen, err);
    if (status != ST_OK) {
        return status;
    }
    struct cpu_backend *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "no memory for the CPU backend now");
    }
    made->base.ops = &cpu_ops;
    snprintf(made->base.name, sizeof made->base.name, "cpu/%s", chosen->name);
    chosen->fill(&made->rows);
    cpu_networks_init(&made->networks, chosen->kernels());
    *backend = &made->base;
    return ST_OK;
}

void cpu_backend_use_model(struct backend *backend, enum detector_id detector, struct model *model) {
    cpu_backend(backend)->networks.model[detector_model(detector)] = model;
}

size_t cpu_backend_network_bytes(const struct backend *backend, enum detector_id detector) {
    return detect_pack_bytes(detector_get(detector)->network,
                             &((const struct cpu_backend *)backend)->networks.kernels->format);
}
