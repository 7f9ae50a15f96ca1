/* SPDX-License-Identifier: MIT */
#include "codecs/processor.h"

#if defined(__x86_64__)
static unsigned find(void) {
    unsigned found = 0;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
        found |= PROCESSOR_AVX2;
    }
    if (found && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni")) {
        found |= PROCESSOR_AVX512;
    }
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512cd")) {
        found |= PROCESSOR_VBMI2;
    }
    return found;
}
#else
static unsigned find(void) {
    return 0;
}
#endif

bool processor_has(unsigned needs) {
    return (needs & ~find()) == 0;
}
