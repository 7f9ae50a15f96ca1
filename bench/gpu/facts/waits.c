/* SPDX-License-Identifier: MIT
 * Which calls wait for a kernel that runs in a stream that they do not name, and what allocations cost. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/gpu/facts/facts.h"
#include "core/clock.h"

enum {
    HOLD_NS = 20000000,
    SETTLE_NS = 2000000, /* until the kernel runs */
    WAITED_MS = 10,      /* a call that took so long has waited */
    SIZE = 1 << 20,
    LARGE = 64 << 20,
    LARGE_QUICK = 2 << 20,
    PAIR_LARGE = 16 << 20,
    PAIRS = 200,
    PAIRS_QUICK = 5,
};

/* What the calls use; each call takes or makes some of it. */
struct waits {
    struct facts *facts;
    CUdeviceptr freed, pooled, made, made_large, made_pooled;
    void *freed_host, *made_host;
    void *registered, *unregistered; /* mappings of SIZE bytes */
    CUmodule unloaded, loaded, fresh;
    CUstream destroyed, made_stream;
};

static const struct cuda *driver(const struct waits *waits) {
    return &waits->facts->bench->cuda;
}

static CUresult free_memory(struct waits *waits) {
    CUdeviceptr data = waits->freed;
    waits->freed = 0;
    return driver(waits)->cuMemFree(data);
}

static CUresult free_host(struct waits *waits) {
    void *memory = waits->freed_host;
    waits->freed_host = NULL;
    return driver(waits)->cuMemFreeHost(memory);
}

static CUresult unregister(struct waits *waits) {
    return driver(waits)->cuMemHostUnregister(waits->registered);
}

static CUresult unload(struct waits *waits) {
    CUmodule module = waits->unloaded;
    waits->unloaded = NULL;
    return driver(waits)->cuModuleUnload(module);
}

static CUresult load(struct waits *waits) {
    return driver(waits)->cuModuleLoadData(&waits->loaded, waits->facts->cubin.data);
}

static CUresult launch_fresh(struct waits *waits) {
    CUfunction function = NULL;
    unsigned long long ns = 0;
    void *parameters[] = {&ns};
    CUresult result = driver(waits)->cuModuleGetFunction(&function, waits->fresh, "hold");
    return result == CUDA_SUCCESS ? driver(waits)->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0,
                                                                  waits->facts->stream, parameters, NULL)
                                  : result;
}

static CUresult destroy_stream(struct waits *waits) {
    CUstream stream = waits->destroyed;
    waits->destroyed = NULL;
    return driver(waits)->cuStreamDestroy(stream);
}

