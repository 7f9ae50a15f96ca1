/* SPDX-License-Identifier: MIT
 * Other processes with a context of their own. They say a line for each thing that they have done, and wait
 * for one before they go on:
 *
 *     start N PATH    times of cuInit, of a context and of a second one; N: number of connections, or `unset`
 *     load - PATH     time of loading that module
 *     fill HOW PATH   fills device memory and shared memory with FACTS_OTHER, until it is told to end;
 * `quick`: less fault N PATH    launches a kernel that goes wrong: enum facts_fault */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/gpu/facts/child.h"
#include "core/clock.h"

enum { LINE_MS = 20000, END_MS = 5000, IMAGE_MAX = 4 << 20 };

/* ---- in the process that measures ---- */

static bool start(struct facts_process *process, char *const *arguments, int in, int out) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int error = posix_spawn(&process->pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0;
}

enum status facts_spawn(struct facts *facts, const char *kind, const char *argument, const char *name,
                        struct facts_process *process, struct error *err) {
    char path[FACTS_PATH + 16];
    snprintf(path, sizeof path, "%s/%s", facts->folder, name);
    const char *const arguments[] = {"blurd-bench", FACTS_CHILD, kind, argument, path, NULL};
    int to[2], from[2];
    *process = (struct facts_process){.pid = -1, .to = -1, .from = -1};
    if (pipe2(to, O_CLOEXEC) != 0) {
        return fail(err, ST_BUSY, "no pipe");
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        close(to[0]);
        close(to[1]);
        return fail(err, ST_BUSY, "no pipe");
    }
    bool started = start(process, (char *const *)(uintptr_t)arguments, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    process->to = to[1];
    process->from = from[0];
    if (!started) {
        process->pid = -1;
        facts_end(process);
        return fail(err, ST_BUSY, "cannot start a process");
    }
    return ST_OK;
}

static bool is_readable(const struct facts_process *process, int ms) {
    struct pollfd wanted = {.fd = process->from, .events = POLLIN};
    return poll(&wanted, 1, ms) == 1;
}

bool facts_has_line(const struct facts_process *process) {
    return is_readable(process, 0);
}

enum status facts_read_line(const struct facts_process *process, char *line, size_t size, struct error *err) {
    size_t used = 0;
    bool whole = false;
    while (!whole && used + 1 < size && is_readable(process, LINE_MS) &&
           read(process->from, line + used, 1) == 1) {
        whole = line[used] == '\n';
        used += !whole;
    }
    line[used] = '\0';
    if (!whole) {
        return fail(err, ST_DEVICE, "the other process said nothing");
    }
    return strncmp(line, "FAILED ", 7) == 0 ? fail(err, ST_DEVICE, "%s", line + 7) : ST_OK;
}

void facts_go_on(const struct facts_process *process) {
    /* One that has ended is noticed when it says nothing. */
    ssize_t written = write(process->to, "\n", 1);
    (void)written;
}

void facts_end(struct facts_process *process) {
    if (process->to >= 0) {
        close(process->to); /* it reads the end, and ends */
        int64_t begin = clock_ns();
        while (process->pid > 0 && waitpid(process->pid, NULL, WNOHANG) == 0) {
            if (facts_ms_since(begin) > END_MS) {
                kill(process->pid, SIGKILL);
            }
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        close(process->from);
    }
    *process = (struct facts_process){.pid = -1, .to = -1, .from = -1};
}

/* ---- in the other process ---- */

bool facts_child_wait(void) {
    char byte;
    fflush(stdout);
    return read(STDIN_FILENO, &byte, 1) == 1;
}

enum status facts_child_open(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    struct gpu_device *device = &facts->bench->device;
    enum status status = CUDA_TRY(cuda, err, cuDeviceGet, &device->device, 0);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDevicePrimaryCtxRetain, &device->context, device->device);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuCtxSetCurrent, device->context) : status;
}

static enum status read_image(const char *path, struct buf *image, struct error *err) {
    FILE *file = fopen(path, "re");
    enum status status = file ? buf_reserve(image, IMAGE_MAX, err) : fail(err, ST_DEVICE, "no kernels");
    if (status == ST_OK) {
        image->size = fread(image->data, 1, IMAGE_MAX, file);
    }
    if (file) {
        fclose(file);
    }
    return status;
}

enum status facts_child_load(struct facts *facts, const char *path, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    struct buf image;
    buf_init(&image, IMAGE_MAX);
    enum status status = read_image(path, &image, err);
    if (status == ST_OK) {
        status = facts_load(facts, image.data, err);
    }
    buf_finish(&image);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuStreamCreate, &facts->stream, CU_STREAM_NON_BLOCKING);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuMemAlloc, &facts->found, sizeof(uint64_t)) : status;
}

static enum status load(struct facts *facts, const char *argument, const char *path, struct error *err) {
    (void)argument;
    enum status status = facts_child_open(facts, err);
    if (status == ST_OK) {
        status = facts_child_load(facts, path, err);
    }
    if (status == ST_OK) {
        printf("%f\n", facts->load_ms);
    }
    return status;
}

int facts_child(const char *library, char **argv) {
    static const struct {
        const char *name;
        enum status (*run)(struct facts *facts, const char *argument, const char *path, struct error *err);
    } kinds[] = {{"start", facts_child_start},
                 {"load", load},
                 {"fill", facts_child_fill},
                 {"fault", facts_child_fault}};
    static struct bench bench;
    static struct facts facts = {.bench = &bench};
    struct error err = {0};
    bench.library = library;
    enum status status = fail(&err, ST_INTERNAL, "no such kind");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, argv[0]) == 0) {
            bool opens = kinds[i].run == facts_child_start; /* by itself, and takes the time */
            status = opens ? ST_OK : cuda_open(&bench.cuda, library, &err);
            status = status == ST_OK ? kinds[i].run(&facts, argv[1], argv[2], &err) : status;
        }
    }
    if (status != ST_OK) {
        printf("FAILED %s\n", err.text);
    }
    fflush(stdout);
    _exit(status == ST_OK
              ? 0
              : 1); /* without the driver's end, for which a GPU that has faulted may not be fit */
}
