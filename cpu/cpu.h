/* SPDX-License-Identifier: MIT
 * The CPU backend: every filter, always. SIMD is chosen when it is opened. */
#ifndef BLURD_CPU_CPU_H
#define BLURD_CPU_CPU_H

#include "filters/backend.h"

/* Opens the backend. `level` caps the instruction set: "auto" for the best that this
 * processor has, else the name of a level: "plain", "baseline", on x86-64 "avx2" and "avx512",
 * on 64-bit ARM "neon" (plain is for comparison and for other architectures); ST_ARGUMENT for
 * an unknown name or one that the processor lacks. All levels give the same bytes. End it with backend_close.
 */
enum status cpu_backend_open(const char *level, struct backend **backend, struct error *err);

#endif
