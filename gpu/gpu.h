/* SPDX-License-Identifier: MIT
 * The GPU backend of the front process. An engine process uses the GPUs. It may end at any moment without a
 * request being lost: a run that fails returns ST_DEVICE, the caller uses another backend, and a new engine
 * is started. */
#ifndef BLURD_GPU_GPU_H
#define BLURD_GPU_GPU_H

#include "core/slot.h"
#include "filters/backend.h"

struct gpu_spawner;

enum { GPU_PICTURES = 28 }; /* JPEGs that a GPU works on at the same time: docs/adr/0019 */

struct gpu_options {
    const char *gpus;         /* "all", or numbers: "0,2" */
    const char *format;       /* "auto", "cubin", "ptx", "nvrtc": how kernels are loaded */
    const char *cache_folder; /* for kernels compiled at run time; "": none */
    const char *library;      /* the driver's, "" for the usual one */
    bool single_process;      /* the engine in this process: for debuggers and sanitizers */
    int64_t timeout_ms;       /* a run that takes longer ends the engine */
    bool jpeg;                /* JPEGs may be decoded and encoded by the GPUs, too */
    bool sandbox;             /* engines enter theirs (gpu/engine/engine_sandbox.h) */
    bool sandbox_must;        /* and serve only in it; otherwise an engine that fails in it is replaced by one
                                 without */
    unsigned pictures;        /* JPEGs at the same time on all GPUs; 0: chosen for the best rate */
    struct gpu_spawner *spawner; /* NULL with single_process */
    /* The self-test compares with this backend's pixels, in slots of this pool. */
    struct backend *reference;
    struct slot_pool *slots;
};

/* Whether the loader finds the CUDA driver. A child process looks, so that none of the driver's code runs in
 * this one. Only while the caller has one thread. False where blurd was built without CUDA headers. */
bool gpu_driver_exists(void);

/* Forks the process that will start engines (gpu/front/spawner.h). Only while the caller has one thread.
 * `arguments` are this program's, NULL-terminated: the engine process gets them. `open`: an engine
 * without its sandbox may be asked for, until one has served in it. ST_BUSY without
 * processes, ST_DEVICE where blurd was built without CUDA headers. */
enum status gpu_spawner_fork(struct gpu_spawner **spawner, char *const *arguments, bool open,
                             struct error *err);

/* Ends it, and the engine that may be left. After the backend is closed. NULL is allowed. */
void gpu_spawner_end(struct gpu_spawner *spawner);

/* Returns at once; the engine starts in the background, and serves (backend_state) when its
 * pixels have been found right. ST_DEVICE where blurd was built without CUDA headers. */
enum status gpu_backend_open(const struct gpu_options *options, struct backend **backend, struct error *err);

/* The argument that makes this program an engine process, or one that enters no sandbox, and what it then
 * does instead of serving. Reads gpus, format, cache_folder, library and the sandbox. Does not return. */
#define GPU_ENGINE_ARGUMENT "--engine-process"
#define GPU_OPEN_ENGINE_ARGUMENT "--open-engine-process"
_Noreturn void gpu_engine_main(const struct gpu_options *options);

#endif
