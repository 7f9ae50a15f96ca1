/* SPDX-License-Identifier: MIT
 * Starts of processes, contexts and modules. This process has a context meanwhile, as other workers of a GPU
 * do. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/facts/child.h"
#include "core/clock.h"
#include "core/tuned.h"

enum { ROUNDS_MAX = 3, TIMES = 3 };

/* ---- the process that starts ---- */

/* cuInit before cuda_open, which chooses the number of connections where the environment does not. */
static enum status init(const char *library, double *ms, struct error *err) {
    void *driver = dlopen(library ? library : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    /* Only cuGetProcAddress is sure to be there. */
    __typeof__(cuInit) *function = NULL;
    void *address = driver ? dlsym(driver, "cuInit") : NULL;
    memcpy(&function, &address, sizeof function);
    *ms = -1;
    if (!driver) {
        return fail(err, ST_DEVICE, "no CUDA driver");
    }
    if (function) {
        int64_t begin = clock_ns();
        CUresult result = function(0);
        *ms = facts_ms_since(begin);
        return result == CUDA_SUCCESS ? ST_OK : fail(err, ST_DEVICE, "cuInit: %d", (int)result);
    }
    return ST_OK;
}

enum status facts_child_start(struct facts *facts, const char *argument, const char *path,
                              struct error *err) {
    struct cuda *cuda = &facts->bench->cuda;
    double ms[TIMES] = {-1, -1, -1};
    CUcontext second = NULL;
    (void)path;
    enum status status = init(facts->bench->library, &ms[0], err);
    if (status == ST_OK) {
        status = cuda_open(cuda, facts->bench->library, err);
    }
    if (strcmp(argument, "unset") == 0) {
        unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    }
    int64_t begin = clock_ns();
    status = status == ST_OK ? facts_child_open(facts, err) : status;
    ms[1] = facts_ms_since(begin);
    facts_find_more(facts);
    if (status == ST_OK && facts->more.context_create) {
        printf("%f %f\n", ms[0], ms[1]);
        facts_child_wait();
        begin = clock_ns();
        status = cuda_check(cuda, facts->more.context_create(&second, 0, facts->bench->device.device),
                            "cuCtxCreate", err);
        ms[2] = facts_ms_since(begin);
    } else if (status == ST_OK) {
        printf("%f %f\n", ms[0], ms[1]);
        facts_child_wait();
    }
    if (status == ST_OK) {
        printf("%f\n", ms[2]);
    }
    return status;
}

/* ---- the process that measures ---- */

struct start_times {
    double ms[TIMES]; /* of cuInit, a context, a second one; -1: not measured */
    double mib;
};

static enum status free_memory(const struct facts *facts, size_t *bytes, struct error *err) {
    size_t all;
    return CUDA_TRY(&facts->bench->cuda, err, cuMemGetInfo, bytes, &all);
}

static enum status ask(struct facts *facts, const struct facts_process *process, size_t before,
                       struct start_times *times, struct error *err) {
    char line[128];
    size_t after = before;
    enum status status = facts_read_line(process, line, sizeof line, err);
    if (status == ST_OK && sscanf(line, "%lf %lf", &times->ms[0], &times->ms[1]) != 2) {
        status = fail(err, ST_DEVICE, "not two times: %s", line);
    }
    if (status == ST_OK) {
        status = free_memory(facts, &after, err);
    }
    facts_go_on(process);
    if (status == ST_OK) {
        status = facts_read_line(process, line, sizeof line, err);
    }
    times->mib = ((double)before - (double)after) / (1 << 20);
    times->ms[2] = status == ST_OK ? strtod(line, NULL) : -1;
    return status;
}

static enum status start_one(struct facts *facts, const char *connections, struct start_times *times,
                             struct error *err) {
    struct facts_process process;
    size_t before = 0;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
    if (strcmp(connections, "unset") == 0) {
        unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    }
    enum status status = free_memory(facts, &before, err);
    if (status == ST_OK) {
        status = facts_spawn(facts, "start", connections, "cubin", &process, err);
    }
    if (status == ST_OK) {
        status = ask(facts, &process, before, times, err);
        facts_end(&process);
    }
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", TUNED_GPU_CONNECTIONS, 1);
    return status;
}

static enum status start_all(struct facts *facts, struct error *err) {
    static const char *const connections[] = {"1", "unset", "8", TUNED_GPU_CONNECTIONS, "32"};
    unsigned rounds = facts->bench->quick ? 1 : ROUNDS_MAX;
    struct start_times usual = {0};
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++) {
        double ms[TIMES][ROUNDS_MAX];
        struct start_times times;
        for (unsigned r = 0; r < rounds; r++) {
            enum status status = start_one(facts, connections[i], &times, err);
            if (status != ST_OK) {
                return status;
            }
            for (int t = 0; t < TIMES; t++) {
                ms[t][r] = times.ms[t];
            }
        }
        for (int t = 0; t < TIMES; t++) {
            times.ms[t] = quantile(ms[t], rounds, 0.5);
        }
        usual = strcmp(connections[i], TUNED_GPU_CONNECTIONS) == 0 ? times : usual;
        facts_say(facts, FACT_CONTEXT, "%s%s: %.0f ms", i ? ", " : "", connections[i], times.ms[1]);
    }
    if (usual.ms[0] >= 0) {
        facts_say(facts, FACT_INIT, "%.0f ms", usual.ms[0]);
    }
    if (usual.ms[2] >= 0) {
        facts_say(facts, FACT_CONTEXT_SECOND, "%.0f ms with " TUNED_GPU_CONNECTIONS " connections",
                  usual.ms[2]);
    }
    facts_say(facts, FACT_CONTEXT_MEMORY, "%.0f MiB with " TUNED_GPU_CONNECTIONS " connections", usual.mib);
    return ST_OK;
}

