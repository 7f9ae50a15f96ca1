/* SPDX-License-Identifier: MIT */
#include "tests/gpu/poison.h"

#include <stdatomic.h>
#include <stdio.h>

#include "bench/gpu/facts/kernels.h"
#include "gpu/cuda/kernels.h"
#include "gpu/cuda/nvrtc.h"
#include "gpu/stream/buffer.h"

__asm__(".pushsection .rodata\npoison_source:\n.incbin \"bench/gpu/facts/kernels.h\"\n"
        ".incbin \"bench/gpu/hold.cu\"\n.incbin \"bench/gpu/facts/kernels.cu\"\n.byte 0\n.popsection\n");
extern const char poison_source[];

enum { THREADS = 256, IMAGE_MAX = NVRTC_IMAGE_MAX + 1 };
static const char kernel_name[] = "facts_shared_fill";

/* 0, -1, the largest numbers, infinity and no number, and what else a picture may leave. */
static const uint32_t patterns[] = {0x00000000, 0xffffffff, 0xa5a5a5a5, 0x7fffffff, 0x7f800000,
                                    0x00010203, 0x80000000, 0x7fc00000, 0x01010101, 0xdeadbeef};

static struct poison_state {
    const struct cuda *cuda; /* NULL: nothing is poisoned */
    __typeof__(cuLaunchKernel) *launch;
    __typeof__(cuLaunchKernelEx) *launch_extended;
    CUfunction fill;
    unsigned blocks; /* one for each multiprocessor */
    int shared;      /* bytes: all that one has */
    _Atomic unsigned turn, launches, buffers;
} state;

static uint32_t next_pattern(void) {
    return patterns[atomic_fetch_add(&state.turn, 1) % (sizeof patterns / sizeof *patterns)];
}

static CUresult fill_shared(CUstream stream) {
    struct facts_words words = {.count = (uint64_t)state.shared / sizeof(uint32_t), .value = next_pattern()};
    void *parameters[] = {&words};
    atomic_fetch_add(&state.launches, 1);
    return state.launch(state.fill, state.blocks, 1, 1, THREADS, 1, 1, (unsigned)state.shared, stream,
                        parameters, NULL);
}

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
                       void **parameters, void **extra) {
    CUresult result = fill_shared(stream);
    return result == CUDA_SUCCESS ? state.launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                 shared, stream, parameters, extra)
                                  : result;
}

static CUresult launch_extended(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                void **extra) {
    CUresult result = fill_shared(config->hStream);
    return result == CUDA_SUCCESS ? state.launch_extended(config, function, parameters, extra) : result;
}

/* The linker gives this to all who call gpu_buffer_reserve. */
__typeof__(gpu_buffer_reserve) __real_gpu_buffer_reserve, __wrap_gpu_buffer_reserve;

enum status __wrap_gpu_buffer_reserve(struct gpu_buffer *buffer, struct gpu_device *device, CUstream stream,
                                      size_t size, struct error *err) {
    enum status status = __real_gpu_buffer_reserve(buffer, device, stream, size, err);
    if (status != ST_OK || !state.cuda || size == 0) {
        return status;
    }
    atomic_fetch_add(&state.buffers, 1);
    return CUDA_TRY(state.cuda, err, cuMemsetD8Async, buffer->data, (unsigned char)next_pattern(), size,
                    stream);
}

/* ---- opening ---- */

void poison_begin(struct cuda *cuda) {
    cuda->cuGraphCreate = NULL;
}

static enum status compile(const struct cuda *cuda, const struct gpu_device *device, CUmodule *module,
                           struct error *err) {
    struct nvrtc nvrtc;
    struct nvrtc_target target;
    struct buf image;
    buf_init(&image, IMAGE_MAX);
    enum status status = nvrtc_open(&nvrtc, NULL, cuda->version / 1000, err);
    if (status == ST_OK) {
        status = nvrtc_choose(&nvrtc, device->major * 10 + device->minor, &target, err);
    }
    if (status == ST_OK) {
        status = nvrtc_compile(&nvrtc, poison_source, target, &image, err);
    }
    status = status == ST_OK ? buf_append(&image, "", 1, err) : status;
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuModuleLoadData, module, image.data);
    }
    buf_finish(&image);
    return status;
}

enum status poison_open(struct cuda *cuda, const struct gpu_device *device, struct error *err) {
    CUmodule module = device->program.module;
    int sms = 0;
    enum status status = ST_OK;
    if (cuda->cuModuleGetFunction(&state.fill, module, kernel_name) != CUDA_SUCCESS) {
        status = compile(cuda, device, &module, err);
        status = status == ST_OK ? CUDA_TRY(cuda, err, cuModuleGetFunction, &state.fill, module, kernel_name)
                                 : status;
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                          device->device);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &state.shared,
                          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device->device);
    }
    state.blocks = (unsigned)sms;
    state.shared = state.shared > KERNEL_SHARED_MAX ? state.shared : KERNEL_SHARED_MAX;
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuFuncSetAttribute, state.fill,
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, state.shared);
    }
    if (status == ST_OK) {
        state.cuda = cuda;
        state.launch = cuda->cuLaunchKernel;
        state.launch_extended = cuda->cuLaunchKernelEx;
        cuda->cuLaunchKernel = launch;
        cuda->cuLaunchKernelEx = state.launch_extended ? launch_extended : NULL;
    }
    return status;
}

void poison_report(void) {
    if (state.cuda) {
        printf("poison before %u launches, in %u reservations of memory\n", atomic_load(&state.launches),
               atomic_load(&state.buffers));
    }
}
