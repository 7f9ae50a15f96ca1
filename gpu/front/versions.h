/* SPDX-License-Identifier: MIT
 * What the GPU part was built with. versions.c is compiled where the CUDA headers were
 * found, versions_none.c elsewhere; the Makefile picks. */
#ifndef BLURD_GPU_FRONT_VERSIONS_H
#define BLURD_GPU_FRONT_VERSIONS_H

/* "cuda 13.0" or "none (CPU-only build)"; constant. */
const char *gpu_build_versions(void);

/* Writes which GPUs this program serves: "cuda 13.0; kernels for sm_75, sm_80, compute_75", where compute_75
 * is PTX, from which drivers make code for all later ones; "cuda 13.0; no kernels, NVRTC compiles them at the
 * start"; or "CPU only". */
enum { GPU_SUPPORT_MAX = 160 };
void gpu_build_support(char text[GPU_SUPPORT_MAX]);

#endif
