/* SPDX-License-Identifier: MIT
 * The GPU backend of the front process. An engine process uses the GPUs and may end at any moment without
 * losing a request: a failed run returns ST_DEVICE, the caller uses another backend, and a new engine
 * starts. */
#ifndef BLURD_GPU_GPU_H
#define BLURD_GPU_GPU_H

#include "core/slot.h"
#include "detect/model.h"
#include "filters/backend.h"

struct gpu_spawner;

/* A job of the self-test: from file to file, from a file to pixels, or from pixels to a file. */
struct gpu_sample {
    struct transcode job; /* without `picture` */
    struct chain chain;   /* job.chain and job.mask point to these, */
    struct transcode_mask mask;
    struct bytes expected; /* and this is what the CPU makes, a file or a picture without padding */
};

/* Makes sample `number`, from 0, in memory of the slot, by the reference's lane. ST_NOTHING after the last
 * one; any other failure leaves JPEGs to the CPU. */
typedef enum status gpu_sample_maker(unsigned number, struct lane *reference, struct slot *slot,
                                     struct gpu_sample *sample, struct error *err);

struct gpu_options {
    const char *gpus;            /* "all", or numbers: "0,2" */
    const char *format;          /* "auto", "cubin", "ptx", "nvrtc": how kernels are loaded */
    const char *cache_folder;    /* for kernels compiled at run time; "": no cache */
    const char *library;         /* path of the driver; "": the system's */
    struct model_paths models;   /* without a detector's, GPUs do not search with it */
    bool single_process;         /* runs the engine in this process, for debuggers and sanitizers */
    int64_t timeout_ms;          /* that a run gets at least; one that takes longer ends the engine */
    int64_t work_timeout_ms;     /* of a request; a run gets half of it at most (gpu/front/link.h) */
    bool jpeg;                   /* GPUs also decode and encode JPEGs */
    bool sandbox;                /* engines enter their sandbox (gpu/engine/engine_sandbox.h) */
    bool sandbox_must;           /* never falls back to an engine without a sandbox */
    unsigned pictures;           /* JPEGs in progress on all GPUs; 0: chosen for the best rate */
    struct gpu_spawner *spawner; /* NULL with single_process */
    /* The self-test expects the pixels of this backend, in slots of this pool. */
    struct backend *reference;
    struct slot_pool *slots;
    gpu_sample_maker *sample; /* with `jpeg`; NULL: JPEGs are not tested */
};

/* Whether the loader finds the CUDA driver. A child process looks, so that no driver code runs in this one.
 * The caller must have one thread. False in builds without CUDA headers. */
bool gpu_driver_exists(void);

/* Forks the process that starts engines (gpu/front/spawner.h). The caller must have one thread. `arguments`
 * are this program's, NULL-terminated; the engine gets them. `open` permits an engine without a sandbox until
 * one has served inside its sandbox. ST_BUSY without processes, ST_DEVICE in builds without CUDA headers. */
enum status gpu_spawner_fork(struct gpu_spawner **spawner, char *const *arguments, bool open,
                             struct error *err);

/* Ends the spawner and any running engine. Close the backend first. NULL is allowed. */
void gpu_spawner_end(struct gpu_spawner *spawner);

/* Returns at once. The engine starts in the background and serves (backend_state) after it has passed the
 * self-test. ST_DEVICE in builds without CUDA headers. */
enum status gpu_backend_open(const struct gpu_options *options, struct backend **backend, struct error *err);

/* With one of these arguments the program runs gpu_engine_main, inside a sandbox or without one. It reads
 * gpus, format, cache_folder, library, models and the sandbox options. */
#define GPU_ENGINE_ARGUMENT "--engine-process"
#define GPU_OPEN_ENGINE_ARGUMENT "--open-engine-process"
_Noreturn void gpu_engine_main(const struct gpu_options *options);

#endif
