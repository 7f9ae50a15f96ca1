/* SPDX-License-Identifier: MIT
 * What libjxl takes beside the picture depends on how a file was made, which its header does not tell. With
 * versions 0.7 and 0.11, 3 bytes a pixel were measured of a lossy file, 15 of a progressive and 32 of one
 * with alpha. The limit of the process holds for what takes more. */
#include "codecs/codec.h"
#include "codecs/jxl/jxl.h"

enum {
    STATE = 16 << 20, /* bytes of tables, and of what does not grow */
    PIXEL = 32,
    REFERENCES =
        64, /* bytes a pixel of an animation: 4 pictures that later frames may use, of 4 channels of floats */
    INPUTS = 2, /* copies of the file's data: boxes are joined */
    EDGE = 256, /* pixels that complete groups */
    /* Bytes a pixel and channel of noise, the most that was found, with libjxl 0.7. */
    LOSSY_CHANNEL = 32,
    LOSSLESS_CHANNEL = 40,
};

size_t jxl_decode_bytes(const struct picture *picture, size_t input) {
    size_t pixels = (size_t)(picture->pixels.width + EDGE) * (picture->pixels.height + EDGE);
    return STATE + INPUTS * input + codec_repack_most(input) +
           pixels * (PIXEL + (picture->frames > 1 ? (size_t)REFERENCES : 0));
}

/* A picture that is repacked as a JPEG takes less than libjxl's lossy coder, and the JPEG beside it. */
size_t jxl_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    size_t pixels = (size_t)(shape->width + EDGE) * (shape->height + EDGE);
    size_t channels = image_pixel_channels(shape->model) < 3 ? 3 : image_pixel_channels(shape->model);
    size_t jpeg = options->lossless ? 0 : codec_encode_bytes(CODEC_JPEG, shape, options) + 2 * pixels;
    return STATE + jpeg + pixels * channels * (options->lossless ? LOSSLESS_CHANNEL : LOSSY_CHANNEL);
}
