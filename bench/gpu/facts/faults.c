/* SPDX-License-Identifier: MIT
 * A kernel that goes wrong in another process, and what this one notices of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/facts/child.h"
#include "core/clock.h"

enum { CALM_MS = 100, AFTER_MS = 300, QUICK_MS = 10, MOST_MS = 15000, SIZE = 1 << 20, VALUE = 7 };

static const char *const fault_names[FACTS_FAULTS] = {
    [FAULT_ADDRESS] = "illegal address",
    [FAULT_MISALIGNED] = "misaligned address",
    [FAULT_TRAP] = "trap",
    [FAULT_ASSERT] = "failed assertion",
};

/* ---- the process with the fault ---- */

static const char *name_of(const struct cuda *cuda, CUresult result) {
    const char *name = "unknown";
    cuda->cuGetErrorName(result, &name);
    return result == CUDA_SUCCESS ? "no error" : name;
}

/* Says what resetting the context returns, and then making it anew and using it: the first error, or none. */
static void try_reset(struct facts *facts) {
    const struct cuda *cuda = &facts->bench->cuda;
    CUdeviceptr data = 0;
    CUcontext context = NULL;
    if (!facts->more.primary_reset) {
        printf("-\n");
        return;
    }
    CUresult reset = facts->more.primary_reset(facts->bench->device.device);
    CUresult result = cuda->cuDevicePrimaryCtxRetain(&context, facts->bench->device.device);
    result = result == CUDA_SUCCESS ? cuda->cuCtxSetCurrent(context) : result;
    result = result == CUDA_SUCCESS ? cuda->cuMemAlloc(&data, SIZE) : result;
    printf("a reset of the context: %s, a new one: %s\n", name_of(cuda, reset), name_of(cuda, result));
}

enum status facts_child_fault(struct facts *facts, const char *argument, const char *path,
                              struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    CUdeviceptr data = 0;
    struct facts_wrong wrong = {.fault = (int32_t)strtol(argument, NULL, 10)};
    enum status status = facts_child_open(facts, err);
    status = status == ST_OK ? facts_child_load(facts, path, err) : status;
    if (status != ST_OK) {
        return status;
    }
    facts_find_more(facts);
    wrong.data = facts->found;
    printf("ready\n");
    facts_child_wait();
    status = facts_launch(facts, FACTS_KERNEL_facts_wrong, (struct facts_blocks){1, 1, 0}, facts->stream,
                          &wrong, err);
    if (status != ST_OK) {
        return status;
    }
    CUresult first = cuda->cuStreamSynchronize(facts->stream);
    CUresult second = cuda->cuMemAlloc(&data, SIZE);
    printf("%s %d\n", name_of(cuda, first),
           first != CUDA_SUCCESS && cuda_is_sticky(first) && second == first);
    fflush(stdout); /* a reset may take long */
    try_reset(facts);
    return ST_OK;
}

/* ---- the process beside it ---- */

struct beside {
    struct facts *facts;
    struct facts_words words; /* of a memory that has the value everywhere */
    bool right;               /* each kernel so far found it so */
    double longest_ms;
};

static enum status run_one(struct beside *beside, struct error *err) {
    const struct facts_blocks blocks = {beside->facts->sms, FACTS_THREADS, 0};
    uint64_t found = 0;
    int64_t begin = clock_ns();
    enum status status =
        facts_look(beside->facts, FACTS_KERNEL_facts_count, blocks, &beside->words, &found, err);
    double ms = facts_ms_since(begin);
    beside->longest_ms = ms > beside->longest_ms ? ms : beside->longest_ms;
    beside->right = beside->right && status == ST_OK && found == beside->words.count;
    return status;
}

/* Runs kernels until the time is over, with a process until it has said something, and that much longer. */
static enum status run_for(struct beside *beside, const struct facts_process *process, double ms,
                           struct error *err) {
    int64_t begin = clock_ns(), said = 0;
    enum status status = ST_OK;
    beside->longest_ms = 0;
    do {
        status = run_one(beside, err);
        if (process && said == 0 && facts_has_line(process)) {
            said = clock_ns();
        }
    } while (status == ST_OK && facts_ms_since(begin) < MOST_MS &&
             (process ? said == 0 || facts_ms_since(said) < ms : facts_ms_since(begin) < ms));
    return status;
}

/* What the other process said: the error and whether it stays, and what the first call after a reset
 * returned. */
static void report(struct facts *facts, int fault, const char *said, const char *reset) {
    char name[64] = "";
    int stays = 0;
    bool whole = sscanf(said, "%63[A-Z_0-9] %d", name, &stays) == 2, tried = strcmp(reset, "-") != 0;
    facts_say(facts, FACT_FAULT_OWN, "%s%s: %s%s%s", facts->outcome[FACT_FAULT_OWN].figure[0] ? "; " : "",
              fault_names[fault], whole ? name : said, tried ? ", " : "", tried ? reset : "");
    if (!whole || !stays) {
        facts_break(facts, FACT_FAULT_OWN);
    }
}

static enum status measure(struct beside *beside, int fault, struct error *err) {
    struct facts *facts = beside->facts;
    struct facts_process process;
    char number[16], said[256] = "", reset[256] = "-";
    bool quick = facts->bench->quick;
    double calm_ms = 0;
    snprintf(number, sizeof number, "%d", fault);
    enum status status = facts_spawn(facts, "fault", number, "cubin", &process, err);
    if (status == ST_OK) {
        status = facts_read_line(&process, said, sizeof said, err);
        status = status == ST_OK ? run_for(beside, NULL, quick ? QUICK_MS : CALM_MS, err) : status;
        calm_ms = beside->longest_ms;
        facts_go_on(&process);
        status = status == ST_OK ? run_for(beside, &process, quick ? QUICK_MS : AFTER_MS, err) : status;
        status = status == ST_OK ? facts_read_line(&process, said, sizeof said, err) : status;
        status = status == ST_OK ? facts_read_line(&process, reset, sizeof reset, err) : status;
        facts_end(&process);
    }
    if (status == ST_OK) {
        facts_say(facts, FACT_FAULT_STALL, "%s%s: %.1f ms (before it %.1f ms)",
                  facts->outcome[FACT_FAULT_STALL].figure[0] ? "; " : "", fault_names[fault],
                  beside->longest_ms, calm_ms);
        report(facts, fault, said, reset);
    }
    return status;
}

enum status facts_faults(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    struct beside beside = {.facts = facts, .right = true};
    CUdeviceptr data = 0;
    enum status status = facts_need_kernels(facts, err);
    status = status == ST_OK ? CUDA_TRY(cuda, err, cuMemAlloc, &data, SIZE) : status;
    beside.words = (struct facts_words){.data = data, .count = SIZE / sizeof(uint32_t), .value = VALUE};
    if (status == ST_OK) {
        status =
            facts_launch(facts, FACTS_KERNEL_facts_fill, (struct facts_blocks){facts->sms, FACTS_THREADS, 0},
                         facts->stream, &beside.words, err);
    }
    for (int fault = 0; fault < FACTS_FAULTS && status == ST_OK; fault++) {
        status = measure(&beside, fault, err);
    }
    if (data && !beside.right) {
        facts_say(facts, FACT_FAULT_OTHERS, "no: %s", status == ST_OK ? "a result was wrong" : err->text);
        facts_break(facts, FACT_FAULT_OTHERS);
    } else if (status == ST_OK) {
        facts_say(facts, FACT_FAULT_OTHERS, "yes, after each of %d faults", FACTS_FAULTS);
    }
    if (data) {
        cuda->cuMemFree(data);
    }
    return status;
}
