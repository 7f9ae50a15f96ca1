/* SPDX-License-Identifier: MIT */
#include "gpu/engine/entropy_decode.h"

#include <stdatomic.h>

enum {
    VERDICT_ROOM = 256,      /* bytes of pinned memory behind a packed file */
    MEMORY_USUAL = 12 << 20, /* bytes of device memory; for larger pictures it doubles */
    MEMORY_PARTS = 512,      /* of the device's share: a usual reading takes no more than one */
};

static volatile uint32_t *verdict_of(const struct entropy_decode *reading) {
    return (volatile uint32_t *)(void *)(reading->room + progressive_room());
}

static enum status open_room(struct entropy_decode *reading, struct gpu_device *device, struct error *err) {
    const struct cuda *cuda = device->cuda;
    void *room = NULL;
    if (reading->room) {
        return ST_OK;
    }
    hang_detector_slow_begin(&device->detector);
    enum status status = CUDA_TRY(cuda, err, cuMemHostAlloc, &room, progressive_room() + VERDICT_ROOM,
                                  CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
    hang_detector_slow_end(&device->detector);
    if (status != ST_OK) {
        return status;
    }
    status = CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &reading->room_device, room, 0);
    if (status != ST_OK) {
        cuda->cuMemFreeHost(room);
        return status;
    }
    reading->room = room;
    return ST_OK;
}

enum status entropy_decode_parse(struct entropy_decode *reading, struct gpu_device *device, struct bytes file,
                                 const struct image_shape *shape, struct error *err) {
    reading->err = (struct error){0};
    enum status status = open_room(reading, device, err);
    if (status == ST_OK) {
        status = progressive_parse(file, shape, reading->room, progressive_room(), &reading->source, err);
    }
    if (status == ST_OK && reading->source.memory > ENTROPY_DECODE_MEMORY_MAX) {
        return fail(err, ST_UNSUPPORTED, "the picture is too large for the reader of scans");
    }
    if (status == ST_OK) {
        *verdict_of(reading) = PROGRESSIVE_PENDING;
    }
    return status;
}

/* Few sizes exist: without a pool, exchanging memory for a larger one waits for all kernels. */
static size_t size_of(const struct entropy_decode *reading, const struct gpu_device *device) {
    size_t part = device->memory_share / MEMORY_PARTS + 1, size = part < MEMORY_USUAL ? part : MEMORY_USUAL;
    while (size < reading->source.memory) {
        size *= 2;
    }
    return size;
}

enum status entropy_decode_reserve(struct entropy_decode *reading, struct gpu_device *device,
                                   CUstream stream) {
    size_t size = size_of(reading, device), own = reading->memory.size;
    size_t others = atomic_load(&device->memory_kept) - own;
    if (size > own && others + size > device->memory_share / 4 * 3) {
        return fail(&reading->err, ST_BUSY, "the device's memory is in use");
    }
    return gpu_buffer_reserve(&reading->memory, device, stream, size, &reading->err);
}

struct progressive_picture entropy_decode_picture(const struct entropy_decode *reading) {
    return (struct progressive_picture){.input = reading->room_device,
                                        .memory = reading->memory.data,
                                        .verdict = reading->room_device + progressive_room()};
}

enum progressive_verdict entropy_decode_verdict(const struct entropy_decode *reading) {
    return (enum progressive_verdict) * verdict_of(reading);
}

void entropy_decode_finish(struct entropy_decode *reading, struct gpu_device *device) {
    gpu_buffer_finish(&reading->memory, device);
    if (reading->room) {
        device->cuda->cuMemFreeHost(reading->room);
    }
    reading->room = NULL;
}
