/* SPDX-License-Identifier: MIT
 * Launches, waiting, priorities and rates. */
#include <stdio.h>
#include <time.h>

#include "bench/gpu/facts/facts.h"
#include "core/clock.h"

enum { ROUNDS = 200, ROUNDS_QUICK = 5, KERNELS = 20 };

struct launches {
    struct facts *facts;
    struct facts_words words;
    CUgraph graph;
    CUgraphExec ready;
};

static unsigned rounds(const struct facts *facts) {
    return facts->bench->quick ? ROUNDS_QUICK : ROUNDS;
}

static enum status synchronize(const struct facts *facts, struct error *err) {
    return CUDA_TRY(&facts->bench->cuda, err, cuStreamSynchronize, facts->stream);
}

static enum status poll(const struct facts *facts, struct error *err) {
    CUresult result = CUDA_ERROR_NOT_READY;
    while (result == CUDA_ERROR_NOT_READY) {
        result = facts->bench->cuda.cuStreamQuery(facts->stream);
    }
    return cuda_check(&facts->bench->cuda, result, "cuStreamQuery", err);
}

/* ---- a graph ---- */

static enum status launch_graph(struct launches *launches, struct error *err) {
    return CUDA_TRY(&launches->facts->bench->cuda, err, cuGraphLaunch, launches->ready,
                    launches->facts->stream);
}

static enum status launch_each(struct launches *launches, struct error *err) {
    const struct facts_blocks blocks = {1, FACTS_THREADS, 0};
    enum status status = ST_OK;
    for (int i = 0; i < KERNELS && status == ST_OK; i++) {
        status = facts_launch(launches->facts, FACTS_KERNEL_facts_fill, blocks, launches->facts->stream,
                              &launches->words, err);
    }
    return status;
}

static enum status make_graph(struct launches *launches, struct error *err) {
    const struct cuda *cuda = &launches->facts->bench->cuda;
    void *parameters[] = {&launches->words};
    const CUDA_KERNEL_NODE_PARAMS node = {.func = launches->facts->kernel[FACTS_KERNEL_facts_fill],
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = FACTS_THREADS,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = parameters};
    CUgraphNode last = NULL;
    enum status status = CUDA_TRY(cuda, err, cuGraphCreate, &launches->graph, 0);
    for (int i = 0; i < KERNELS && status == ST_OK; i++) {
        CUgraphNode made = NULL;
        status = CUDA_TRY(cuda, err, cuGraphAddKernelNode, &made, launches->graph, i ? &last : NULL,
                          i ? 1 : 0, &node);
        last = made;
    }
    return status == ST_OK
               ? CUDA_TRY(cuda, err, cuGraphInstantiateWithFlags, &launches->ready, launches->graph, 0)
               : status;
}

/* Medians of the time until the host has launched, and until all is done. */
static enum status time_launches(struct launches *launches,
                                 enum status (*launch)(struct launches *launches, struct error *err),
                                 double us[2], struct error *err) {
    static double launched[ROUNDS], done[ROUNDS];
    unsigned count = rounds(launches->facts);
    for (unsigned i = 0; i < count; i++) {
        int64_t begin = clock_ns();
        enum status status = launch(launches, err);
        launched[i] = facts_ms_since(begin) * 1000;
        status = status == ST_OK ? poll(launches->facts, err) : status;
        done[i] = facts_ms_since(begin) * 1000;
        if (status != ST_OK) {
            return status;
        }
    }
    us[0] = quantile(launched, count, 0.5);
    us[1] = quantile(done, count, 0.5);
    return ST_OK;
}

static enum status measure_graph(struct launches *launches, struct error *err) {
    const struct cuda *cuda = &launches->facts->bench->cuda;
    double graph[2], each[2];
    if (!cuda->cuGraphCreate || !cuda->cuGraphAddKernelNode || !cuda->cuGraphInstantiateWithFlags ||
        !cuda->cuGraphLaunch) {
        facts_say(launches->facts, FACT_GRAPH, "not measured: the driver has no graphs");
        return ST_OK;
    }
    enum status status = make_graph(launches, err);
    status = status == ST_OK ? time_launches(launches, launch_graph, graph, err) : status;
    status = status == ST_OK ? time_launches(launches, launch_each, each, err) : status;
    if (status == ST_OK) {
        facts_say(launches->facts, FACT_GRAPH,
                  "launched in %.1f µs and done after %.0f µs; one by one %.0f µs and %.0f µs", graph[0],
                  graph[1], each[0], each[1]);
    }
    return status;
}

