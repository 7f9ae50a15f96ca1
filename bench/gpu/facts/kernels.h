/* SPDX-License-Identifier: MIT
 * What the kernels of kernels.cu take, by value. Both compilers read it. */
#ifndef BLURD_BENCH_GPU_FACTS_KERNELS_H
#define BLURD_BENCH_GPU_FACTS_KERNELS_H

#include <stdint.h>

/* Words of 32 bits, a multiple of 4 of them, and a value that is written or looked for. */
struct facts_words {
    uint64_t data; /* device address, a multiple of 16; shared memory has none */
    uint64_t count;
    uint64_t
        found; /* device address of a number of 64 bits, to which a kernel that looks adds what it finds */
    uint32_t value;
    uint32_t reserved;
};

struct facts_loop {
    uint64_t result; /* device address of a word for each thread */
    uint32_t turns;  /* each of FACTS_CHAINS operations */
    uint32_t value;
};

enum { FACTS_CHAINS = 8 };

/* How a kernel goes wrong. */
enum facts_fault { FAULT_ADDRESS, FAULT_MISALIGNED, FAULT_TRAP, FAULT_ASSERT, FACTS_FAULTS };

struct facts_wrong {
    uint64_t data; /* device address, a multiple of 4 */
    int32_t fault; /* enum facts_fault */
    int32_t reserved;
};

#endif
