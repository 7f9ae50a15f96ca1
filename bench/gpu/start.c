/* SPDX-License-Identifier: MIT
 * Cold start: from the first line of main to the end of the first blur, in a fresh process each
 * time, by the way in which the kernels come. */
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/gpu/bench.h"
#include "core/clock.h"
#include "gpu/filters/filters.h"

enum { SKIPPED = 77, REPETITIONS_MAX = 7, WIDTH = 64, HEIGHT = 48 };

/* One way of starting. PTX is translated by the driver, which has a cache on disk of its own. */
static const struct way {
    const char *name, *format;
    bool cached;       /* NVRTC's outcome is kept on disk by us, and was there before */
    bool driver_cache; /* PTX's by the driver */
} ways[] = {
    {"CUBIN, embedded", "cubin", false, false},
    {"PTX, embedded", "ptx", false, false},
    {"PTX, embedded, driver's cache", "ptx", false, true},
    {"NVRTC", "nvrtc", false, false},
    {"NVRTC, our cache", "nvrtc", true, false},
};

enum column { DRIVER, CONTEXT, COMPILE, LOAD, MEANS, LAUNCH, TOTAL, PROCESS, COLUMNS };
enum { WAYS = sizeof ways / sizeof *ways };

struct start {
    double ms[COLUMNS];
    char how[48];
};

/* ---- the process that is measured ---- */

static struct image place(const struct image *layout, CUdeviceptr data) {
    struct image image = *layout;
    image_place(&image, (uint8_t *)(uintptr_t)data);
    return image;
}

struct child {
    struct cuda cuda;
    struct gpu_device device;
    struct gpu_stream stream;
    struct chain chain;
    struct image source, target;
};

static enum status prepare(struct child *child, struct error *err) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = WIDTH, .height = HEIGHT};
    const struct blur_arguments arguments = {.sigma = 1.5};
    struct image layout;
    CUdeviceptr data = 0;
    size_t size = image_layout(&layout, &shape);
    enum status status = gpu_stream_init(&child->stream, &child->device, err);
    if (status == ST_OK) {
        status = CUDA_TRY(&child->cuda, err, cuMemAlloc, &data, 2 * size);
    }
    child->source = place(&layout, data);
    child->target = place(&layout, data + size);
    return status == ST_OK ? chain_append(&child->chain, filter_get(FILTER_BLUR), &arguments, &shape, err)
                           : status;
}

static enum status first_blur(struct child *child, struct error *err) {
    enum status status =
        gpu_blur(&child->stream, &child->chain.step[0].blur, &child->source, &child->target, err);
    return status == ST_OK ? CUDA_TRY(&child->cuda, err, cuStreamSynchronize, child->stream.handle) : status;
}

static enum module_format format_named(const char *name) {
    return strcmp(name, "cubin") == 0 ? MODULE_CUBIN : strcmp(name, "ptx") == 0 ? MODULE_PTX : MODULE_NVRTC;
}

/* Opens the device as gpu_device_open does, without the program. */
static enum status open_context(struct child *child, struct error *err) {
    const struct cuda *cuda = &child->cuda;
    struct gpu_device *device = &child->device;
    device->cuda = cuda;
    const struct {
        int *value;
        CUdevice_attribute attribute;
    } facts[] = {{&device->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
                 {&device->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR}};
    enum status status = CUDA_TRY(cuda, err, cuDeviceGet, &device->device, 0);
    for (int i = 0; i < 2 && status == ST_OK; i++) {
        status =
            CUDA_TRY(cuda, err, cuDeviceGetAttribute, facts[i].value, facts[i].attribute, device->device);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDevicePrimaryCtxSetFlags, device->device, CU_CTX_SCHED_BLOCKING_SYNC);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDevicePrimaryCtxRetain, &device->context, device->device);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuCtxSetCurrent, device->context) : status;
}

static enum status load_program(struct child *child, const char *format, const char *cache_folder,
                                struct error *err) {
    struct gpu_device *device = &child->device;
    const struct program_options options = {.format = format_named(format), .cache_folder = cache_folder};
    return program_load(&device->program, &child->cuda, device->major, device->minor, &options, err);
}