/* Of what prepare() has given back to it. */
static CUresult trim(struct waits *waits) {
    CUmemoryPool pool = waits->facts->bench->device.pool;
    return pool ? driver(waits)->cuMemPoolTrimTo(pool, 0) : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult allocate(struct waits *waits) {
    return driver(waits)->cuMemAlloc(&waits->made, SIZE);
}

static CUresult allocate_large(struct waits *waits) {
    return driver(waits)->cuMemAlloc(&waits->made_large, waits->facts->bench->quick ? LARGE_QUICK : LARGE);
}

static CUresult allocate_host(struct waits *waits) {
    return driver(waits)->cuMemHostAlloc(&waits->made_host, SIZE, 0);
}

static CUresult register_host(struct waits *waits) {
    return driver(waits)->cuMemHostRegister(waits->unregistered, SIZE, 0);
}

static CUresult create_stream(struct waits *waits) {
    return driver(waits)->cuStreamCreate(&waits->made_stream, CU_STREAM_NON_BLOCKING);
}

static CUresult allocate_pooled(struct waits *waits) {
    return driver(waits)->cuMemAllocAsync(&waits->made_pooled, SIZE, waits->facts->stream);
}

static CUresult free_pooled(struct waits *waits) {
    CUdeviceptr data = waits->pooled;
    waits->pooled = 0;
    return driver(waits)->cuMemFreeAsync(data, waits->facts->stream);
}

static const struct call {
    const char *name;
    CUresult (*call)(struct waits *waits);
    bool relied; /* that it does not wait */
} calls[] = {
    {"`cuMemFree`", free_memory, false},          {"`cuMemFreeHost`", free_host, false},
    {"`cuMemHostUnregister`", unregister, false}, {"`cuModuleUnload`", unload, false},
    {"`cuModuleLoadData`", load, false},          {"first launch of a kernel", launch_fresh, false},
    {"`cuStreamDestroy`", destroy_stream, false}, {"`cuMemPoolTrimTo`", trim, false},
    {"`cuMemAlloc` of 1 MiB", allocate, false},   {"`cuMemAlloc` of 64 MiB", allocate_large, false},
    {"`cuMemHostAlloc`", allocate_host, false},   {"`cuMemHostRegister`", register_host, false},
    {"`cuStreamCreate`", create_stream, false},   {"`cuMemAllocAsync`", allocate_pooled, true},
    {"`cuMemFreeAsync`", free_pooled, true},
};

static void *map(void) {
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        memset(memory, 1, SIZE);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

/* The pool keeps memory that trim() can take from it. */
static enum status fill_pool(struct waits *waits, struct error *err) {
    CUdeviceptr data = 0;
    enum status status =
        CUDA_TRY(driver(waits), err, cuMemAllocAsync, &data, PAIR_LARGE, waits->facts->stream);
    return status == ST_OK ? CUDA_TRY(driver(waits), err, cuMemFreeAsync, data, waits->facts->stream)
                           : status;
}

static enum status prepare(struct waits *waits, struct error *err) {
    const struct cuda *cuda = driver(waits);
    waits->registered = map();
    waits->unregistered = map();
    if (!waits->registered || !waits->unregistered) {
        return fail(err, ST_BUSY, "no memory");
    }
    enum status status = fill_pool(waits, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &waits->freed, SIZE);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAllocAsync, &waits->pooled, SIZE, waits->facts->stream);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemHostAlloc, &waits->freed_host, SIZE, 0);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemHostRegister, waits->registered, SIZE, 0);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuModuleLoadData, &waits->unloaded, waits->facts->cubin.data);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuModuleLoadData, &waits->fresh, waits->facts->cubin.data);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuStreamCreate, &waits->destroyed, CU_STREAM_NON_BLOCKING);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, waits->facts->stream) : status;
}

/* Nothing is enqueued any more. What a call has released or did not make is refused, which does no harm. */
static void clear(struct waits *waits) {
    const struct cuda *cuda = driver(waits);
    const CUdeviceptr memory[] = {waits->freed, waits->pooled, waits->made, waits->made_large,
                                  waits->made_pooled};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        if (memory[i]) {
            cuda->cuMemFree(memory[i]);
        }
    }
    void *const host[] = {waits->freed_host, waits->made_host};
    CUmodule modules[] = {waits->unloaded, waits->loaded, waits->fresh};
    CUstream streams[] = {waits->destroyed, waits->made_stream};
    for (size_t i = 0; i < 2; i++) {
        if (host[i]) {
            cuda->cuMemFreeHost(host[i]);
        }
        if (streams[i]) {
            cuda->cuStreamDestroy(streams[i]);
        }
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (modules[i]) {
            cuda->cuModuleUnload(modules[i]);
        }
    }
    void *const mapped[] = {waits->registered, waits->unregistered};
    for (size_t i = 0; i < sizeof mapped / sizeof *mapped; i++) {
        if (mapped[i]) {
            cuda->cuMemHostUnregister(mapped[i]);
            munmap(mapped[i], SIZE);
        }
    }
    *waits = (struct waits){.facts = waits->facts};
}

/* One call while the kernel runs. */
static enum status time_call(struct waits *waits, const struct call *call, double *ms, struct error *err) {
    const struct facts_blocks blocks = {1, 1, 0};
    CUstream busy = waits->facts->bench->stream.handle;
    unsigned long long ns = HOLD_NS;
    enum status status = facts_launch(waits->facts, FACTS_KERNEL_hold, blocks, busy, &ns, err);
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
    int64_t begin = clock_ns();
    if (status == ST_OK) {
        status = cuda_check(driver(waits), call->call(waits), call->name, err);
    }
    *ms = facts_ms_since(begin);
    return status == ST_OK ? CUDA_TRY(driver(waits), err, cuStreamSynchronize, busy) : status;
}

