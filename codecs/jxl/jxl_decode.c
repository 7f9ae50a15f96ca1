/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jxl/jxl.h"
#include "codecs/jxl/jxl_reader.h"
#include "codecs/jxl/jxl_restore.h"
#include "core/deadline.h"

/* 65535 / 255, so that the samples of a file with 8 bits come exactly. */
static uint8_t rounded(uint16_t sample) {
    return (uint8_t)((sample + 128u) / 257u);
}

/* Takes a part of a row from libjxl. A part that would lie outside of the picture is ignored. */
static void take_row(void *context, size_t x, size_t y, size_t count, const void *pixels) {
    const struct image *image = context;
    const struct plane *plane = &image->plane[0];
    const uint16_t *from = pixels;
    if (y >= image->height || x > image->width || count > image->width - x) {
        return;
    }
    uint8_t *row = plane_row(plane, (uint32_t)y);
    size_t first = x * plane->channels, samples = count * plane->channels;
    if (image->depth == 16) {
        memcpy(row + 2 * first, from, 2 * samples);
        return;
    }
    for (size_t i = 0; i < samples; i++) {
        row[first + i] = rounded(from[i]);
    }
}

enum status jxl_decode_next(const struct jxl_reader *reader, const struct image *image, struct error *err) {
    const JxlPixelFormat format = {.num_channels = image->plane[0].channels,
                                   .data_type = JXL_TYPE_UINT16,
                                   .endianness = JXL_NATIVE_ENDIAN};
    struct image target = *image;
    enum status status = jxl_reader_run(reader, JXL_DEC_NEED_IMAGE_OUT_BUFFER, err);
    if (status == ST_OK && reader->library->JxlDecoderSetImageOutCallback(reader->decoder, &format, take_row,
                                                                          &target) != JXL_DEC_SUCCESS) {
        return fail(err, ST_INTERNAL, "the JPEG XL library does not take a picture of this shape");
    }
    return status == ST_OK ? jxl_reader_run(reader, JXL_DEC_FULL_IMAGE, err) : status;
}

/* Decodes the JPEG that the file holds. libjxl's own samples of it differ from those of other readers of
 * JPEG. */
static enum status decode_jpeg(struct bytes input, const struct codec_limits *limits,
                               const struct image *image, struct error *err) {
    struct codec_limits own = *limits;
    struct picture picture = {0};
    struct buf jpeg;
    own.progress = NULL;
    own.crew = NULL;
    buf_init(&jpeg, codec_repack_most(input.size));
    enum status status = jxl_restore(input, &jpeg, err);
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    status = status == ST_OK ? codec_probe(buf_bytes(&jpeg), &own, &picture, err) : status;
    if (status == ST_OK && picture.codec != CODEC_JPEG) {
        status = fail(err, ST_CORRUPT, "JPEG XL is damaged: it holds no JPEG");
    }
    status = status == ST_OK ? codec_decode(buf_bytes(&jpeg), &picture, &own, image, err) : status;
    codec_picture_finish(&picture);
    buf_finish(&jpeg);
    return status;
}

/* A JPEG that cannot be restored leaves the pixels of the codestream. */
static enum status decode_either(const struct jxl_reader *reader, struct bytes input,
                                 const struct codec_limits *limits, const struct image *image,
                                 struct error *err) {
    enum status status = ST_CORRUPT;
    if (!reader->info.have_animation && jxl_restore_possible(input)) {
        status = decode_jpeg(input, limits, image, err);
    }
    return status == ST_OK || status == ST_BUSY ? status : jxl_decode_next(reader, image, err);
}

enum status jxl_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err) {
    (void)picture;
    struct jxl_reader reader;
    enum status status = jxl_reader_open(&reader, input, JXL_DEC_FULL_IMAGE, limits, err);
    bool same = image->width == reader.pixels.width && image->height == reader.pixels.height &&
                image->depth == reader.pixels.depth && image->model == reader.pixels.model;
    if (status == ST_OK && !same) {
        status = fail(err, ST_INTERNAL, "the memory to decode into does not have the picture's shape");
    }
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    status = status == ST_OK ? decode_either(&reader, input, limits, image, err) : status;
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    jxl_reader_close(&reader);
    return status;
}
