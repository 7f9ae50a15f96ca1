/* SPDX-License-Identifier: MIT */
#include "gpu/front/versions.h"

#include <stdio.h>

const char *gpu_versions_text(void) {
    return "none (CPU-only build)";
}

void gpu_versions_support(char text[GPU_SUPPORT_MAX]) {
    snprintf(text, GPU_SUPPORT_MAX, "CPU only");
}
