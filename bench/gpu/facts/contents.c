/* SPDX-License-Identifier: MIT
 * Measures how much of its old contents memory keeps after it is released. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/gpu/facts/child.h"

enum {
    BLOCKS_MAX = 64,
    SMALL = 4 << 10,
    MIDDLE = 1 << 20,
    LARGE = 64 << 20,
    OWN = 0x1dea5eed, /* what this process writes */
    LOOKS = 200,      /* at shared memory while another process fills it */
    LOOKS_QUICK = 4,
};

/* A way to allocate; data is a device address. */
struct way {
    enum fact fact;
    CUresult (*allocate)(struct facts *facts, CUdeviceptr *data, size_t size);
    CUresult (*release)(struct facts *facts, CUdeviceptr data);
    size_t size;
    unsigned count;
};

static CUresult allocate(struct facts *facts, CUdeviceptr *data, size_t size) {
    return facts->bench->cuda.cuMemAlloc(data, size);
}

static CUresult release(struct facts *facts, CUdeviceptr data) {
    return facts->bench->cuda.cuMemFree(data);
}

static CUresult allocate_pooled(struct facts *facts, CUdeviceptr *data, size_t size) {
    return facts->bench->cuda.cuMemAllocAsync(data, size, facts->stream);
}

static CUresult release_pooled(struct facts *facts, CUdeviceptr data) {
    return facts->bench->cuda.cuMemFreeAsync(data, facts->stream);
}

/* The device sees it at the address that the host has, as all drivers of 64 bits do. */
static CUresult allocate_host(struct facts *facts, CUdeviceptr *data, size_t size) {
    void *memory = NULL;
    CUresult result = facts->bench->cuda.cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_DEVICEMAP);
    *data = (CUdeviceptr)(uintptr_t)memory;
    return result;
}

static CUresult release_host(struct facts *facts, CUdeviceptr data) {
    return facts->bench->cuda.cuMemFreeHost((void *)(uintptr_t)data);
}

static struct facts_blocks usual(const struct facts *facts) {
    return (struct facts_blocks){facts->sms * 2, FACTS_THREADS, 0};
}

/* One block on each multiprocessor, with all of its shared memory. */
static struct facts_blocks whole(const struct facts *facts) {
    return (struct facts_blocks){facts->sms, FACTS_THREADS, (unsigned)facts->shared};
}

static struct facts_words words_of(CUdeviceptr data, size_t size, uint32_t value) {
    return (struct facts_words){.data = data, .count = size / sizeof(uint32_t), .value = value};
}

/* Allocates blocks. With `found` NULL it fills them, else it adds how many words have the value. */
static enum status use(struct facts *facts, const struct way *way, uint32_t value, uint64_t *found,
                       struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    CUdeviceptr data[BLOCKS_MAX] = {0};
    enum status status = ST_OK;
    for (unsigned i = 0; i < way->count && status == ST_OK; i++) {
        status = cuda_check(cuda, way->allocate(facts, &data[i], way->size), "allocation", err);
        struct facts_words words = words_of(data[i], way->size, value);
        uint64_t one = 0;
        if (status == ST_OK && found) {
            status = facts_look(facts, FACTS_KERNEL_facts_count, usual(facts), &words, &one, err);
            *found += one;
        } else if (status == ST_OK) {
            status = facts_launch(facts, FACTS_KERNEL_facts_fill, usual(facts), facts->stream, &words, err);
        }
    }
    status = status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, facts->stream) : status;
    for (unsigned i = 0; i < way->count; i++) {
        if (data[i]) {
            way->release(facts, data[i]);
        }
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, facts->stream) : status;
}

static double percent(uint64_t found, double words) {
    return 100.0 * (double)found / words;
}

static enum status measure_way(struct facts *facts, const struct way *way, struct error *err) {
    uint64_t found = 0;
    enum status status = use(facts, way, OWN, NULL, err);
    status = status == ST_OK ? use(facts, way, OWN, &found, err) : status;
    if (status == ST_OK) {
        facts_say(facts, way->fact, "%.0f %% of it",
                  percent(found, (double)way->size / sizeof(uint32_t) * way->count));
    }
    return status;
}

