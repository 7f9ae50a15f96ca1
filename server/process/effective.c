/* SPDX-License-Identifier: MIT */
#include "server/process/effective.h"

#include <string.h>

#include "config/cores.h"
#include "config/gpus.h"
#include "config/memory.h"
#include "core/tuned.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "server/http/loop.h"
#include "server/http/watchdog.h"

enum { ENTROPY_DECODES_MAX = 512 }; /* each is a thread */

bool effective_gpu(const struct config *config) {
    if (strcmp(config->gpus, "all") != 0 || config->cuda_library[0]) {
        return strcmp(config->gpus, "none") != 0;
    }
    return gpus_hint(config->gpus, "/dev") > 0 || gpu_driver_exists();
}

unsigned effective_gpu_concurrency(const struct config *config) {
    bool wanted = config->jpeg_codec != CHOICE_jpeg_codec_cpu && strcmp(config->gpus, "none") != 0;
    unsigned usual =
        config->gpu_pictures ? config->gpu_pictures : TUNED_GPU_PICTURES * gpus_hint(config->gpus, "/dev");
    return wanted ? usual : 0;
}

unsigned effective_entropy_decodes(const struct config *config, unsigned gpu_concurrency) {
    bool own = config->jpeg_library == CHOICE_jpeg_library_own;
    unsigned usual = TUNED_GPU_ENTROPY_DECODES * gpu_concurrency < ENTROPY_DECODES_MAX
                         ? TUNED_GPU_ENTROPY_DECODES * gpu_concurrency
                         : ENTROPY_DECODES_MAX;
    return own && config->jpeg_codec != CHOICE_jpeg_codec_cpu ? usual : 0;
}

/* The name of the backend ends with the level, as in cpu/avx2. */
static enum status pick_level(struct config *effective, struct error *err) {
    struct backend *cpu;
    enum status status = cpu_backend_open(config_choice_name(effective->cpu_level), &cpu, err);
    if (status != ST_OK) {
        return status;
    }
    for (unsigned i = CHOICE_cpu_level_baseline; i <= CHOICE_cpu_level_neon; i++) {
        if (strcmp(strchr(cpu->name, '/') + 1, config_choice_name((enum config_choice)i)) == 0) {
            effective->cpu_level = (enum config_choice)i;
        }
    }
    backend_close(cpu);
    return ST_OK;
}

enum status effective_config(const struct config *config, struct config *effective, struct error *err) {
    unsigned cores = cores_usable();
    *effective = *config;
    effective->workers = config->workers ? config->workers : cores;
    effective->event_threads = loop_threads(config->event_threads, cores);
    effective->connections_soft = watchdog_limits_of(config, config->connections, false).soft;
    effective->memory = memory_budget(config->memory);
    effective->gpu_pictures = effective_gpu_concurrency(config);
    return pick_level(effective, err);
}
