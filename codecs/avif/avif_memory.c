/* SPDX-License-Identifier: MIT
 * Upper bounds of the heap memory that libavif, dav1d and libaom take. The numbers were measured by counting
 * malloc_usable_size of all live allocations, with libavif 0.11, dav1d 1.0 and libaom 3.6: noise and slopes
 * of 64x64 to 4000x3000, 1x32768 and 32768x1, all models, depths and subsamplings, quality 60 to 100; for
 * sequences 16 frames of 1x1 to 1920x1080, 1x4000, 4000x1 and 3000x200, which differ by a third and more. */
#include "codecs/avif/avif.h"

enum {
    STATE = 4 << 20,   /* bytes of tables and of other things that do not grow */
    BLOCK = 64,        /* both libraries work on whole blocks, and keep one more around them */
    DECODE_PIXEL = 4,  /* bytes a pixel beside the samples */
    DECODE_COPIES = 2, /* of the samples: tiles and the picture made of them, or film grain */
    REFERENCES = 9, /* pictures from which frames of a sequence are predicted, and one more in the making */
    ENCODE_PIXEL = 20,
    ENCODE_SAMPLE = 10,      /* bytes for each sample of a pixel, at 8 bits */
    ENCODE_SAMPLE_DEEP = 14, /* at 10 bits */
    ENCODE_THOROUGH = 28,    /* bytes a pixel that slow speeds take in addition */
    THOROUGH_EFFORT = 3,     /* from which on speeds are slow */
    SEQUENCE_SAMPLE = 36,    /* bytes for each sample of a pixel of a sequence, as 8 frames are kept */
    SEQUENCE_SAMPLE_DEEP = 66,
    HALVES = 2,
};

static size_t padded(const struct image_shape *shape) {
    return (bytes_align_up(shape->width, BLOCK) + BLOCK) * (bytes_align_up(shape->height, BLOCK) + BLOCK);
}

/* Half samples a pixel, as chroma may be reduced. */
static size_t half_samples(const struct image_shape *shape) {
    size_t alpha = image_pixel_has_alpha(shape->model) ? HALVES : 0;
    if (shape->model == PIXEL_GRAY || shape->model == PIXEL_GRAY_ALPHA) {
        return HALVES + alpha;
    }
    bool planes = shape->model == PIXEL_YCBCR;
    unsigned shift = planes ? (unsigned)shape->chroma_shift_x + shape->chroma_shift_y : 0;
    return HALVES + ((size_t)2 * HALVES >> shift) + alpha;
}

size_t avif_decode_bytes(const struct picture *picture, size_t input) {
    const struct image_shape *shape = &picture->native;
    size_t copies = picture->frames > 1 ? DECODE_COPIES + REFERENCES : DECODE_COPIES;
    size_t samples = half_samples(shape) * (shape->depth / 8) * copies / HALVES;
    /* Metadata and data in several pieces are copied, and the file whose gain map is decoded. */
    return STATE + 3 * input + padded(shape) * (samples + DECODE_PIXEL);
}

/* Alpha has an encoder of its own, and grey has the memory of reduced colour. */
static size_t sequence_bytes(const struct image_shape *written, bool alpha) {
    enum { GREY_HALVES = 3 };
    const bool grey = written->model == PIXEL_GRAY || written->model == PIXEL_GRAY_ALPHA;
    const size_t colour = grey ? GREY_HALVES : half_samples(written);
    const size_t samples = colour + (alpha ? GREY_HALVES : 0);
    const size_t sample = written->depth == 8 ? SEQUENCE_SAMPLE : SEQUENCE_SAMPLE_DEEP;
    return STATE * (size_t)(alpha ? 2 : 1) + padded(written) * samples * sample / HALVES;
}

size_t avif_encode_bytes(const struct image_shape *shape, const struct encode_options *options) {
    struct image_shape written = *shape;
    if (shape->model == PIXEL_RGB || shape->model == PIXEL_RGBA) {
        written.model = PIXEL_YCBCR;
        written.chroma_shift_x = options->subsampling != SUBSAMPLING_444;
        written.chroma_shift_y =
            options->subsampling == SUBSAMPLING_AUTO || options->subsampling == SUBSAMPLING_420;
    }
    if (options->pictures > 1) {
        return sequence_bytes(&written, image_pixel_has_alpha(shape->model));
    }
    size_t samples = half_samples(&written) + (image_pixel_has_alpha(shape->model) ? HALVES : 0);
    size_t pixel = ENCODE_PIXEL + samples * (shape->depth == 8 ? ENCODE_SAMPLE : ENCODE_SAMPLE_DEEP) / HALVES;
    pixel += options->effort >= THOROUGH_EFFORT ? ENCODE_THOROUGH : 0;
    return STATE + padded(shape) * pixel;
}
