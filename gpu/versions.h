/* SPDX-License-Identifier: MIT
 * What the GPU part was built with. versions.c is compiled where the CUDA headers were
 * found, versions_none.c elsewhere; the Makefile picks. */
#ifndef BLURD_GPU_VERSIONS_H
#define BLURD_GPU_VERSIONS_H

/* "cuda 13.0" or "none (CPU-only build)"; constant. */
const char *gpu_build_versions(void);

#endif
