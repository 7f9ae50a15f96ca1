/* SPDX-License-Identifier: MIT */
#include "tests/gpu/jpeg_pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "codecs/codec.h"
#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/jpeg_patch.h"

static const struct codec_limits limits = {
    .max_pixels = 1 << 28, .max_side = 1 << 15, .max_scans = 100, .max_memory = 1 << 30};

const struct image_shape jpeg_pictures_shape[JPEG_PICTURES_SHAPES] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2},
};

struct jpeg_picture jpeg_pictures_own(const struct image_shape *shape) {
    struct jpeg_picture owned;
    size_t size = image_layout(&owned.image, shape);
    owned.memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    if (!owned.memory) {
        fprintf(stderr, "check_gpu: no memory\n");
        exit(2);
    }
    memset(owned.memory, 0, size);
    image_place(&owned.image, owned.memory);
    return owned;
}

void jpeg_pictures_paint(struct check *check, const struct image *image) {
    double phase = check_below(check, 100);
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            uint8_t *row = plane_row(plane, y);
            for (uint32_t x = 0; x < plane->width; x++) {
                double value = 128 + 50 * sin(x / 37.0 + phase + p) + 40 * cos(y / 23.0 + x / 91.0);
                value += (x / 64 + y / 48) % 3 == 0 ? 25 : -10;
                row[x] = (uint8_t)(fmin(fmax(value, 0), 250) + check_below(check, 4));
            }
        }
    }
}

static struct buf encode(const struct image *image, const struct encode_options *options) {
    struct error err = {0};
    struct buf output;
    buf_init(&output, JPEG_PICTURES_ROOM);
    must(codec_encode(CODEC_JPEG, image, options, NULL, &output, &err), &err);
    return output;
}

struct buf jpeg_pictures_encode(const struct image *image, unsigned quality, bool optimal) {
    const struct encode_options options = {.quality = (uint8_t)quality, .optimal = optimal};
    return encode(image, &options);
}

struct buf jpeg_pictures_progressive(const struct image *image, unsigned quality) {
    const struct encode_options options = {.quality = (uint8_t)quality, .progressive = true};
    return encode(image, &options);
}

struct bytes jpeg_pictures_hand_over(struct bytes file, const struct image_shape *shape) {
    struct coefficients_layout layout;
    struct error err = {0};
    if (!coefficients_lay_out(shape, &layout)) {
        fprintf(stderr, "check_gpu: a picture without coefficients\n");
        exit(2);
    }
    size_t room = bytes_align_up(jpeg_coefficients_bytes(&layout), IMAGE_ALIGNMENT);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, room);
    must(jpeg_coefficients_read(file, &limits, shape, true, memory, &err), &err);
    return (struct bytes){memory, coefficients_size(&layout)};
}

struct buf jpeg_pictures_restart(struct bytes file, unsigned interval) {
    struct jpeg_error_mgr errors; /* ends the program */
    struct jpeg_decompress_struct from = {.err = jpeg_std_error(&errors)};
    struct jpeg_compress_struct to = {.err = &errors};
    struct error err = {0};
    struct buf output;
    unsigned char *memory = NULL;
    unsigned long size = 0;
    jpeg_create_decompress(&from);
    jpeg_create_compress(&to);
    jpeg_mem_src(&from, file.data, (unsigned long)file.size);
    jpeg_mem_dest(&to, &memory, &size);
    jpeg_read_header(&from, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&from);
    jpeg_copy_critical_parameters(&from, &to);
    to.restart_interval = interval;
    to.optimize_coding = TRUE;
    jpeg_write_coefficients(&to, coefficients);
    jpeg_finish_compress(&to);
    buf_init(&output, JPEG_PICTURES_ROOM);
    must(buf_append(&output, memory, size, &err), &err);
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    free(memory);
    return output;
}

/* Copies a block, or leaves zeros for one that fills up an MCU. */
static void copy_block(struct jpeg_decompress_struct *from, int index, jvirt_barray_ptr array, JDIMENSION x,
                       JDIMENSION y, int16_t *to) {
    const jpeg_component_info *component = &from->comp_info[index];
    if (x >= component->width_in_blocks || y >= component->height_in_blocks) {
        return;
    }
    JBLOCKARRAY rows = from->mem->access_virt_barray((j_common_ptr)from, array, y, 1, FALSE);
    for (unsigned k = 0; k < DCTSIZE2; k++) {
        to[k % DCTSIZE * DCTSIZE + k / DCTSIZE] = rows[0][x][k];
    }
}

int16_t *jpeg_pictures_coefficients(struct bytes file, uint32_t *count) {
    struct jpeg_error_mgr errors; /* ends the program */
    struct jpeg_decompress_struct from = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&from);
    jpeg_mem_src(&from, file.data, (unsigned long)file.size);
    jpeg_read_header(&from, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&from);
    JDIMENSION across = (from.image_width - 1) / (JDIMENSION)(DCTSIZE * from.max_h_samp_factor) + 1;
    JDIMENSION down = (from.image_height - 1) / (JDIMENSION)(DCTSIZE * from.max_v_samp_factor) + 1;
    uint32_t in_mcu = 0, at = 0;
    for (int i = 0; i < from.num_components; i++) {
        in_mcu += (uint32_t)(from.comp_info[i].h_samp_factor * from.comp_info[i].v_samp_factor);
    }
    *count = across * down * in_mcu;
    int16_t *values = calloc(*count, DCTSIZE2 * sizeof *values);
    for (JDIMENSION mcu = 0; mcu < across * down; mcu++) {
        for (int i = 0; i < from.num_components; i++) {
            JDIMENSION h = (JDIMENSION)from.comp_info[i].h_samp_factor;
            JDIMENSION v = (JDIMENSION)from.comp_info[i].v_samp_factor;
            for (JDIMENSION n = 0; n < h * v; n++, at++) {
                copy_block(&from, i, arrays[i], mcu % across * h + n % h, mcu / across * v + n / h,
                           values + (size_t)at * DCTSIZE2);
            }
        }
    }
    jpeg_destroy_decompress(&from);
    return values;
}

struct buf jpeg_pictures_patch(struct bytes file, const struct image *result, const struct image *mask) {
    const struct encode_options options = {0};
    struct error err = {0};
    struct buf output;
    buf_init(&output, JPEG_PICTURES_ROOM);
    must(jpeg_patch(file, &limits, result, mask, &options, NULL, &output, &err), &err);
    return output;
}

struct jpeg_picture jpeg_pictures_decode(struct bytes bytes, const struct image_shape *shape) {
    struct error err = {0};
    struct picture picture;
    must(codec_probe(bytes, &limits, &picture, &err), &err);
    if (!image_same_shape(&picture.native, shape) && !image_same_shape(&picture.pixels, shape)) {
        fprintf(stderr, "check_gpu: the JPEG is of another shape\n");
        exit(2);
    }
    struct jpeg_picture owned = jpeg_pictures_own(shape);
    must(codec_decode(bytes, &picture, &limits, &owned.image, &err), &err);
    return owned;
}
