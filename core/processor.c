/* SPDX-License-Identifier: MIT */
#include "core/processor.h"

#include <string.h>

static enum processor_level limit = PROCESSOR_AVX512_VBMI2;

static bool has_always(void) {
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

static bool has_vbmi2(void) {
    return has_avx512() && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512cd");
}

bool processor_extracts_bits(void) {
    return processor_allows(PROCESSOR_AVX2) && !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}
#else
bool processor_extracts_bits(void) {
    return false;
}
#endif

/* Best first. */
static const struct {
    enum processor_level level;
    const char *name;
    bool (*has)(void);
} known[] = {
#if defined(__x86_64__)
    {PROCESSOR_AVX512_VBMI2, "avx512", has_vbmi2},
    {PROCESSOR_AVX512, "avx512", has_avx512},
    {PROCESSOR_AVX2, "avx2", has_avx2},
#elif defined(__aarch64__)
    {PROCESSOR_NEON, "neon", has_always},
#endif
    {PROCESSOR_BASELINE, "baseline", has_always},
    {PROCESSOR_PLAIN, "plain", has_always},
};

enum { KNOWN = sizeof known / sizeof *known };

enum processor_level processor_level(const char *name) {
    for (unsigned i = 0; i < KNOWN; i++) {
        bool meant = strcmp(name, known[i].name) == 0 || strcmp(name, "auto") == 0;
        if (meant && known[i].has()) {
            return known[i].level;
        }
    }
    return PROCESSOR_NONE;
}

void processor_limit(enum processor_level most) {
    limit = most;
}

bool processor_allows(enum processor_level level) {
    for (unsigned i = 0; i < KNOWN; i++) {
        if (known[i].level == level) {
            return level <= limit && known[i].has();
        }
    }
    return false;
}
