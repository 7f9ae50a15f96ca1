/* SPDX-License-Identifier: MIT
 * The CPU backend has every filter and chooses its SIMD level when it is opened. */
#ifndef BLURD_CPU_CPU_H
#define BLURD_CPU_CPU_H

#include "detect/detectors.h"
#include "filters/backend.h"

/* `level` caps the instruction set: "auto" is the best that the processor has; the names are "plain"
 * (portable C), "baseline", on x86-64 "avx2", "avx512" and "amx", on 64-bit ARM "neon". All levels give the
 * same bytes. ST_ARGUMENT for an unknown name or a level that the processor lacks. Closed by backend_close.
 */
enum status cpu_backend_open(const char *level, struct backend **backend, struct error *err);

struct model;

/* Lets the filter `detect` work with a detector, and all others of its network; without a model it fails with
 * ST_UNSUPPORTED. Call it before the first run. The model (NULL: none) must outlive the backend. The first
 * search reads the model and packs its weights, which takes some milliseconds and
 * cpu_backend_network_bytes(); ST_BUSY without that memory. */
void cpu_backend_use_model(struct backend *backend, enum detector_id detector, struct model *model);
size_t cpu_backend_network_bytes(const struct backend *backend, enum detector_id detector);

#endif
