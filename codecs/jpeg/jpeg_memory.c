/* SPDX-License-Identifier: MIT
 * libjpeg always takes tables and rows of MCUs. When it needs all coefficients at once, it takes two bytes
 * for each. So does the own decoder, and a mask for each block. */
#include "codecs/jpeg/baseline/baseline.h"
#include "codecs/jpeg/baseline/jpeg_enc_colours.h"
#include "codecs/jpeg/jpeg.h"
#include "codecs/jpeg/jpeg_patch.h"
#include "codecs/jpeg/jpeg_turn.h"
#include "codecs/jpeg/sequential/sequential.h"

enum {
    STATE = 128 << 10,  /* bytes of tables, their pools, and this folder's own state */
    COLUMN = 128,       /* bytes a column of pixels: rows of MCUs before and after resampling */
    PATCH_COLUMN = 512, /* the same for a row of MCUs written and read again with its coefficients */
    COMPONENTS_MAX = 4,
};

static size_t rows(const struct image_shape *shape) {
    return STATE + (size_t)shape->width * COLUMN;
}

/* Grey and YCbCr are laid out in whole MCUs. */
static size_t coefficients(const struct image_shape *planes) {
    struct image image;
    return sizeof(JCOEF) * image_layout(&image, planes);
}

/* RGB stands for a JPEG without planes here: up to four components of full size. */
static size_t stored_coefficients(const struct image_shape *native) {
    size_t width = bytes_align_up(native->width, IMAGE_MCU) + IMAGE_MCU;
    size_t height = bytes_align_up(native->height, IMAGE_MCU) + IMAGE_MCU;
    return native->model == PIXEL_RGB ? sizeof(JCOEF) * COMPONENTS_MAX * width * height
                                      : coefficients(native);
}

/* Any decoder; that of lossless files takes none. The tables of the own one take no more than libjpeg's, and
 * neither does its strip of a row of MCUs, if it makes RGB. Help is for sequential files that are decoded to
 * planes. */
size_t jpeg_decode_bytes(const struct picture *picture, size_t input) {
    (void)input; /* read in place */
    size_t values = picture->progressive ? stored_coefficients(&picture->native) : 0;
    size_t help = picture->native.model == PIXEL_RGB ? 0 : sequential_help_bytes(&picture->native);
    return rows(&picture->native) + help + values + values / sizeof(JBLOCK) * sizeof(uint64_t);
}

size_t jpeg_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    struct image_shape planes = jpeg_enc_colours_shape(shape, options);
    if (baseline_takes(shape, options)) {
        return STATE + baseline_bytes(shape, options);
    }
    return rows(shape) + (options->progressive || options->optimal ? coefficients(&planes) : 0);
}

size_t jpeg_patch_bytes(const struct picture *picture, const struct encode_options *options) {
    struct encode_options optimal = *options;
    optimal.optimal = true;
    size_t writer =
        baseline_takes(&picture->native, &optimal) ? baseline_bytes(&picture->native, &optimal) : 0;
    return STATE + (size_t)picture->native.width * PATCH_COLUMN + stored_coefficients(&picture->native) +
           writer + (size_t)picture->native.height * COMPONENTS_MAX;
}

/* Blocks as stored, and turned. */
size_t jpeg_turn_bytes(const struct picture *picture) {
    return rows(&picture->native) + 2 * stored_coefficients(&picture->native);
}

/* Other Huffman tables make a file little larger. A progressive one may have had no bits for empty blocks,
 * which take less than a byte. */
size_t jpeg_turn_room(const struct picture *picture, size_t input) {
    return 2 * input + coefficients(&picture->native) / sizeof(JBLOCK);
}