static enum status measure_shared(struct facts *facts, struct error *err) {
    struct facts_words words = words_of(0, facts->shared, OWN);
    uint64_t found = 0;
    enum status status =
        facts_launch(facts, FACTS_KERNEL_facts_shared_fill, whole(facts), facts->stream, &words, err);
    status = status == ST_OK
                 ? facts_look(facts, FACTS_KERNEL_facts_shared_count, whole(facts), &words, &found, err)
                 : status;
    if (status == ST_OK) {
        facts_say(facts, FACT_LEFT_SHARED, "%.0f %% of %zu KiB on each of %u multiprocessors",
                  percent(found, (double)words.count * facts->sms), facts->shared >> 10, facts->sms);
    }
    return status;
}

/* ---- another process ---- */

static const struct way other_ways[] = {{FACTS, allocate, release, SMALL, BLOCKS_MAX},
                                        {FACTS, allocate, release, LARGE, 8},
                                        {FACTS, allocate_pooled, release_pooled, MIDDLE, BLOCKS_MAX}};
enum { OTHER_WAYS = sizeof other_ways / sizeof *other_ways };

enum status facts_child_fill(struct facts *facts, const char *argument, const char *path, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
    int ways = strcmp(argument, "quick") == 0 ? 1 : OTHER_WAYS;
    enum status status = facts_child_open(facts, err);
    status = status == ST_OK ? facts_child_load(facts, path, err) : status;
    for (int i = 0; i < ways && status == ST_OK; i++) {
        status = use(facts, &other_ways[i], FACTS_OTHER, NULL, err);
    }
    struct facts_words words = words_of(0, facts->shared, FACTS_OTHER);
    bool said = false;
    while (status == ST_OK && poll(&told, 1, 0) == 0) {
        status =
            facts_launch(facts, FACTS_KERNEL_facts_shared_fill, whole(facts), facts->stream, &words, err);
        status = status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, facts->stream) : status;
        if (status == ST_OK && !said) {
            said = true;
            printf("filled\n");
            fflush(stdout);
        }
    }
    return status;
}

static enum status look_at_shared(struct facts *facts, struct error *err) {
    struct facts_words words = words_of(0, facts->shared, FACTS_OTHER);
    unsigned looks = facts->bench->quick ? LOOKS_QUICK : LOOKS;
    uint64_t found = 0;
    enum status status = ST_OK;
    for (unsigned i = 0; i < looks && status == ST_OK; i++) {
        uint64_t one = 0;
        status = facts_look(facts, FACTS_KERNEL_facts_shared_count, whole(facts), &words, &one, err);
        found += one;
    }
    if (status == ST_OK) {
        facts_say(facts, FACT_LEFT_OTHERS_SHARED, "%.0f %% of it in %u looks",
                  percent(found, (double)words.count * facts->sms * looks), looks);
    }
    return status;
}

static enum status measure_others(struct facts *facts, struct error *err) {
    struct facts_process process;
    char line[128];
    uint64_t found = 0;
    double all = 0;
    bool quick = facts->bench->quick;
    enum status status = facts_spawn(facts, "fill", quick ? "quick" : "all", "cubin", &process, err);
    if (status == ST_OK) {
        status = facts_read_line(&process, line, sizeof line, err);
        status = status == ST_OK ? look_at_shared(facts, err) : status;
        facts_end(&process);
    }
    for (int i = 0; i < (quick ? 1 : OTHER_WAYS) && status == ST_OK; i++) {
        all += (double)other_ways[i].size / sizeof(uint32_t) * other_ways[i].count;
        status = use(facts, &other_ways[i], FACTS_OTHER, &found, err);
    }
    if (status == ST_OK) {
        facts_say(facts, FACT_LEFT_OTHERS, "%.0f %% of %.2f MiB", percent(found, all),
                  all * sizeof(uint32_t) / (1 << 20));
    }
    return status;
}

enum status facts_contents(struct facts *facts, struct error *err) {
    const struct way ways[] = {
        {FACT_LEFT_SMALL, allocate, release, SMALL, BLOCKS_MAX},
        {FACT_LEFT_POOL, allocate_pooled, release_pooled, MIDDLE, 4},
        {FACT_LEFT_LARGE, allocate, release, LARGE, 1},
        {FACT_LEFT_HOST, allocate_host, release_host, MIDDLE, 4},
    };
    enum status status = facts_need_kernels(facts, err);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && status == ST_OK; i++) {
        status = measure_way(facts, &ways[i], err);
    }
    status = status == ST_OK ? measure_shared(facts, err) : status;
    return status == ST_OK ? measure_others(facts, err) : status;
}
