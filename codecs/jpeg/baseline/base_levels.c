/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/baseline/base_level.h"

static bool have_always(void) {
    return true;
}

#if defined(__x86_64__)
static bool have_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
}

static bool have_avx512(void) {
    return have_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512vbmi2");
}
#endif

void base_levels(const struct base_level *level[BASE_LEVELS_MAX + 1]) {
    static const struct {
        const struct base_level *level;
        bool (*available)(void);
    } levels[] = {
#if defined(__x86_64__)
        {&base_level_avx512, have_avx512},
        {&base_level_avx2, have_avx2},
#elif defined(__aarch64__)
        {&base_level_neon, have_always},
#endif
        {&base_level_baseline, have_always},
        {&base_level_plain, have_always},
    };
    unsigned count = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (levels[i].available()) {
            level[count++] = levels[i].level;
        }
    }
    level[count] = NULL;
}
