/* SPDX-License-Identifier: MIT
 * The kernel that gpu/jpeg/progressive/progressive.c launches: a block of threads for each picture. */
#include "gpu/jpeg/progressive/progressive_dc.cuh"
#include "gpu/jpeg/progressive/progressive_first.cuh"
#include "gpu/jpeg/progressive/progressive_join.cuh"
#include "gpu/jpeg/progressive/progressive_more.cuh"

/* Copies the packed file from the host's memory, and sets the values to 0. */
static __device__ __forceinline__ void progressive_prepare(const struct progressive_picture &picture,
                                                           struct progressive_shared &shared) {
    const uint32_t thread = threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
    const uint4 *from = (const uint4 *)picture.input;
    const struct progressive_head &packed = *(const struct progressive_head *)picture.input;
    const uint32_t size = packed.size / sizeof(uint4);
    const uint32_t zeros = packed.blocks * (PROGRESSIVE_BLOCK_BYTES / (uint32_t)sizeof(uint4));
    uint4 *copy = (uint4 *)(picture.memory + packed.copy), *values = (uint4 *)picture.memory;
#pragma unroll 4
    for (uint32_t i = thread; i < size; i += KERNEL_PROGRESSIVE_THREADS) {
        copy[i] = from[i];
    }
#pragma unroll 4
    for (uint32_t i = thread; i < zeros; i += KERNEL_PROGRESSIVE_THREADS) {
        values[i] = make_uint4(0, 0, 0, 0);
    }
    if (thread < KERNEL_PROGRESSIVE_SCANS) {
        shared.progress[thread] = 0;
    }
    if (thread < KERNEL_PROGRESSIVE_PLACES) {
        shared.place[thread] = packed.place[thread];
    }
    if (thread == 0) {
        shared.damaged = 0;
    }
}

static __device__ __forceinline__ struct progressive_warp
progressive_warp_of(const struct progressive_picture &picture, struct progressive_shared &shared) {
    const struct progressive_head &packed = *(const struct progressive_head *)picture.input;
    const struct progressive_desk &desk = shared.desk[threadIdx.y];
    uint32_t tables = shared_address(&shared + 1) + KERNEL_PROGRESSIVE_LOOK_BYTES - 1;
    struct progressive_warp warp;
    warp.head = (const struct progressive_head *)(picture.memory + packed.copy);
    warp.values = (uint8_t *)picture.memory;
    warp.notes = (uint64_t *)(picture.memory + packed.notes);
    warp.shared = &shared;
    warp.look = (tables / KERNEL_PROGRESSIVE_LOOK_BYTES + threadIdx.y) * KERNEL_PROGRESSIVE_LOOK_BYTES;
    warp.ring = shared_address(desk.ring);
    warp.zeros = shared_address(desk.zeros);
    warp.fresh = shared_address(desk.fresh);
    warp.places = shared_address(shared.place);
    return warp;
}

static __device__ __forceinline__ bool progressive_read_scan(const struct progressive_warp &warp,
                                                             uint32_t number) {
    const struct progressive_scan &scan = warp.head->scan[number];
    switch (scan.kind) {
    case PROGRESSIVE_DC_FIRST:
        return progressive_read_dc(warp, number);
    case PROGRESSIVE_AC_FIRST:
        return progressive_read_first(warp, number);
    default:
        return scan.kept ? progressive_read_more<true>(warp, number)
                         : progressive_read_more<false>(warp, number);
    }
}

/* Reads the warp's scans. Nothing waits for a damaged one. */
static __device__ __forceinline__ void progressive_read(const struct progressive_warp &warp) {
    for (uint32_t i = 0; i < warp.head->listed[threadIdx.y]; i++) {
        uint32_t number = warp.head->list[threadIdx.y][i];
        if (!progressive_read_scan(warp, number)) {
            progressive_tell(warp.shared->damaged, 1);
            __threadfence_block(); /* another warp that goes on sees it */
            progressive_tell(warp.shared->progress[number], ~0u);
        }
    }
}

static __device__ __forceinline__ void progressive_picture_of(const struct progressive_picture &picture) {
    struct progressive_shared &shared = *(struct progressive_shared *)block_memory;
    progressive_prepare(picture, shared);
    __syncthreads();
    const struct progressive_warp warp = progressive_warp_of(picture, shared);
    progressive_read(warp);
    __syncthreads();
    bool damaged = shared.damaged != 0;
    if (!damaged) {
        progressive_join(warp);
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence_system();
        *(volatile uint32_t *)picture.verdict = damaged ? PROGRESSIVE_DAMAGED : PROGRESSIVE_INTACT;
    }
}

extern "C" __global__ void __launch_bounds__(KERNEL_PROGRESSIVE_THREADS, 4)
    read_scans(const __grid_constant__ struct progressive_pass pass) {
    progressive_picture_of(pass.picture[blockIdx.x]);
}
