/* SPDX-License-Identifier: MIT */
#include "bench/gpu/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/bytes.h"

static void *need(void *memory) {
    if (!memory) {
        give_up("no memory");
    }
    return memory;
}

/* ---- content ---- */

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 24;
}

static uint8_t sample(double value, uint32_t grain) {
    value += (double)(grain % 16) - 8;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Soft waves, a grid of hard edges, grain. */
static void draw(const struct plane *plane, unsigned seed) {
    uint32_t random = seed * 2654435761u + 1;
    uint32_t edge = 40 + seed * 7;
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = plane_row(plane, y);
        double wave = 60 * sin((double)y / (37 + seed));
        for (uint32_t x = 0; x < plane->width; x++) {
            double value = 120 + wave + 50 * ((double)x / plane->width) + (x / edge + y / edge) % 2 * 40.0;
            for (unsigned c = 0; c < plane->channels; c++) {
                *row++ = sample(value - 30.0 * c, next_random(&random));
            }
        }
    }
}

static void pack(uint8_t *packed, const struct image *image) {
    const struct plane *plane = &image->plane[0];
    size_t size = plane_row_bytes(plane, image->depth);
    for (uint32_t y = 0; y < plane->height; y++) {
        memcpy(packed + y * size, plane_row(plane, y), size);
    }
}

/* ---- memory ---- */

static struct image place(const struct image *layout, uint8_t *memory) {
    struct image image = *layout;
    image_place(&image, memory);
    return image;
}

static CUdeviceptr device_memory(struct bench *bench, size_t size) {
    struct error err = {0};
    CUdeviceptr data = 0;
    must(CUDA_TRY(&bench->cuda, &err, cuMemAlloc, &data, size), &err);
    return data;
}

static void upload(struct bench *bench, CUdeviceptr to, const void *from, size_t size) {
    struct error err = {0};
    must(CUDA_TRY(&bench->cuda, &err, cuMemcpyHtoDAsync, to, from, size, bench->stream.handle), &err);
    must(CUDA_TRY(&bench->cuda, &err, cuStreamSynchronize, bench->stream.handle), &err);
}

static void create_packed(struct bench *bench, struct pictures *made) {
    made->packed_size = plane_row_bytes(&made->source[0].plane[0], made->shape.depth) * made->shape.height;
    size_t each = (made->packed_size + 255) / 256 * 256;
    made->packed = device_memory(bench, 2 * PICTURES * each);
    for (unsigned i = 0; i < PICTURES; i++) {
        made->pageable_source[i] = need(malloc(made->packed_size));
        made->pageable_target[i] = need(calloc(1, made->packed_size));
        made->packed_source[i] = made->packed + 2 * i * each;
        made->packed_target[i] = made->packed_source[i] + each;
        pack(made->pageable_source[i], &made->source[i]);
        upload(bench, made->packed_source[i], made->pageable_source[i], made->packed_size);
    }
}

struct pictures *pictures_create(struct bench *bench, const struct image_shape *shape, size_t room) {
    struct pictures *made = need(calloc(1, sizeof *made));
    struct image layout;
    struct error err = {0};
    made->shape = *shape;
    made->size = image_layout(&layout, shape);
    made->size = bytes_align_up(made->size > room ? made->size : room, IMAGE_ALIGNMENT);
    size_t shared = 2 * PICTURES * made->size;
    made->memory = mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(made->memory == MAP_FAILED ? NULL : made->memory);
    must(CUDA_TRY(&bench->cuda, &err, cuMemHostRegister, made->memory, shared, CU_MEMHOSTREGISTER_PORTABLE),
         &err);
    made->device = device_memory(bench, shared);
    for (unsigned i = 0; i < PICTURES; i++) {
        size_t at = 2 * i * made->size;
        made->source[i] = place(&layout, made->memory + at);
        made->target[i] = place(&layout, made->memory + at + made->size);
        made->expected[i] = place(&layout, need(aligned_alloc(IMAGE_ALIGNMENT, made->size)));
        made->device_source[i] = place(&layout, (uint8_t *)(uintptr_t)(made->device + at));
        made->device_target[i] = place(&layout, (uint8_t *)(uintptr_t)(made->device + at + made->size));
        for (unsigned p = 0; p < layout.plane_count; p++) {
            draw(&made->source[i].plane[p], i * 3 + p);
        }
        upload(bench, made->device + at, made->memory + at, made->size);
    }
    if (shape->model == PIXEL_RGB) {
        create_packed(bench, made);
    }
    return made;
}

void pictures_destroy(struct bench *bench, struct pictures *pictures) {
    bench->cuda.cuMemFree(pictures->device);
    if (pictures->packed) {
        bench->cuda.cuMemFree(pictures->packed);
    }
    for (unsigned i = 0; i < PICTURES; i++) {
        free(pictures->expected[i].plane[0].data);
        free(pictures->pageable_source[i]);
        free(pictures->pageable_target[i]);
    }
    bench->cuda.cuMemHostUnregister(pictures->memory);
    munmap(pictures->memory, 2 * PICTURES * pictures->size);
    free(pictures);
}

bool pictures_download(struct bench *bench, struct pictures *pictures) {
    struct error err = {0};
    enum status status = ST_OK;
    for (unsigned i = 0; i < PICTURES && status == ST_OK; i++) {
        CUdeviceptr from = pictures->device + (2 * i + 1) * pictures->size;
        status = CUDA_TRY(&bench->cuda, &err, cuMemcpyDtoHAsync, pictures->target[i].plane[0].data, from,
                          pictures->size, bench->stream.handle);
    }
    must(CUDA_TRY(&bench->cuda, &err, cuStreamSynchronize, bench->stream.handle), &err);
    return status == ST_OK;
}

/* ---- comparison ---- */

static bool same_plane(const struct plane *a, const struct plane *b, unsigned depth) {
    bool same = true;
    for (uint32_t y = 0; y < a->height; y++) {
        same = same && memcmp(plane_row(a, y), plane_row(b, y), plane_row_bytes(a, depth)) == 0;
    }
    return same;
}

bool pictures_equal(struct pictures *pictures) {
    bool same = true;
    for (unsigned i = 0; i < PICTURES; i++) {
        const struct image *target = &pictures->target[i];
        for (unsigned p = 0; p < target->plane_count; p++) {
            same = same && same_plane(&target->plane[p], &pictures->expected[i].plane[p], target->depth);
        }
        memset(target->plane[0].data, 0xa5, pictures->size);
    }
    return same;
}

bool pictures_within_one(const struct pictures *pictures) {
    size_t row = plane_row_bytes(&pictures->expected[0].plane[0], pictures->shape.depth);
    for (unsigned i = 0; i < PICTURES; i++) {
        for (size_t at = 0; at < pictures->packed_size; at++) {
            uint8_t wanted = plane_row(&pictures->expected[i].plane[0], (uint32_t)(at / row))[at % row];
            if (abs(wanted - pictures->pageable_target[i][at]) > 1) {
                return false;
            }
        }
    }
    return true;
}
