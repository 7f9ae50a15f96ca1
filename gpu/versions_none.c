/* SPDX-License-Identifier: MIT */
#include "gpu/versions.h"

const char *gpu_build_versions(void) {
    return "none (CPU-only build)";
}
