/* SPDX-License-Identifier: MIT
 * Answers that keep blocks of their file: the encoder's kernels beside the CPU's jpeg_patch, to the byte. The
 * host uploads coefficients, samples and mask, so no other kernels are needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "filters/mask/mask_plan.h"
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/jpeg_header.h"
#include "tests/gpu/check.h"
#include "tests/gpu/jpeg_pictures.h"

enum { ROOM = JPEG_PICTURES_ROOM, FAILURES_SHOWN = 10 };

enum cover { NOTHING, ONE_PIXEL, LAST_PIXEL, RECTANGLE, SPARSE, EVERYTHING, COVERS };

/* A file, and what changes in it. */
struct patch_case {
    struct check *check;
    struct image_shape shape;
    struct buf file;
    struct jpeg_picture result, mask;
};

static void cover_rect(const struct patch_case *patch, uint32_t x, uint32_t y, uint32_t width,
                       uint32_t height) {
    const struct plane *plane = &patch->mask.image.plane[0];
    for (uint32_t row = y; row < y + height && row < plane->height; row++) {
        for (uint32_t column = x; column < x + width && column < plane->width; column++) {
            plane_row(plane, row)[column] = (uint8_t)(1 + check_below(patch->check, 255));
        }
    }
}

/* The padding of the mask says nothing. */
static void draw_mask(const struct patch_case *patch, enum cover cover) {
    struct check *check = patch->check;
    uint32_t width = patch->shape.width, height = patch->shape.height;
    uint32_t x = check_below(check, width), y = check_below(check, height);
    const struct image_shape shape = mask_plan_shape(&patch->shape);
    memset(patch->mask.memory, 0xff, image_layout(&(struct image){0}, &shape));
    for (uint32_t row = 0; row < height; row++) {
        memset(plane_row(&patch->mask.image.plane[0], row), 0, width);
    }
    switch (cover) {
    case ONE_PIXEL:
        cover_rect(patch, x, y, 1, 1);
        return;
    case LAST_PIXEL:
        cover_rect(patch, width - 1, height - 1, 1, 1);
        return;
    case RECTANGLE:
        cover_rect(patch, x, y, 1 + check_below(check, width), 1 + check_below(check, height));
        return;
    case SPARSE:
        for (unsigned i = 0; i < 1 + width * height / 600; i++) {
            cover_rect(patch, check_below(check, width), check_below(check, height), 1, 1);
        }
        return;
    case EVERYTHING:
        cover_rect(patch, 0, 0, width, height);
        return;
    default:
        return;
    }
}

static CUdeviceptr upload(struct check *check, struct gpu_buffer *buffer, const void *data, size_t size) {
    struct gpu_stream *stream = &check->jpeg.stream;
    struct error err = {0};
    must(gpu_stream_reserve(stream, buffer, size, &err), &err);
    must(CUDA_TRY(&check->cuda, &err, cuMemcpyHtoDAsync, buffer->data, data, size, stream->handle), &err);
    must(CUDA_TRY(&check->cuda, &err, cuStreamSynchronize, stream->handle), &err);
    return buffer->data;
}

static struct image upload_image(struct check *check, struct gpu_buffer *buffer,
                                 const struct jpeg_picture *picture) {
    const struct image_shape shape = image_shape(&picture->image);
    struct image image = picture->image;
    size_t size = image_layout(&image, &shape);
    image_place(&image, (uint8_t *)(uintptr_t)upload(check, buffer, picture->memory, size));
    return image;
}

/* As the decoder leaves them. No DC coefficient lacks a sum. */
static struct decode_result upload_coefficients(const struct patch_case *patch) {
    struct gpu_stream *stream = &patch->check->jpeg.stream;
    uint32_t count;
    int16_t *values = jpeg_pictures_coefficients(buf_bytes(&patch->file), &count);
    uint32_t *owners = malloc(count * sizeof *owners);
    for (uint32_t i = 0; i < count; i++) {
        owners[i] = 1;
    }
    struct decode_result made = {.count = 1};
    made.values = upload(patch->check, &stream->spare, values, count * 64 * sizeof *values);
    made.owners = upload(patch->check, &stream->target, owners, count * sizeof *owners);
    made.sums = made.owners;
    free(owners);
    free(values);
    return made;
}

