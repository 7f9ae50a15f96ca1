/* SPDX-License-Identifier: MIT */
#include "gpu/stream/batch.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/tuned.h"
#include "gpu/cuda/kernels.h"

enum {
    TASKS_MAX = 128,           /* a JPEG with a blur has ten to thirteen, a search for text 109 */
    ARGUMENTS_MAX = 32 * 1024, /* bytes; a JPEG with a blur has twelve thousand, and a search as many */
    ALIGNMENT = 16,            /* of an argument */
    GRAPHS = 8,                /* of a stream; other sequences take the place of the one used longest ago */
};

struct tasks {
    unsigned count;
    size_t used; /* bytes of `arguments` */
    struct gpu_task task[TASKS_MAX];
    size_t argument[TASKS_MAX], size[TASKS_MAX]; /* offsets, and bytes */
    alignas(ALIGNMENT) uint8_t arguments[ARGUMENTS_MAX];
};

/* A sequence of kernels. The driver needs `source` to find the nodes of `ready`. */
struct graph {
    struct tasks list; /* with the blocks and arguments that `ready` has */
    uint64_t turn;     /* of the batch, when it was used last; 0: never */
    CUgraph source;
    CUgraphExec ready; /* NULL: seen once */
    CUgraphNode node[TASKS_MAX];
};

struct gpu_batch {
    const struct gpu_device *device;
    CUstream stream;
    struct tasks list;
    uint64_t turn;
    bool refused; /* the driver could not make a graph */
    struct graph graph[GRAPHS];
};

static bool has_graphs(const struct gpu_device *device) {
    const struct cuda *cuda = device->cuda;
    return device->program.argument[0] > 0 && cuda->cuGraphCreate && cuda->cuGraphDestroy &&
           cuda->cuGraphAddKernelNode && cuda->cuGraphKernelNodeSetAttribute &&
           cuda->cuGraphInstantiateWithFlags && cuda->cuGraphExecDestroy &&
           cuda->cuGraphExecKernelNodeSetParams && cuda->cuGraphLaunch;
}

struct gpu_batch *gpu_batch_create(const struct gpu_device *device, CUstream stream) {
    struct gpu_batch *batch = has_graphs(device) ? calloc(1, sizeof *batch) : NULL;
    if (batch) {
        batch->device = device;
        batch->stream = stream;
    }
    return batch;
}

static const struct cuda *cuda_of(const struct gpu_batch *batch) {
    return batch->device->cuda;
}

static void destroy_graph(const struct cuda *cuda, struct graph *graph) {
    if (graph->ready) {
        cuda->cuGraphExecDestroy(graph->ready);
    }
    if (graph->source) {
        cuda->cuGraphDestroy(graph->source);
    }
    graph->ready = NULL;
    graph->source = NULL;
}

void gpu_batch_destroy(struct gpu_batch *batch) {
    for (unsigned i = 0; batch && i < GRAPHS; i++) {
        destroy_graph(cuda_of(batch), &batch->graph[i]);
    }
    free(batch);
}

/* ---- the list ---- */

enum status gpu_batch_add(struct gpu_batch *batch, const struct gpu_task *task, const void *pass,
                          struct error *err) {
    struct tasks *list = &batch->list;
    size_t size = batch->device->program.argument[task->kernel];
    bool full = list->count == TASKS_MAX || bytes_align_up(size, ALIGNMENT) > ARGUMENTS_MAX - list->used;
    enum status status = full ? gpu_batch_flush(batch, err) : ST_OK;
    if (status != ST_OK) {
        return status;
    }
    list->task[list->count] = *task;
    list->argument[list->count] = list->used;
    list->size[list->count] = size;
    list->count++;
    memcpy(list->arguments + list->used, pass, size);
    list->used += bytes_align_up(size, ALIGNMENT);
    return ST_OK;
}

void gpu_batch_drop(struct gpu_batch *batch) {
    batch->list.count = 0;
    batch->list.used = 0;
}

static enum status launch_each(struct gpu_batch *batch, struct error *err) {
    struct tasks *list = &batch->list;
    enum status status = ST_OK;
    for (unsigned i = 0; i < list->count && status == ST_OK; i++) {
        status = gpu_task_launch(&list->task[i], batch->device, batch->stream,
                                 list->arguments + list->argument[i], err);
    }
    return status;
}

static bool is_same_sequence(const struct tasks *a, const struct tasks *b) {
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++) {
        same = a->task[i].kernel == b->task[i].kernel && a->task[i].urgent == b->task[i].urgent;
    }
    return same;
}

/* Whether launch i of both has the same blocks and argument. */
static bool is_same_launch(const struct tasks *a, const struct tasks *b, unsigned i) {
    const struct gpu_blocks *x = &a->task[i].blocks, *y = &b->task[i].blocks;
    return x->count == y->count && x->threads_y == y->threads_y && x->shared == y->shared &&
           memcmp(a->arguments + a->argument[i], b->arguments + b->argument[i], a->size[i]) == 0;
}

