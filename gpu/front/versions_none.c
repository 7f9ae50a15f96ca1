/* SPDX-License-Identifier: MIT */
#include "gpu/front/versions.h"

#include <stdio.h>

const char *gpu_build_versions(void) {
    return "none (CPU-only build)";
}

void gpu_build_support(char text[GPU_SUPPORT_MAX]) {
    snprintf(text, GPU_SUPPORT_MAX, "CPU only");
}
