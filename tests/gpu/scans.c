/* SPDX-License-Identifier: MIT
 * Progressive JPEGs that the device reads (gpu/jpeg/progressive.h), beside the CPU's reader: many in one
 * launch, intact and damaged ones together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "gpu/jpeg/progressive.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"
#include "tests/unit/core/coefficients_fixture.h"

enum {
    FAILURES_SHOWN = 10,
    DAMAGED = 3 /* of each intact file */,
    ROUNDS = 8,
    QUICK_ROUNDS = 2,
    VERDICT_ROOM = 256
};

static const struct codec_limits limits = {
    .max_pixels = 1 << 28, .max_side = 1 << 15, .max_scans = 100, .max_memory = 1 << 30};

/* A picture of a launch. */
struct reading {
    struct buf file;
    struct image_shape shape;
    struct progressive_source source;
    uint8_t *room; /* pinned: what is packed, and behind it the verdict */
    CUdeviceptr room_device, memory;
};

static volatile uint32_t *verdict_of(const struct reading *reading) {
    return (volatile uint32_t *)(void *)(reading->room + progressive_room());
}

/* ---- files ---- */

/* A picture of any shape and quality. */
static struct buf make_file(struct check *check, struct image_shape *shape, bool quick) {
    unsigned side = quick ? 300 : 2000;
    *shape = jpeg_pictures_shape[check_below(check, JPEG_PICTURES_SHAPES)];
    shape->width = 1 + check_below(check, side);
    shape->height = 1 + check_below(check, check_below(check, 4) == 0 ? 20 : side);
    struct jpeg_picture painted = jpeg_pictures_own(shape);
    jpeg_pictures_paint(check, &painted.image);
    struct buf file = jpeg_pictures_progressive(&painted.image, 20 + check_below(check, 76));
    free(painted.memory);
    return file;
}

static void damage(struct check *check, struct buf *file) {
    size_t at = file->size / 8 + check_below(check, (unsigned)(file->size * 7 / 8 - 2));
    if (check_below(check, 2)) {
        file->data[at] ^= (uint8_t)(1U << check_below(check, 8));
    } else {
        size_t count = file->size - 2 - at < 64 ? file->size - 2 - at : 64;
        memset(file->data + at, check_below(check, 2) ? 0 : (int)check_below(check, 255), count);
    }
}

/* ---- memory ---- */

static void own(struct check *check, struct reading *reading) {
    const struct cuda *cuda = &check->cuda;
    struct error err = {0};
    void *room = NULL;
    must(CUDA_TRY(cuda, &err, cuMemHostAlloc, &room, progressive_room() + VERDICT_ROOM,
                  CU_MEMHOSTALLOC_DEVICEMAP),
         &err);
    must(CUDA_TRY(cuda, &err, cuMemHostGetDevicePointer, &reading->room_device, room, 0), &err);
    reading->room = room;
}

static void disown(struct check *check, struct reading *reading) {
    check->cuda.cuMemFreeHost(reading->room);
    buf_finish(&reading->file);
    *reading = (struct reading){0};
}

/* False for a file that is refused. */
static bool prepare(struct check *check, struct reading *reading) {
    struct error err = {0};
    enum status status = progressive_parse(buf_bytes(&reading->file), &reading->shape, reading->room,
                                           progressive_room(), &reading->source, &err);
    if (status != ST_OK) {
        return false;
    }
    *verdict_of(reading) = PROGRESSIVE_PENDING;
    must(CUDA_TRY(&check->cuda, &err, cuMemAlloc, &reading->memory, reading->source.memory), &err);
    return true;
}

/* ---- values ---- */

/* Whether the CPU reads the same. */
static bool same_values(struct check *check, const struct reading *reading) {
    const struct coefficients_layout *layout = &reading->source.layout;
    const size_t size = (size_t)layout->blocks * COEFFICIENTS_BLOCK * sizeof(int16_t);
    struct error err = {0};
    int16_t *values = malloc(size);
    uint8_t *memory =
        aligned_alloc(IMAGE_ALIGNMENT, bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT));
    must(CUDA_TRY(&check->cuda, &err, cuMemcpyDtoHAsync, values, reading->memory, size,
                  check->jpeg.stream.handle),
         &err);
    must(CUDA_TRY(&check->cuda, &err, cuStreamSynchronize, check->jpeg.stream.handle), &err);
    bool same = jpeg_coefficients_read(buf_bytes(&reading->file), &limits, &reading->shape,
                                       reading->source.plain, memory, &err) == ST_OK;
    same = same && coefficients_are_same(layout, &reading->shape, jpeg_coefficients_in(memory, layout).values,
                                         values);
    free(memory);
    free(values);
    return same;
}

/* ---- launches ---- */

struct counts {
    unsigned intact, damaged, refused;
};

static void judge(struct check *check, struct reading *reading, bool whole, struct counts *counts) {
    uint32_t verdict = *verdict_of(reading);
    bool intact = verdict == PROGRESSIVE_INTACT, right = intact ? same_values(check, reading) : !whole;
    right = right && verdict != PROGRESSIVE_PENDING;
    counts->intact += intact;
    counts->damaged += verdict == PROGRESSIVE_DAMAGED;
    check->passed += right;
    check->failed += !right;
    if (!right && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: scans, model %d, chroma %u %u, %ux%u, %s: verdict %u\n", reading->shape.model,
               reading->shape.chroma_shift_x, reading->shape.chroma_shift_y, reading->shape.width,
               reading->shape.height, whole ? "whole" : "damaged", verdict);
    }
    check->cuda.cuMemFree(reading->memory);
}

static void one_launch(struct check *check, bool quick, struct counts *counts) {
    static struct reading readings[PROGRESSIVE_PICTURES];
    struct progressive_picture pictures[PROGRESSIVE_PICTURES];
    struct error err = {0};
    unsigned parsed[PROGRESSIVE_PICTURES], count = 0;
    for (unsigned i = 0; i < PROGRESSIVE_PICTURES; i++) {
        own(check, &readings[i]);
        readings[i].file = make_file(check, &readings[i].shape, quick);
        if (i % (1 + DAMAGED) != 0) {
            damage(check, &readings[i].file);
        }
        if (prepare(check, &readings[i])) {
            pictures[count] = (struct progressive_picture){readings[i].room_device, readings[i].memory,
                                                           readings[i].room_device + progressive_room()};
            parsed[count++] = i;
        } else {
            counts->refused++;
            check->failed += i % (1 + DAMAGED) == 0 && readings[i].file.size <= PROGRESSIVE_FILE_MAX;
        }
    }
    must(progressive_begin(&check->jpeg.stream, pictures, count, &err), &err);
    must(CUDA_TRY(&check->cuda, &err, cuStreamSynchronize, check->jpeg.stream.handle), &err);
    for (unsigned i = 0; i < count; i++) {
        judge(check, &readings[parsed[i]], parsed[i] % (1 + DAMAGED) == 0, counts);
    }
    for (unsigned i = 0; i < PROGRESSIVE_PICTURES; i++) {
        disown(check, &readings[i]);
    }
}

void check_scans(struct check *check, bool quick) {
    struct counts counts = {0};
    for (unsigned i = 0; i < (quick ? QUICK_ROUNDS : ROUNDS); i++) {
        one_launch(check, quick, &counts);
    }
    printf("  progressive files: %u intact, %u damaged, %u refused before\n", counts.intact, counts.damaged,
           counts.refused);
    check_report(check, "scans");
}
