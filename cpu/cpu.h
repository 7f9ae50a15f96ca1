/* SPDX-License-Identifier: MIT
 * The CPU backend has every filter and chooses its SIMD level when it is opened. */
#ifndef BLURD_CPU_CPU_H
#define BLURD_CPU_CPU_H

#include "filters/backend.h"

/* `level` caps the instruction set: "auto" is the best that the processor has; the names are "plain"
 * (portable C), "baseline", on x86-64 "avx2" and "avx512", on 64-bit ARM "neon". All levels give the same
 * bytes. ST_ARGUMENT for an unknown name or a level that the processor lacks. Closed by backend_close. */
enum status cpu_backend_open(const char *level, struct backend **backend, struct error *err);

#endif