static void report(struct facts *facts, const struct call *call, double ms) {
    bool waited = ms > WAITED_MS;
    enum fact fact = waited ? FACT_WAITS : FACT_WAITS_NOT;
    facts_say(facts, fact, "%s%s %.2f ms", facts->outcome[fact].figure[0] ? ", " : "", call->name, ms);
    if (call->relied) {
        facts_say(facts, FACT_WAITS_POOL, "%s%.3f ms", facts->outcome[FACT_WAITS_POOL].figure[0] ? ", " : "",
                  ms);
    }
    if (call->relied && waited) {
        facts_break(facts, FACT_WAITS_POOL);
    }
}

enum status facts_waits(struct facts *facts, struct error *err) {
    struct waits waits = {.facts = facts};
    enum status status = facts_need_kernels(facts, err);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && status == ST_OK; i++) {
        struct error refused = {0};
        double ms = 0;
        status = prepare(&waits, err);
        if (status == ST_OK && time_call(&waits, &calls[i], &ms, &refused) == ST_OK) {
            report(facts, &calls[i], ms);
        } else if (status == ST_OK) {
            driver(&waits)->cuStreamSynchronize(facts->bench->stream.handle);
            fprintf(stderr, "blurd-bench: %s\n", refused.text);
        }
        driver(&waits)->cuStreamSynchronize(facts->stream);
        clear(&waits);
    }
    for (int f = FACT_WAITS; f <= FACT_WAITS_NOT && status == ST_OK; f++) {
        if (!facts->outcome[f].figure[0]) {
            facts_say(facts, (enum fact)f, "none");
        }
    }
    return status;
}

/* ---- pairs ---- */

struct pair {
    bool pooled;
    size_t size;
};

static enum status run_pair(struct facts *facts, const struct pair *pair, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    CUdeviceptr data = 0;
    if (!pair->pooled) {
        enum status status = CUDA_TRY(cuda, err, cuMemAlloc, &data, pair->size);
        return status == ST_OK ? CUDA_TRY(cuda, err, cuMemFree, data) : status;
    }
    enum status status = CUDA_TRY(cuda, err, cuMemAllocAsync, &data, pair->size, facts->stream);
    return status == ST_OK ? CUDA_TRY(cuda, err, cuMemFreeAsync, data, facts->stream) : status;
}

/* Median of the host's time. The stream is synchronised behind each pair, which lets the pool give memory
 * back. */
static enum status time_pairs(struct facts *facts, struct pair pair, double *us, struct error *err) {
    static double took[PAIRS];
    unsigned count = facts->bench->quick ? PAIRS_QUICK : PAIRS;
    for (unsigned i = 0; i < count; i++) {
        int64_t begin = clock_ns();
        enum status status = run_pair(facts, &pair, err);
        took[i] = facts_ms_since(begin) * 1000;
        status =
            status == ST_OK ? CUDA_TRY(&facts->bench->cuda, err, cuStreamSynchronize, facts->stream) : status;
        if (status != ST_OK) {
            return status;
        }
    }
    *us = quantile(took, count, 0.5);
    return ST_OK;
}

static enum status set_threshold(struct facts *facts, cuuint64_t bytes, struct error *err) {
    return CUDA_TRY(&facts->bench->cuda, err, cuMemPoolSetAttribute, facts->bench->device.pool,
                    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes);
}

enum status facts_pairs(struct facts *facts, struct error *err) {
    const struct pair pooled = {true, SIZE};
    double kept, given_back, plain, large;
    if (!facts->bench->device.pool) {
        return fail(err, ST_DEVICE, "the device has no memory pool");
    }
    enum status status = time_pairs(facts, pooled, &kept, err);
    status = status == ST_OK ? set_threshold(facts, 0, err) : status;
    status = status == ST_OK
                 ? CUDA_TRY(&facts->bench->cuda, err, cuMemPoolTrimTo, facts->bench->device.pool, 0)
                 : status;
    status = status == ST_OK ? time_pairs(facts, pooled, &given_back, err) : status;
    status = status == ST_OK ? set_threshold(facts, facts->bench->device.memory_share, err) : status;
    status = status == ST_OK ? time_pairs(facts, (struct pair){false, SIZE}, &plain, err) : status;
    status = status == ST_OK ? time_pairs(facts, (struct pair){false, PAIR_LARGE}, &large, err) : status;
    if (status == ST_OK) {
        facts_say(facts, FACT_PAIRS,
                  "stream-ordered with a threshold for release %.1f µs, without %.1f µs, `cuMemAlloc` and "
                  "`cuMemFree` %.1f µs, of 16 MiB %.1f µs",
                  kept, given_back, plain, large);
    }
    return status;
}
