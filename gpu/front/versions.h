/* SPDX-License-Identifier: MIT
 * Describes the build of the GPU part. The Makefile picks versions.c or versions_none.c. */
#ifndef BLURD_GPU_FRONT_VERSIONS_H
#define BLURD_GPU_FRONT_VERSIONS_H

/* "cuda 13.0" or "none (CPU-only build)". The string is constant. */
const char *gpu_versions_text(void);

/* Writes which GPUs this program supports: "cuda 13.0; kernels for sm_75, sm_80, compute_75", where
 * compute_75 is PTX, which drivers compile for all later GPUs; "cuda 13.0; no kernels, NVRTC compiles them at
 * the start"; or "CPU only". */
enum { GPU_SUPPORT_MAX = 160 };
void gpu_versions_support(char text[GPU_SUPPORT_MAX]);

#endif
