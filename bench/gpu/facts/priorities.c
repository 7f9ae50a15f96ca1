/* SPDX-License-Identifier: MIT
 * What heeds the priority of a stream or a launch. */
#include <stdio.h>
#include <time.h>

#include "bench/gpu/facts/facts.h"
#include "core/clock.h"

enum {
    LARGE = 64 << 20,
    LARGE_QUICK = 1 << 20,
    COPIES = 8,
    SMALL = 4096,
    WAVES = 16,           /* of blocks on a full device */
    BLOCK_THREADS = 1024, /* two such blocks fill a multiprocessor */
    BLOCK_NS = 1000000,
    SETTLE_NS = 2000000, /* until the first blocks run */
};

struct priorities {
    struct facts *facts;
    CUstream urgent; /* of the highest priority */
    CUdeviceptr memory;
    uint8_t *host;
    size_t large;
};

static void settle(void) {
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
}

/* Time of a small copy in `stream` behind large ones in the other one. */
static enum status time_copy(struct priorities *own, CUstream stream, double *ms, struct error *err) {
    const struct cuda *cuda = &own->facts->bench->cuda;
    CUstream busy = own->facts->bench->stream.handle;
    enum status status = ST_OK;
    for (int i = 0; i < COPIES && status == ST_OK; i++) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, own->host, own->memory, own->large, busy);
    }
    int64_t begin = clock_ns();
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, own->host + own->large, own->memory, SMALL, stream);
    }
    status = status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, stream) : status;
    *ms = facts_ms_since(begin);
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, busy) : status;
}

static enum status measure_copies(struct priorities *own, struct error *err) {
    const struct cuda *cuda = &own->facts->bench->cuda;
    double equal, higher;
    if (!own->facts->more.stream_create || own->facts->bench->device.urgent == 0) {
        facts_say(own->facts, FACT_COPY_PRIORITY, "not measured: the driver has no priorities of streams");
        return ST_OK;
    }
    enum status status = cuda_check(cuda,
                                    own->facts->more.stream_create(&own->urgent, CU_STREAM_NON_BLOCKING,
                                                                   own->facts->bench->device.urgent),
                                    "cuStreamCreateWithPriority", err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &own->memory, own->large);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemHostAlloc, (void **)&own->host, own->large + SMALL, 0);
    }
    status = status == ST_OK ? time_copy(own, own->facts->stream, &equal, err) : status; /* warms */
    status = status == ST_OK ? time_copy(own, own->facts->stream, &equal, err) : status;
    status = status == ST_OK ? time_copy(own, own->urgent, &higher, err) : status;
    if (status == ST_OK) {
        facts_say(own->facts, FACT_COPY_PRIORITY,
                  "done after %.1f ms and %.1f ms, behind %d copies of %zu MiB", equal, higher, COPIES,
                  own->large >> 20);
    }
    return status;
}

static enum status launch_at(struct priorities *own, int priority, struct error *err) {
    unsigned long long none = 0;
    void *parameters[] = {&none};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = priority};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = own->facts->stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    return CUDA_TRY(&own->facts->bench->cuda, err, cuLaunchKernelEx, &config,
                    own->facts->kernel[FACTS_KERNEL_hold], parameters, NULL);
}

/* Time of a small kernel behind one whose blocks fill the device several times. */
static enum status time_kernel(struct priorities *own, int priority, double *ms, struct error *err) {
    struct facts *facts = own->facts;
    CUstream busy = facts->bench->stream.handle;
    unsigned waves = facts->bench->quick ? 2 : WAVES;
    const struct facts_blocks blocks = {facts->sms * 2 * waves, BLOCK_THREADS, 0};
    unsigned long long ns = facts->bench->quick ? BLOCK_NS / 10 : BLOCK_NS;
    enum status status = facts_launch(facts, FACTS_KERNEL_hold, blocks, busy, &ns, err);
    settle();
    int64_t begin = clock_ns();
    status = status == ST_OK ? launch_at(own, priority, err) : status;
    if (status == ST_OK) {
        status = CUDA_TRY(&facts->bench->cuda, err, cuStreamSynchronize, facts->stream);
    }
    *ms = facts_ms_since(begin);
    return status == ST_OK ? CUDA_TRY(&facts->bench->cuda, err, cuStreamSynchronize, busy) : status;
}

/* Where the equal one does not wait, as on a driver that ends each kernel before the next one, nothing is
 * shown. */
static enum status measure_kernels(struct priorities *own, struct error *err) {
    struct facts *facts = own->facts;
    double equal = 0, higher = 0;
    enum { WAITS_MS = WAVES / 2 };
    if (!facts->bench->cuda.cuLaunchKernelEx || facts->bench->device.urgent == 0) {
        facts_say(facts, FACT_KERNEL_PRIORITY, "not measured: the driver has no priorities of launches");
        return ST_OK;
    }
    enum status status = time_kernel(own, 0, &equal, err); /* warms */
    status = status == ST_OK ? time_kernel(own, 0, &equal, err) : status;
    status = status == ST_OK ? time_kernel(own, facts->bench->device.urgent, &higher, err) : status;
    if (status == ST_OK) {
        facts_say(facts, FACT_KERNEL_PRIORITY, "done after %.1f ms and %.1f ms", equal, higher);
    }
    if (status == ST_OK && equal > WAITS_MS && higher > equal / 2) {
        facts_break(facts, FACT_KERNEL_PRIORITY);
    }
    return status;
}

enum status facts_priorities(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    struct priorities own = {.facts = facts, .large = facts->bench->quick ? LARGE_QUICK : LARGE};
    enum status status = measure_copies(&own, err);
    status = status == ST_OK ? facts_need_kernels(facts, err) : status;
    status = status == ST_OK ? measure_kernels(&own, err) : status;
    if (own.urgent) {
        cuda->cuStreamDestroy(own.urgent);
    }
    if (own.memory) {
        cuda->cuMemFree(own.memory);
    }
    if (own.host) {
        cuda->cuMemFreeHost(own.host);
    }
    return status;
}
