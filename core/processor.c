/* SPDX-License-Identifier: MIT */
#include "core/processor.h"

#include <stdint.h>
#include <string.h>

#if PROCESSOR_TILES
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static enum processor_level limit = PROCESSOR_AMX;

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

#if PROCESSOR_TILES
enum {
    LEAF_FEATURES = 7, /* of CPUID: Intel's manual, volume 2 */
    AMX_TILE = 24,     /* bits of EDX */
    AMX_INT8 = 25,
    XCR0_TILES = 3 << 17,        /* the kernel keeps the shapes of tiles and their data */
    REQUEST_PERMISSION = 0x1023, /* ARCH_REQ_XCOMP_PERM: Documentation/arch/x86/xstate.rst of Linux */
    TILE_DATA = 18,
};

static uint32_t enabled_states(void) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); /* AVX-512 implies that it may be used */
    return low;
}

/* The kernel refuses it where a signal stack is too small for tiles. */
static bool has_amx(void) {
    uint32_t a, b, c, d;
    return has_vbmi2() && __get_cpuid_count(LEAF_FEATURES, 0, &a, &b, &c, &d) && d >> AMX_TILE & 1 &&
           d >> AMX_INT8 & 1 && (enabled_states() & XCR0_TILES) == XCR0_TILES &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

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
#if PROCESSOR_TILES
    {PROCESSOR_AMX, "amx", has_amx},
#endif
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