static size_t by_gpu(const struct patch_case *patch, uint8_t *output) {
    static struct scan_tables tables;
    struct check *check = patch->check;
    struct gpu_encode *encode = &check->jpeg.encode;
    struct gpu_stream *stream = &check->jpeg.stream;
    const struct cuda *cuda = &check->cuda;
    struct jpeg_header header;
    struct error err = {0};
    must(jpeg_header_parse(buf_bytes(&patch->file), &header, &tables, &err), &err);
    const struct image result = upload_image(check, &stream->source, &patch->result);
    const struct gpu_encode_patch kept = {.quantiser = header.quantiser,
                                          .source = upload_coefficients(patch),
                                          .mask = upload_image(check, &stream->mask, &patch->mask)};
    const struct gpu_encode_job job = {.image = &result, .room = ROOM, .patch = &kept};
    must(gpu_encode_reserve(encode, stream, &result, output, ROOM, &err), &err);
    must(gpu_encode_begin(encode, stream, &job, &err), &err);
    must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream->handle), &err);
    size_t size;
    must(gpu_encode_end(encode, ROOM, &size, &err), &err);
    if (!gpu_encode_is_direct(encode)) {
        must(gpu_encode_fetch(encode, stream, output, size, &err), &err);
        must(CUDA_TRY(cuda, &err, cuStreamSynchronize, stream->handle), &err);
    }
    return header.plain ? size : 0;
}

static void check_one(struct patch_case *patch, enum cover cover, unsigned quality) {
    static uint8_t *output;
    struct check *check = patch->check;
    output = output ? output : malloc(ROOM);
    draw_mask(patch, cover);
    struct buf expected =
        jpeg_pictures_patch(buf_bytes(&patch->file), &patch->result.image, &patch->mask.image);
    size_t size = by_gpu(patch, output);
    bool good = size == expected.size && memcmp(output, expected.data, size) == 0;
    check->passed += good;
    check->failed += !good;
    if (!good && check->failed <= FAILURES_SHOWN) {
        printf("  FAILED: kept blocks, model %d, chroma %u %u, %ux%u, cover %d, quality %u: %zu bytes, not "
               "%zu\n",
               patch->shape.model, patch->shape.chroma_shift_x, patch->shape.chroma_shift_y,
               patch->shape.width, patch->shape.height, cover, quality, size, expected.size);
    }
    buf_finish(&expected);
}

static void check_shape(struct check *check, const struct image_shape *shape) {
    static const unsigned qualities[] = {10, 60, 92, 100};
    const struct image_shape mask = mask_plan_shape(shape);
    const unsigned quality = qualities[check_below(check, COUNT(qualities))];
    struct patch_case patch = {.check = check, .shape = *shape};
    struct jpeg_picture painted = jpeg_pictures_own(shape);
    patch.result = jpeg_pictures_own(shape);
    patch.mask = jpeg_pictures_own(&mask);
    jpeg_pictures_paint(check, &painted.image);
    jpeg_pictures_paint(check, &patch.result.image);
    patch.file = jpeg_pictures_encode(&painted.image, quality, check_below(check, 2));
    for (enum cover cover = NOTHING; cover < COVERS; cover++) {
        check_one(&patch, cover, quality);
    }
    buf_finish(&patch.file);
    free(patch.mask.memory);
    free(patch.result.memory);
    free(painted.memory);
}

void check_patch(struct check *check, bool quick) {
    static const uint32_t sizes[][2] = {{1, 1},   {8, 8},     {17, 33},    {61, 45},
                                        {64, 48}, {333, 211}, {1001, 403}, {1920, 1080}};
    for (size_t m = 0; m < JPEG_PICTURES_SHAPES; m++) {
        for (size_t s = 0; s < COUNT(sizes) - (quick ? 3 : 0); s++) {
            struct image_shape shape = jpeg_pictures_shape[m];
            shape.width = sizes[s][0];
            shape.height = sizes[s][1];
            check_shape(check, &shape);
        }
    }
    check_report(check, "kept blocks");
}
