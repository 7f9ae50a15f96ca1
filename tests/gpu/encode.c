/* SPDX-License-Identifier: MIT
 * The GPU's encoder of JPEGs: its bytes equal those of the CPU's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "gpu/jpeg/encode.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"

enum { ROOM = 64 << 20, FAILURES_SHOWN = 10 };

enum content { NOISE, SMOOTH, FLAT, EXTREMES, CONTENTS };

static unsigned directly;

static void paint_plane(struct check *check, const struct plane *plane, enum content content) {
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            uint8_t of[CONTENTS] = {(uint8_t)check_random(check), (uint8_t)(20 + (x * 2 + y) / 3 % 200), 99,
                                    (x / 8 + y / 8) % 2 || (x * y) % 7 == 3 ? 255 : 0};
            row[x] = of[content];
        }
    }
}

static size_t by_gpu(struct check *check, const struct image *image, CUdeviceptr data, uint8_t quality,
                     uint8_t *output) {
    const struct cuda *cuda = &check->cuda;
    struct gpu_encode *encode = &check->jpeg.encode;
    struct gpu_stream *stream = &check->jpeg.stream;
    struct error err = {0};
    struct image placed = *image;
    image_place(&placed, (uint8_t *)(uintptr_t)data);
    const struct gpu_encode_job job = {.image = &placed, .room = ROOM, .quality = quality};
    must(gpu_encode_reserve(encode, stream, &placed, output, ROOM, &err), &err);
    must(gpu_encode_begin(encode, stream, &job, &err), &err);
    must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream->handle), &err);
    size_t size;
    must(gpu_encode_end(encode, ROOM, &size, &err), &err);
    directly += gpu_encode_is_direct(encode);
    if (!gpu_encode_is_direct(encode)) {
        must(gpu_encode_fetch(encode, stream, output, size, &err), &err);
        must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream->handle), &err);
    }
    return size;
}

/* In turn: where the driver has memory registered, in the middle of it, and where it does not. */
static uint8_t *next_output(struct check *check) {
    static uint8_t *registered, *plain;
    static unsigned turn;
    struct error err = {0};
    if (!registered) {
        registered = aligned_alloc(IMAGE_ALIGNMENT, 2 * ROOM);
        plain = malloc(ROOM);
        must(CUDA_TRY(&check->cuda, &err, cuMemHostRegister, registered, 2 * (size_t)ROOM,
                      CU_MEMHOSTREGISTER_PORTABLE),
             &err);
    }
    turn++;
    return turn % 3 == 0 ? plain : registered + turn * 997 % ROOM;
}

static void check_one(struct check *check, struct image_shape shape, uint32_t width, uint32_t height,
                      enum content content, uint8_t quality) {
    uint8_t *output = next_output(check);
    struct image image;
    struct error err = {0};
    CUdeviceptr data = 0;
    shape.width = width;
    shape.height = height;
    size_t size = image_layout(&image, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    memset(memory, 0x5a, size);
    image_place(&image, memory);
    for (unsigned p = 0; p < image.plane_count; p++) {
        paint_plane(check, &image.plane[p], content);
    }
    must(CUDA_TRY(&check->cuda, &err, cuMemAlloc, &data, size), &err);
    must(CUDA_TRY(&check->cuda, &err, cuMemcpyHtoDAsync, data, memory, size, check->jpeg.stream.handle),
         &err);
    size_t found = by_gpu(check, &image, data, quality, output);
    must(CUDA_TRY(&check->cuda, &err, cuMemFree, data), &err);
    const struct encode_options options = {.quality = quality};
    struct buf file;
    buf_init(&file, ROOM);
    must(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err), &err);
    bool good = found == file.size && memcmp(output, file.data, found) == 0;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf(
            "  FAILED: encoding, model %d, chroma %u %u, %ux%u, content %d, quality %u: %zu bytes, not %zu\n",
            shape.model, shape.chroma_shift_x, shape.chroma_shift_y, width, height, content, quality, found,
            file.size);
    }
    buf_finish(&file);
    free(memory);
}

void check_encode(struct check *check, bool quick) {
    static const uint32_t sizes[][2] = {{1, 1},     {7, 9},       {17, 33},   {61, 45},
                                        {333, 211}, {1920, 1080}, {16, 5000}, {4001, 1003}};
    for (size_t m = 0; m < JPEG_PICTURES_SHAPES; m++) {
        for (size_t s = 0; s < COUNT(sizes) - (quick ? 3 : 0); s++) {
            for (enum content content = 0; content < CONTENTS; content++) {
                check_one(check, jpeg_pictures_shape[m], sizes[s][0], sizes[s][1], content, 85);
                check_one(check, jpeg_pictures_shape[m], sizes[s][0], sizes[s][1], content,
                          content % 2 ? 100 : 30);
            }
        }
    }
    for (uint8_t quality = 1; quality <= 100; quality++) {
        check_one(check, jpeg_pictures_shape[quality % JPEG_PICTURES_SHAPES], 203, 131, quality % CONTENTS,
                  quality);
    }
    printf("  %u files were written to the host's memory by the kernels\n", directly);
    check_report(check, "encoding");
}