/* ---- waiting ---- */

static enum status time_wait(struct facts *facts,
                             enum status (*wait)(const struct facts *facts, struct error *err), double *us,
                             struct error *err) {
    static double took[ROUNDS];
    const struct facts_blocks blocks = {1, 1, 0};
    unsigned long long ns = 50000;
    unsigned count = rounds(facts);
    for (unsigned i = 0; i < count; i++) {
        int64_t begin = clock_ns();
        enum status status = facts_launch(facts, FACTS_KERNEL_hold, blocks, facts->stream, &ns, err);
        status = status == ST_OK ? wait(facts, err) : status;
        took[i] = facts_ms_since(begin) * 1000;
        if (status != ST_OK) {
            return status;
        }
    }
    *us = quantile(took, count, 0.5);
    return ST_OK;
}

enum status facts_launches(struct facts *facts, struct error *err) {
    struct launches launches = {.facts = facts, .words = {.data = facts->found, .count = 0}};
    double blocked, polled;
    enum status status = facts_need_kernels(facts, err);
    status = status == ST_OK ? measure_graph(&launches, err) : status;
    status = status == ST_OK ? time_wait(facts, synchronize, &blocked, err) : status;
    status = status == ST_OK ? time_wait(facts, poll, &polled, err) : status;
    if (status == ST_OK) {
        facts_say(facts, FACT_BLOCKING, "%.1f µs and %.1f µs for a kernel of 50 µs", blocked, polled);
    }
    if (launches.ready) {
        facts->bench->cuda.cuGraphExecDestroy(launches.ready);
    }
    if (launches.graph) {
        facts->bench->cuda.cuGraphDestroy(launches.graph);
    }
    return status;
}

/* ---- rates ---- */

struct rate {
    enum facts_kernel kernel;
    double multiplies; /* of a thread in a turn */
    const char *name;
};

static enum status time_rate(struct facts *facts, const struct rate *rate, CUdeviceptr result,
                             double *each_ns, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    const struct gpu_stream *stream = &facts->bench->stream;
    const struct facts_blocks blocks = {facts->sms * 8, FACTS_THREADS, 0};
    struct facts_loop loop = {.result = result, .turns = facts->bench->quick ? 16 : 100000, .value = 3};
    float ms = 0;
    enum status status = ST_OK;
    for (int i = 0; i < 2 && status == ST_OK; i++) { /* the first one warms the clocks */
        status = CUDA_TRY(cuda, err, cuEventRecord, stream->begin, facts->stream);
        if (status == ST_OK) {
            status = facts_launch(facts, rate->kernel, blocks, facts->stream, &loop, err);
        }
        if (status == ST_OK) {
            status = CUDA_TRY(cuda, err, cuEventRecord, stream->filtered, facts->stream);
        }
        status = status == ST_OK ? synchronize(facts, err) : status;
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventElapsedTime, &ms, stream->begin, stream->filtered);
    }
    *each_ns = rate->multiplies * loop.turns * blocks.count * blocks.threads / ((double)ms * 1e6);
    return status;
}

enum status facts_rates(struct facts *facts, struct error *err) {
    static const struct rate rates[] = {
        {FACTS_KERNEL_facts_multiply, FACTS_CHAINS, "`IMAD`"},
        {FACTS_KERNEL_facts_dot, 4 * FACTS_CHAINS, "`dp4a`"},
        {FACTS_KERNEL_facts_matrix, FACTS_CHAINS / 4 * 4096 / 32.0, "`mma`"},
    };
    const struct cuda *cuda = &facts->bench->cuda;
    CUdeviceptr result = 0;
    enum status status = facts_need_kernels(facts, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &result,
                          (size_t)facts->sms * 8 * FACTS_THREADS * sizeof(uint32_t));
    }
    for (size_t i = 0; i < sizeof rates / sizeof *rates && status == ST_OK; i++) {
        double each_ns = 0;
        bool lacking = rates[i].kernel == FACTS_KERNEL_facts_matrix && facts->bench->device.major < 8;
        status = lacking ? ST_OK : time_rate(facts, &rates[i], result, &each_ns, err);
        if (status == ST_OK && !lacking) {
            facts_say(facts, FACT_RATES, "%s%s: %.1f T/s", i ? ", " : "", rates[i].name, each_ns / 1000);
        }
    }
    if (result) {
        cuda->cuMemFree(result);
    }
    return status;
}