static enum status load_one(struct facts *facts, const char *name, double *ms, struct error *err) {
    struct facts_process process;
    char line[128];
    enum status status = facts_spawn(facts, "load", "-", name, &process, err);
    if (status == ST_OK) {
        status = facts_read_line(&process, line, sizeof line, err);
        *ms = status == ST_OK ? strtod(line, NULL) : -1;
        facts_end(&process);
    }
    return status;
}

static enum status load_all(struct facts *facts, struct error *err) {
    double cubin, ptx, cached;
    char cache[FACTS_PATH + 16];
    snprintf(cache, sizeof cache, "%s/cache", facts->folder);
    setenv("CUDA_CACHE_PATH", cache, 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    enum status status = load_one(facts, "cubin", &cubin, err);
    if (status == ST_OK) {
        status = load_one(facts, "ptx", &ptx, err);
    }
    setenv("CUDA_CACHE_DISABLE", "0", 1);
    for (int i = 0; i < 2 && status == ST_OK; i++) { /* the first fills the cache */
        status = load_one(facts, "ptx", &cached, err);
    }
    unsetenv("CUDA_CACHE_DISABLE");
    unsetenv("CUDA_CACHE_PATH");
    if (status == ST_OK) {
        facts_say(facts, FACT_MODULE,
                  "machine code: %.2f ms, PTX: %.1f ms, PTX from the driver's cache: %.2f ms", cubin, ptx,
                  cached);
    }
    return status;
}

/* The same PTX, which says that it is of version 9.9. */
static enum status load_newer(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    char *version = strstr((char *)facts->ptx.data, "\n.version ");
    const char *name = "no error";
    CUmodule module = NULL;
    if (!version) {
        return fail(err, ST_DEVICE, "the PTX has no version");
    }
    memcpy(version, "\n.version 9.9", 13);
    CUresult result = cuda->cuModuleLoadData(&module, facts->ptx.data);
    if (result == CUDA_SUCCESS) {
        cuda->cuModuleUnload(module);
    } else {
        cuda->cuGetErrorName(result, &name);
    }
    facts_say(facts, FACT_MODULE_NEWER, "%s", name);
    return ST_OK;
}

enum status facts_start(struct facts *facts, struct error *err) {
    enum status status = start_all(facts, err);
    if (status == ST_OK) {
        status = facts_need_kernels(facts, err);
    }
    if (status == ST_OK) {
        status = load_all(facts, err);
    }
    return status == ST_OK ? load_newer(facts, err) : status;
}
