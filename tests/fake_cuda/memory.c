/* SPDX-License-Identifier: MIT
 * The fake driver's memory: blocks of the heap. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/faults.h"

enum {
    HEADER = 256, /* before each block: its size; as the driver's blocks, they are aligned to 256 */
    GUARD = 256,  /* bytes behind each block that must keep their pattern */
    PATTERN = 0xdb,
    MEMORY_DEFAULT = 1 << 30,
    REACHED_MAX = 1024, /* pieces of the host's memory */
};

static size_t memory_used;  /* bytes, those of the pool among them */
static size_t memory_spare; /* bytes that the pool keeps, of blocks that were given back to it */

CUresult cuMemGetInfo(size_t *available, size_t *total) {
    MAY_FAIL("cuMemGetInfo");
    *total = (size_t)fake_setting("FAKE_CUDA_MEMORY", MEMORY_DEFAULT);
    *available = *total - __atomic_load_n(&memory_used, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

static void *allocate(size_t size) {
    size_t whole = (size + GUARD + 2 * HEADER - 1) / HEADER * HEADER;
    uint8_t *memory = aligned_alloc(HEADER, whole);
    if (!memory) {
        return NULL;
    }
    memset(memory, PATTERN, whole);
    memcpy(memory, &size, sizeof size);
    return memory + HEADER;
}

static void release(void *data) {
    size_t size;
    uint8_t *memory = (uint8_t *)data - HEADER;
    memcpy(&size, memory, sizeof size);
    for (size_t i = 0; i < GUARD; i++) {
        if (memory[HEADER + size + i] != PATTERN) {
            fprintf(stderr, "fake_cuda: a write %zu bytes behind a block of %zu bytes\n", i, size);
            abort();
        }
    }
    free(memory);
}

static CUresult take(CUdeviceptr *data, size_t size) {
    size_t limit = (size_t)fake_setting("FAKE_CUDA_MEMORY", MEMORY_DEFAULT);
    void *memory = NULL;
    if (size > 0 && __atomic_add_fetch(&memory_used, size, __ATOMIC_RELAXED) <= limit) {
        memory = allocate(size);
    }
    if (!memory) {
        __atomic_sub_fetch(&memory_used, size, __ATOMIC_RELAXED);
        return size ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    }
    *data = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *data, size_t size) {
    MAY_FAIL("cuMemAlloc");
    return take(data, size);
}

CUresult cuMemsetD8Async(CUdeviceptr data, unsigned char value, size_t size, CUstream stream) {
    MAY_FAIL("cuMemsetD8Async");
    (void)stream;
    memset((void *)(uintptr_t)data, value, size);
    return CUDA_SUCCESS;
}

static size_t size_of(CUdeviceptr data) {
    size_t size;
    memcpy(&size, (uint8_t *)(uintptr_t)data - HEADER, sizeof size);
    return size;
}

CUresult cuMemFree(CUdeviceptr data) {
    MAY_FAIL("cuMemFree");
    __atomic_sub_fetch(&memory_used, size_of(data), __ATOMIC_RELAXED);
    release((void *)(uintptr_t)data);
    return CUDA_SUCCESS;
}

/* The one pool. Its blocks are the heap's, too; what it keeps is only counted. */
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    (void)device;
    MAY_FAIL("cuDeviceGetDefaultMemPool");
    *pool = (CUmemoryPool)(void *)&memory_spare;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    (void)attribute;
    MAY_FAIL("cuMemPoolSetAttribute");
    return pool && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void shrink_pool(size_t kept) {
    size_t spare = __atomic_load_n(&memory_spare, __ATOMIC_RELAXED);
    while (spare > kept && !__atomic_compare_exchange_n(&memory_spare, &spare, kept, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
    __atomic_sub_fetch(&memory_used, spare > kept ? spare - kept : 0, __ATOMIC_RELAXED);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t kept) {
    (void)pool;
    MAY_FAIL("cuMemPoolTrimTo");
    shrink_pool(kept);
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *data, size_t size, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuMemAllocAsync");
    size_t spare = __atomic_load_n(&memory_spare, __ATOMIC_RELAXED);
    shrink_pool(spare > size ? spare - size : 0);
    return take(data, size);
}

CUresult cuMemFreeAsync(CUdeviceptr data, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuMemFreeAsync");
    __atomic_add_fetch(&memory_spare, size_of(data), __ATOMIC_RELAXED);
    release((void *)(uintptr_t)data);
    return CUDA_SUCCESS;
}

/* Memory of the host that the device reaches. */
static struct {
    pthread_mutex_t lock;
    struct {
        uintptr_t at;
        size_t size;
    } range[REACHED_MAX];
} reached = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void reach(const void *memory, size_t size) {
    pthread_mutex_lock(&reached.lock);
    for (unsigned i = 0; i < REACHED_MAX; i++) {
        if (reached.range[i].size == 0) {
            reached.range[i].at = (uintptr_t)memory;
            reached.range[i].size = size;
            break;
        }
    }
    pthread_mutex_unlock(&reached.lock);
}

static void forget(const void *memory) {
    pthread_mutex_lock(&reached.lock);
    for (unsigned i = 0; i < REACHED_MAX; i++) {
        if (reached.range[i].at == (uintptr_t)memory) {
            reached.range[i].size = 0;
        }
    }
    pthread_mutex_unlock(&reached.lock);
}

static bool is_reached(const void *memory) {
    bool found = false;
    pthread_mutex_lock(&reached.lock);
    for (unsigned i = 0; i < REACHED_MAX && !found; i++) {
        found = (uintptr_t)memory - reached.range[i].at < reached.range[i].size;
    }
    pthread_mutex_unlock(&reached.lock);
    return found;
}

CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    MAY_FAIL("cuMemHostAlloc");
    *memory = allocate(size);
    if (*memory) {
        reach(*memory, size);
    }
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory) {
    MAY_FAIL("cuMemFreeHost");
    forget(memory);
    release(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void *memory, size_t size, unsigned flags) {
    (void)flags;
    MAY_FAIL("cuMemHostRegister");
    if (!fake_has_context()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!memory || !size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    reach(memory, size);
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
    MAY_FAIL("cuMemHostUnregister");
    forget(memory);
    return CUDA_SUCCESS;
}

/* With FAKE_CUDA_STRICT=1 only for memory that the device reaches, as a real driver. */
CUresult cuMemHostGetDevicePointer(CUdeviceptr *data, void *memory, unsigned flags) {
    (void)flags;
    MAY_FAIL("cuMemHostGetDevicePointer");
    if (fake_setting("FAKE_CUDA_STRICT", 0) && !is_reached(memory)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *data = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuMemcpyHtoDAsync");
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuMemcpyDtoDAsync");
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuMemcpyDtoHAsync");
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}
