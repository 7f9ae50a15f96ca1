/* SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "core/bytes.h"

unsigned image_pixel_channels(enum pixel_model model) {
    static const unsigned char channels[] = {
        [PIXEL_GRAY] = 1, [PIXEL_GRAY_ALPHA] = 2, [PIXEL_RGB] = 3, [PIXEL_RGBA] = 4, [PIXEL_YCBCR] = 3};
    return channels[model];
}

bool image_pixel_has_alpha(enum pixel_model model) {
    return model == PIXEL_GRAY_ALPHA || model == PIXEL_RGBA;
}

static uint32_t reduce(uint32_t size, unsigned shift) {
    return (uint32_t)(((uint64_t)size + (1u << shift) - 1) >> shift);
}

/* Returns the offset behind the plane, 0 when it overflows. */
static size_t place_plane(struct plane *plane, size_t offset, unsigned depth, bool padded) {
    size_t columns = padded ? bytes_align_up(plane->width, IMAGE_MCU) : plane->width;
    size_t rows = padded ? bytes_align_up(plane->height, IMAGE_MCU) : plane->height;
    plane->stride = bytes_align_up(columns * plane->channels * (depth / 8), IMAGE_ALIGNMENT);
    plane->offset = offset;
    size_t end;
    if (__builtin_mul_overflow(plane->stride, rows, &end) || __builtin_add_overflow(end, offset, &end)) {
        return 0;
    }
    return end;
}

size_t image_layout(struct image *image, const struct image_shape *shape) {
    bool planar = shape->model == PIXEL_YCBCR;
    *image = (struct image){
        .model = shape->model,
        .depth = shape->depth,
        .plane_count = planar ? 3 : 1,
        .width = shape->width,
        .height = shape->height,
    };
    bool padded = shape->depth == 8 && (planar || shape->model == PIXEL_GRAY);
    size_t end = 0;
    for (unsigned i = 0; i < image->plane_count; i++) {
        unsigned shift_x = i ? shape->chroma_shift_x : 0;
        unsigned shift_y = i ? shape->chroma_shift_y : 0;
        image->plane[i] = (struct plane){
            .width = reduce(shape->width, shift_x),
            .height = reduce(shape->height, shift_y),
            .channels = planar ? 1 : (uint8_t)image_pixel_channels(shape->model),
            .shift_x = (uint8_t)shift_x,
            .shift_y = (uint8_t)shift_y,
        };
        end = place_plane(&image->plane[i], end, shape->depth, padded);
        if (end == 0) {
            return 0;
        }
    }
    return end;
}

void image_place(struct image *image, uint8_t *memory) {
    for (unsigned i = 0; i < image->plane_count; i++) {
        image->plane[i].data = memory + image->plane[i].offset;
    }
}

struct image_shape image_shape(const struct image *image) {
    const struct plane *last = &image->plane[image->plane_count - 1];
    return (struct image_shape){
        .model = image->model,
        .depth = image->depth,
        .chroma_shift_x = last->shift_x,
        .chroma_shift_y = last->shift_y,
        .width = image->width,
        .height = image->height,
    };
}

bool image_same_shape(const struct image_shape *a, const struct image_shape *b) {
    return a->model == b->model && a->depth == b->depth && a->chroma_shift_x == b->chroma_shift_x &&
           a->chroma_shift_y == b->chroma_shift_y && a->width == b->width && a->height == b->height;
}