int bench_start_child(const char *library, const char *format, const char *cache_folder) {
    static struct child child;
    int64_t at[6] = {clock_ns()};
    struct error err = {0};
    enum status status = cuda_open(&child.cuda, library, &err);
    at[1] = clock_ns();
    if (status != ST_OK) {
        fprintf(stderr, "blurd-bench: nothing to measure here: %s\n", err.text);
        return SKIPPED;
    }
    must(open_context(&child, &err), &err);
    at[2] = clock_ns();
    must(load_program(&child, format, cache_folder, &err), &err);
    at[3] = clock_ns();
    must(prepare(&child, &err), &err);
    at[4] = clock_ns();
    must(first_blur(&child, &err), &err);
    at[5] = clock_ns();
    int64_t load = child.device.program.load_ns;
    printf("%lld %lld %lld %lld %lld %lld %lld %s\n", (long long)(at[1] - at[0]), (long long)(at[2] - at[1]),
           (long long)(at[3] - at[2] - load), (long long)load, (long long)(at[4] - at[3]),
           (long long)(at[5] - at[4]), (long long)(at[5] - at[0]), child.device.program.how);
    fflush(stdout);
    _exit(0); /* without the driver's shutdown, which no request waits for */
}

/* ---- the process that measures ---- */

static bool read_line(int fd, char *line, size_t size) {
    size_t used = 0;
    ssize_t got = 1;
    while (used + 1 < size && (got = read(fd, line + used, size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    line[used] = '\0';
    return used > 0;
}

static bool spawn(const char *argument, const struct way *way, const char *cache, int out, pid_t *pid) {
    char *const arguments[] = {(char[]){"blurd-bench"}, (char *)(uintptr_t)argument,
                               (char *)(uintptr_t)way->format, (char *)(uintptr_t)(way->cached ? cache : ""),
                               NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    setenv("CUDA_CACHE_DISABLE", way->driver_cache ? "0" : "1", 1);
    int error = posix_spawn(pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0;
}

/* 0, or the status with which the process ended. */
static int measure(const char *argument, const struct way *way, const char *cache, struct start *start) {
    int ends[2];
    int code = 1;
    pid_t pid;
    char line[256] = "";
    long long ns[7];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        give_up("no pipe");
    }
    int64_t begin = clock_ns();
    if (!spawn(argument, way, cache, ends[1], &pid)) {
        give_up("cannot start myself");
    }
    close(ends[1]);
    bool said = read_line(ends[0], line, sizeof line);
    waitpid(pid, &code, 0);
    start->ms[PROCESS] = clock_ns_to_ms(clock_ns() - begin);
    close(ends[0]);
    if (!said || sscanf(line, "%lld %lld %lld %lld %lld %lld %lld %47[^\n]", &ns[0], &ns[1], &ns[2], &ns[3],
                        &ns[4], &ns[5], &ns[6], start->how) != 8) {
        return WIFEXITED(code) && WEXITSTATUS(code) ? WEXITSTATUS(code) : 1;
    }
    for (int i = 0; i < 7; i++) {
        start->ms[i] = (double)ns[i] / 1e6;
    }
    return 0;
}

static void print_row(const struct way *way, struct start *starts, unsigned count) {
    printf("| %s | %s |", way->name, starts[0].how);
    for (int c = 0; c < COLUMNS; c++) {
        double values[REPETITIONS_MAX];
        for (unsigned i = 0; i < count; i++) {
            values[i] = starts[i].ms[c];
        }
        printf(" %.*f |", c == LOAD || c == MEANS || c == LAUNCH ? 2 : 1, quantile(values, count, 0.5));
    }
    printf("\n");
}

static void remove_folder(const char *folder) {
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory) {
        closedir(directory);
    }
    rmdir(folder);
}

void bench_start(struct bench *bench, const char *argument) {
    static struct start starts[WAYS][REPETITIONS_MAX];
    char cache[] = "/tmp/blurd-bench-XXXXXX";
    unsigned repetitions = bench->quick ? 2 : REPETITIONS_MAX;
    int failed[WAYS] = {0};
    if (!mkdtemp(cache)) {
        give_up("no temporary folder");
    }
    for (unsigned r = 0; r <= repetitions; r++) { /* the first fills caches, and does not count */
        for (unsigned w = 0; w < WAYS && !failed[0]; w++) {
            struct start *start = &starts[w][r ? r - 1 : 0];
            failed[w] = failed[w] ? failed[w] : measure(argument, &ways[w], cache, start);
        }
    }
    remove_folder(cache);
    unsetenv("CUDA_CACHE_DISABLE");
    if (failed[0] == SKIPPED) {
        exit(SKIPPED); /* the child has said why */
    }
    printf("\n### Cold start\n\nMilliseconds from `main` to the end of the first blur (64x48), a fresh "
           "process each "
           "time, median of %u.\n`process`: from fork to its end, as the parent sees it. Compile with NVRTC "
           "includes "
           "opening it.\n\n",
           repetitions);
    printf(
        "| kernels come as | used | driver init | context | compile | load | stream, memory | first launch | "
        "total | process |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (unsigned w = 0; w < WAYS; w++) {
        if (failed[w]) {
            printf("| %s | failed |||||||||\n", ways[w].name);
        } else {
            print_row(&ways[w], starts[w], repetitions);
        }
    }
}
