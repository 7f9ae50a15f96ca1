/* SPDX-License-Identifier: MIT
 * Kernels that measure what a GPU and its driver do. kernels.h and hold.cu stand before this text. The driver
 * for tests compiles it for the host, where there are no matrix units and every fault is a trap. */
#ifdef __CUDA_ARCH__
extern __shared__ uint4 block_memory[];
#else
#define assert(condition) __trap()
#endif

static __device__ __forceinline__ uint64_t facts_thread() {
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void facts_fill(const struct facts_words words) {
    uint4 *to = (uint4 *)words.data;
    const uint4 four = make_uint4(words.value, words.value, words.value, words.value);
    for (uint64_t i = facts_thread(); i < words.count / 4; i += (uint64_t)gridDim.x * blockDim.x) {
        to[i] = four;
    }
}

static __device__ __forceinline__ void facts_add(const struct facts_words &words, uint32_t found) {
    if (found > 0) {
        atomicAdd((unsigned long long *)words.found, (unsigned long long)found);
    }
}

extern "C" __global__ void facts_count(const struct facts_words words) {
    const uint4 *from = (const uint4 *)words.data;
    uint32_t found = 0;
    for (uint64_t i = facts_thread(); i < words.count / 4; i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 four = from[i];
        found += (four.x == words.value) + (four.y == words.value) + (four.z == words.value) +
                 (four.w == words.value);
    }
    facts_add(words, found);
}

/* Fills the block's shared memory, as `volatile`: the compiler would leave out stores that are never read. */
extern "C" __global__ void facts_shared_fill(const struct facts_words words) {
    volatile uint32_t *to = (volatile uint32_t *)block_memory;
    for (uint32_t i = threadIdx.x; i < words.count; i += blockDim.x) {
        to[i] = words.value;
    }
}

extern "C" __global__ void facts_shared_count(const struct facts_words words) {
    const volatile uint32_t *from = (const volatile uint32_t *)block_memory;
    uint32_t found = 0;
    for (uint32_t i = threadIdx.x; i < words.count; i += blockDim.x) {
        found += from[i] == words.value;
    }
    facts_add(words, found);
}

extern "C" __global__ void facts_wrong(const struct facts_wrong wrong) {
#ifdef __CUDA_ARCH__
    if (wrong.fault == FAULT_ADDRESS) {
        *(volatile uint32_t *)0x7fff00000000 = 1;
        return;
    }
    if (wrong.fault == FAULT_MISALIGNED) {
        *(volatile uint32_t *)(wrong.data + 1) = 1;
        return;
    }
#endif
    if (wrong.fault == FAULT_ASSERT) {
        assert(wrong.data == 0);
    } else {
        __trap();
    }
}

/* ---- rates: each thread has some independent chains of one operation ---- */

static __device__ __forceinline__ void facts_store(const struct facts_loop &loop, const uint32_t *sum) {
    uint32_t all = 0;
    for (int i = 0; i < FACTS_CHAINS; i++) {
        all ^= sum[i];
    }
    ((uint32_t *)loop.result)[facts_thread()] = all;
}

extern "C" __global__ void facts_multiply(const struct facts_loop loop) {
    uint32_t sum[FACTS_CHAINS], factor = loop.value + threadIdx.x;
    for (int i = 0; i < FACTS_CHAINS; i++) {
        sum[i] = threadIdx.x + i;
    }
    for (uint32_t turn = 0; turn < loop.turns; turn++) {
        for (int i = 0; i < FACTS_CHAINS; i++) {
            sum[i] = sum[i] * factor + loop.value;
        }
    }
    facts_store(loop, sum);
}

extern "C" __global__ void facts_dot(const struct facts_loop loop) {
    uint32_t sum[FACTS_CHAINS], factor = loop.value + threadIdx.x;
    for (int i = 0; i < FACTS_CHAINS; i++) {
        sum[i] = threadIdx.x + i;
    }
    for (uint32_t turn = 0; turn < loop.turns; turn++) {
        for (int i = 0; i < FACTS_CHAINS; i++) {
#ifdef __CUDA_ARCH__
            asm volatile("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum[i]) : "r"(sum[i]), "r"(factor));
#else
            sum[i] += factor;
#endif
        }
    }
    facts_store(loop, sum);
}

/* mma.m16n8k32 of bytes: 4096 multiply-adds of a warp. */
extern "C" __global__ void facts_matrix(const struct facts_loop loop) {
    uint32_t sum[FACTS_CHAINS], row = loop.value + threadIdx.x;
    for (int i = 0; i < FACTS_CHAINS; i++) {
        sum[i] = 0;
    }
    for (uint32_t turn = 0; turn < loop.turns; turn++) {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
#pragma unroll
        for (int i = 0; i < FACTS_CHAINS; i += 4) {
            asm volatile(
                "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
                "{%4, %4}, {%0, %1, %2, %3};"
                : "+r"(sum[i]), "+r"(sum[i + 1]), "+r"(sum[i + 2]), "+r"(sum[i + 3])
                : "r"(row));
        }
#else
        sum[0] += row;
#endif
    }
    facts_store(loop, sum);
}