/* ---- graphs ---- */

/* The graph with the list's sequence of kernels; `*known` tells whether it was there before. */
static struct graph *choose(struct gpu_batch *batch, bool *known) {
    struct graph *oldest = &batch->graph[0];
    *known = false;
    for (unsigned i = 0; i < GRAPHS && !*known; i++) {
        struct graph *graph = &batch->graph[i];
        *known = graph->turn > 0 && is_same_sequence(&graph->list, &batch->list);
        oldest = *known || graph->turn < oldest->turn ? graph : oldest;
    }
    oldest->turn = ++batch->turn;
    return oldest;
}

/* `*argument` has to stay as long as the result. */
static CUDA_KERNEL_NODE_PARAMS node_of(const struct gpu_batch *batch, unsigned i, void **argument) {
    const struct tasks *list = &batch->list;
    const struct gpu_task *task = &list->task[i];
    *argument = (void *)(uintptr_t)(list->arguments + list->argument[i]);
    return (CUDA_KERNEL_NODE_PARAMS){.func = batch->device->program.kernel[task->kernel],
                                     .gridDimX = task->blocks.count,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = KERNEL_THREADS_X,
                                     .blockDimY = task->blocks.threads_y,
                                     .blockDimZ = 1,
                                     .sharedMemBytes = task->blocks.shared,
                                     .kernelParams = argument};
}

static CUresult add_node(const struct gpu_batch *batch, struct graph *graph, unsigned i) {
    const struct cuda *cuda = cuda_of(batch);
    const int urgent = batch->device->urgent;
    void *argument;
    const CUDA_KERNEL_NODE_PARAMS node = node_of(batch, i, &argument);
    CUresult result = cuda->cuGraphAddKernelNode(&graph->node[i], graph->source,
                                                 i > 0 ? &graph->node[i - 1] : NULL, i > 0, &node);
    if (result != CUDA_SUCCESS || !batch->list.task[i].urgent || urgent == 0) {
        return result;
    }
    const CUlaunchAttributeValue value = {.priority = urgent};
    return cuda->cuGraphKernelNodeSetAttribute(graph->node[i], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

/* Makes the graph from the list. After a failure there is none. */
static bool build(struct gpu_batch *batch, struct graph *graph) {
    const struct cuda *cuda = cuda_of(batch);
    CUresult result = cuda->cuGraphCreate(&graph->source, 0);
    for (unsigned i = 0; i < batch->list.count && result == CUDA_SUCCESS; i++) {
        result = add_node(batch, graph, i);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda->cuGraphInstantiateWithFlags(&graph->ready, graph->source, 0);
    }
    if (result != CUDA_SUCCESS) {
        graph->ready = NULL;
        destroy_graph(cuda, graph);
        batch->refused = true;
    }
    return result == CUDA_SUCCESS;
}

/* Copies launch i. The same sequence of kernels has its arguments in the same places. */
static void copy_launch(struct tasks *to, const struct tasks *from, unsigned i) {
    to->task[i] = from->task[i];
    memcpy(to->arguments + to->argument[i], from->arguments + from->argument[i], from->size[i]);
}

/* Gives the graph the list's blocks and arguments where they differ. */
static enum status update(const struct gpu_batch *batch, struct graph *graph, struct error *err) {
    const struct tasks *list = &batch->list;
    enum status status = ST_OK;
    for (unsigned i = 0; i < list->count && status == ST_OK; i++) {
        if (!is_same_launch(&graph->list, list, i)) {
            void *argument;
            const CUDA_KERNEL_NODE_PARAMS node = node_of(batch, i, &argument);
            status = CUDA_TRY(cuda_of(batch), err, cuGraphExecKernelNodeSetParams, graph->ready,
                              graph->node[i], &node);
            copy_launch(&graph->list, list, i);
        }
    }
    return status;
}

static enum status launch_graph(struct gpu_batch *batch, struct error *err) {
    const struct cuda *cuda = cuda_of(batch);
    bool known;
    struct graph *graph = choose(batch, &known);
    if (!known) {
        destroy_graph(cuda, graph);
        graph->list = batch->list;
        return launch_each(batch, err);
    }
    enum status status = ST_OK;
    if (graph->ready) {
        status = update(batch, graph, err);
    } else if (build(batch, graph)) {
        graph->list = batch->list;
    } else {
        return launch_each(batch, err);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuGraphLaunch, graph->ready, batch->stream) : status;
}

enum status gpu_batch_flush(struct gpu_batch *batch, struct error *err) {
    bool each = batch->list.count < TUNED_GPU_GRAPH_LAUNCHES || batch->refused;
    enum status status = each ? launch_each(batch, err) : launch_graph(batch, err);
    gpu_batch_drop(batch);
    return status;
}
