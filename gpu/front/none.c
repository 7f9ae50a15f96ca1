/* SPDX-License-Identifier: MIT
 * Replaces the GPU backend in builds without the CUDA headers. */
#include <stdlib.h>

#include "gpu/gpu.h"

enum status gpu_backend_open(const struct gpu_options *options, struct backend **backend, struct error *err) {
    (void)options, (void)backend;
    return fail(err, ST_DEVICE, "built without CUDA headers: the CPU does all the work");
}

enum status gpu_spawner_fork(struct gpu_spawner **spawner, char *const *arguments, bool open,
                             struct error *err) {
    (void)spawner, (void)arguments, (void)open;
    return gpu_backend_open(NULL, NULL, err);
}

bool gpu_driver_exists(void) {
    return false;
}

void gpu_spawner_end(struct gpu_spawner *spawner) {
    (void)spawner;
}

void gpu_engine_main(const struct gpu_options *options) {
    (void)options;
    _Exit(1);
}
