/* SPDX-License-Identifier: MIT
 * Graphs of kernels of which each waits for the one before. */
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/faults.h"

enum { NODES_MAX = 256 };

struct node {
    CUDA_KERNEL_NODE_PARAMS launch;
    size_t size;
    void *argument; /* a copy */
};

/* A graph, and what is made of it. */
struct graph {
    unsigned count;
    struct node node[NODES_MAX];
};

static CUresult set_node(struct node *node, const CUDA_KERNEL_NODE_PARAMS *params) {
    size_t offset;
    CUresult result = cuFuncGetParamInfo(params->func, 0, &offset, &node->size);
    void *copy = result == CUDA_SUCCESS ? malloc(node->size) : NULL;
    if (!copy) {
        return result == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : result;
    }
    memcpy(copy, params->kernelParams[0], node->size);
    free(node->argument);
    node->argument = copy;
    node->launch = *params;
    return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    MAY_FAIL("cuGraphCreate");
    *graph = calloc(1, sizeof(struct graph));
    return *graph && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void destroy(struct graph *graph) {
    for (unsigned i = 0; i < graph->count; i++) {
        free(graph->node[i].argument);
    }
    free(graph);
}

CUresult cuGraphDestroy(CUgraph graph) {
    MAY_FAIL("cuGraphDestroy");
    destroy((struct graph *)(void *)graph);
    return CUDA_SUCCESS;
}

/* A node is known by its number in the graph, from 1. */
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *params) {
    struct graph *own = (struct graph *)(void *)graph;
    MAY_FAIL("cuGraphAddKernelNode");
    if (own->count == NODES_MAX || count != (own->count > 0) ||
        (count > 0 && (uintptr_t)*before != own->count)) {
        return CUDA_ERROR_INVALID_VALUE; /* it would not run after all others */
    }
    CUresult result = set_node(&own->node[own->count], params);
    own->count += result == CUDA_SUCCESS;
    *node = (CUgraphNode)(uintptr_t)own->count;
    return result;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID name,
                                       const CUlaunchAttributeValue *value) {
    (void)node;
    MAY_FAIL("cuGraphKernelNodeSetAttribute");
    return name == CU_LAUNCH_ATTRIBUTE_PRIORITY && value->priority <= 0 ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *ready, CUgraph graph, unsigned long long flags) {
    const struct graph *from = (const struct graph *)(void *)graph;
    MAY_FAIL("cuGraphInstantiateWithFlags");
    struct graph *made = calloc(1, sizeof *made);
    CUresult result = made && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < from->count && result == CUDA_SUCCESS; i++) {
        CUDA_KERNEL_NODE_PARAMS params = from->node[i].launch;
        params.kernelParams = (void *[]){from->node[i].argument};
        result = set_node(&made->node[i], &params);
        made->count += result == CUDA_SUCCESS;
    }
    *ready = (CUgraphExec)(void *)made;
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec ready) {
    MAY_FAIL("cuGraphExecDestroy");
    destroy((struct graph *)(void *)ready);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec ready, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params) {
    struct graph *own = (struct graph *)(void *)ready;
    MAY_FAIL("cuGraphExecKernelNodeSetParams");
    size_t number = (size_t)(uintptr_t)node;
    return number >= 1 && number <= own->count ? set_node(&own->node[number - 1], params)
                                               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream) {
    const struct graph *own = (const struct graph *)(const void *)ready;
    CUresult result = CUDA_SUCCESS;
    MAY_FAIL("cuGraphLaunch");
    for (unsigned i = 0; i < own->count && result == CUDA_SUCCESS; i++) {
        const CUDA_KERNEL_NODE_PARAMS *launch = &own->node[i].launch;
        void *parameters[] = {own->node[i].argument};
        result = cuLaunchKernel(launch->func, launch->gridDimX, launch->gridDimY, launch->gridDimZ,
                                launch->blockDimX, launch->blockDimY, launch->blockDimZ,
                                launch->sharedMemBytes, stream, parameters, NULL);
    }
    return result;
}
