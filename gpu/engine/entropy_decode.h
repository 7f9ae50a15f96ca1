/* SPDX-License-Identifier: MIT
 * The memory in which a device reads the scans of one file after another, for gpu/engine/entropy_decoder.h:
 * pinned memory for the packed file and the kernel's verdict, and device memory. Not thread-safe. Inside the
 * engine process only. */
#ifndef BLURD_GPU_ENGINE_ENTROPY_DECODE_H
#define BLURD_GPU_ENGINE_ENTROPY_DECODE_H

#include <semaphore.h>

#include "gpu/jpeg/progressive.h"

enum { ENTROPY_DECODE_MEMORY_MAX = 64 << 20 /* bytes of device memory that a picture may need */ };

/* All zero at first. */
struct entropy_decode {
    struct entropy_decode *next; /* in one of the reader's lists */
    struct progressive_source source;
    struct gpu_buffer memory; /* the values come first: core/jpeg/coefficients.h, without the head */
    uint8_t *room;            /* pinned memory; NULL: not taken yet */
    CUdeviceptr room_device;
    struct error err; /* why the device has not read the file */
    sem_t over;       /* posted by the reader's thread */
};

/* Parses and packs the file, and sets the verdict to PROGRESSIVE_PENDING. Takes the pinned memory at the
 * first use, since many readings may never be used. ST_UNSUPPORTED from progressive_parse, and for a picture
 * beyond ENTROPY_DECODE_MEMORY_MAX; ST_BUSY and ST_DEVICE from the driver. */
enum status entropy_decode_parse(struct entropy_decode *reading, struct gpu_device *device, struct bytes file,
                                 const struct image_shape *shape, struct error *err);

/* Reserves device memory on the stream. All readings together leave a quarter of the device's share to the
 * streams that do the rest. Stores ST_BUSY or ST_DEVICE in reading->err, too. */
enum status entropy_decode_reserve(struct entropy_decode *reading, struct gpu_device *device,
                                   CUstream stream);

/* Describes the file and the memory to the kernel. */
struct progressive_picture entropy_decode_picture(const struct entropy_decode *reading);

enum progressive_verdict entropy_decode_verdict(const struct entropy_decode *reading);

/* Frees the memory. */
void entropy_decode_finish(struct entropy_decode *reading, struct gpu_device *device);

#endif
