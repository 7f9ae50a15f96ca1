/* SPDX-License-Identifier: MIT
 * The instruction sets that this process may use: the processor must have them, and the option --cpu-level
 * may exclude the later ones. */
#ifndef BLURD_CORE_PROCESSOR_H
#define BLURD_CORE_PROCESSOR_H

#include <stdbool.h>

/* Whether compilers know AMX, which multiplies tiles of bytes. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<amxint8intrin.h>) || __has_include(<amxintrin.h>) /* GCC, clang */
#define PROCESSOR_TILES 1
#endif
#endif
#ifndef PROCESSOR_TILES
#define PROCESSOR_TILES 0
#endif

/* Each level includes those before it, where the processor's kind has them. */
enum processor_level {
    PROCESSOR_NONE,
    PROCESSOR_PLAIN,        /* loops without vectors: a reference for tests */
    PROCESSOR_BASELINE,     /* what every processor of this kind has: SSE2 on x86-64 */
    PROCESSOR_NEON,         /* 64-bit ARM */
    PROCESSOR_AVX2,         /* with BMI1 and BMI2 */
    PROCESSOR_AVX512,       /* F, BW, VL, DQ and VNNI */
    PROCESSOR_AVX512_VBMI2, /* and VBMI, VBMI2 and CD; its name is that of PROCESSOR_AVX512 */
    PROCESSOR_AMX,          /* and AMX-TILE and AMX-INT8, which the kernel lets this process use */
};

/* Returns the level of that name ("plain", "baseline", "neon", "avx2", "avx512", "amx"), or for "auto" the
 * highest one, which this processor has; PROCESSOR_NONE when it lacks it. The limit has no influence.
 * "auto" and "amx" ask the kernel for AMX, which processes that are forked later inherit, and programs that
 * they execute do not. Thread-safe. */
enum processor_level processor_level(const char *name);

/* Sets the limit of this process, which processes that it forks later inherit. Without a call there is no
 * limit. Not thread-safe: to be called before other threads start. */
void processor_limit(enum processor_level most);

/* Whether the processor has the level and the limit permits it. Thread-safe. */
bool processor_allows(enum processor_level level);

/* Whether BMI2's pext and pdep are allowed and quick: Zen 1 and 2 take a hundred cycles for one. Thread-safe.
 */
bool processor_extracts_bits(void);

#endif
