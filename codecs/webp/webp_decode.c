/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/limits.h"
#include "codecs/webp/webp.h"
#include "codecs/webp/webp_chunks.h"
#include "codecs/webp/webp_library.h"
#include "core/deadline.h"

static void describe(const struct webp_file *file, struct picture *picture) {
    bool alpha = file->alpha || !webp_file_is_covered(file);
    picture->pixels = (struct image_shape){
        .model = alpha ? PIXEL_RGBA : PIXEL_RGB,
        .depth = 8,
        .width = file->width,
        .height = file->height,
    };
    picture->native = picture->pixels;
    if (!alpha && !file->lossless) {
        picture->native.model = PIXEL_YCBCR;
        picture->native.chroma_shift_x = picture->native.chroma_shift_y = 1;
    }
}

enum status webp_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err) {
    struct webp_file file;
    enum status status = webp_chunks_read(input, &file, err);
    status = status == ST_OK ? limits_check_size(file.width, file.height, limits, err) : status;
    if (status == ST_OK && (file.frame_width == 0 || file.frame_height == 0)) {
        return fail(err, ST_CORRUPT, "WebP has a frame without pixels");
    }
    if (status == ST_OK && file.animated && !limits->first_frame) {
        return fail(err, ST_UNSUPPORTED, "WebP is animated; page=0 takes its first frame");
    }
    if (status == ST_OK) {
        describe(&file, picture);
        webp_chunks_read_metadata(input, &picture->metadata);
    }
    return status;
}

static WebPYUVABuffer lend_planes(const struct image *image) {
    const struct plane *plane = image->plane;
    return (WebPYUVABuffer){
        .y = plane[0].data,
        .u = plane[1].data,
        .v = plane[2].data,
        .y_stride = (int)plane[0].stride,
        .u_stride = (int)plane[1].stride,
        .v_stride = (int)plane[2].stride,
        .y_size = plane[0].stride * plane[0].height,
        .u_size = plane[1].stride * plane[1].height,
        .v_size = plane[2].stride * plane[2].height,
    };
}

/* The part of the picture that the frame covers. */
static WebPRGBABuffer lend_pixels(const struct image *image, const struct webp_file *file) {
    const struct plane *plane = &image->plane[0];
    size_t left = (size_t)file->frame_left * plane->channels;
    return (WebPRGBABuffer){
        .rgba = plane_row(plane, file->frame_top) + left,
        .stride = (int)plane->stride,
        .size = plane->stride * file->frame_height - left,
    };
}

static void clear(const struct image *image) {
    for (uint32_t y = 0; y < image->height; y++) {
        memset(plane_row(&image->plane[0], y), 0, plane_row_bytes(&image->plane[0], image->depth));
    }
}

static enum status judge(VP8StatusCode code, struct error *err) {
    switch (code) {
    case VP8_STATUS_OK:
        return ST_OK;
    case VP8_STATUS_OUT_OF_MEMORY:
    case VP8_STATUS_USER_ABORT: /* no callback of ours ends it, only the lack of memory for rows */
        return fail(err, ST_BUSY, "out of memory in the WebP library");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return fail(err, ST_UNSUPPORTED, "WebP has a feature that its library does not support");
    case VP8_STATUS_BITSTREAM_ERROR:
        return fail(err, ST_CORRUPT, "WebP data is damaged");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return fail(err, ST_CORRUPT, "WebP data is damaged or cut short: it ends before the picture does");
    default:
        return fail(err, ST_INTERNAL, "WebP library failed with status %d", (int)code);
    }
}

static enum status decode_frame(const struct webp_file *file, const struct image *image, struct error *err) {
    const struct webp_library *library = webp_library_open(err);
    WebPDecoderConfig config;
    if (!library) {
        return ST_UNSUPPORTED;
    }
    if (!library->WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION)) {
        return fail(err, ST_UNSUPPORTED, "WebP is not supported by the version of %s on this machine",
                    LIBWEBP);
    }
    config.output.is_external_memory = 1;
    if (image->model == PIXEL_YCBCR) {
        config.output.colorspace = MODE_YUV;
        config.output.u.YUVA = lend_planes(image);
    } else {
        config.output.colorspace = image->model == PIXEL_RGBA ? MODE_RGBA : MODE_RGB;
        config.output.u.RGBA = lend_pixels(image, file);
    }
    return judge(library->WebPDecode(file->frame.data, file->frame.size, &config), err);
}

static enum status check_memory(const struct webp_file *file, size_t input, const struct codec_limits *limits,
                                struct error *err) {
    struct picture picture = {0};
    describe(file, &picture);
    return webp_decode_bytes(&picture, input) <= limits->max_memory
               ? ST_OK
               : fail(err, ST_LIMIT, "WebP needs more memory to decode than the memory limit");
}

/* The memory was laid out for a picture that was probed from the same bytes; a caller's mistake must not
 * overrun it. */
static bool has_shape(const struct image *image, const struct webp_file *file) {
    struct picture picture = {0};
    describe(file, &picture);
    return image->depth == 8 && image->width == file->width && image->height == file->height &&
           (image->model == picture.native.model || image->model == picture.pixels.model);
}

enum status webp_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err) {
    (void)picture;
    struct webp_file file;
    enum status status = webp_chunks_read(input, &file, err);
    if (status == ST_OK && !has_shape(image, &file)) {
        return fail(err, ST_INTERNAL, "WebP does not have the shape that was probed");
    }
    status = status == ST_OK ? check_memory(&file, input.size, limits, err) : status;
    status = status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
    if (status != ST_OK) {
        return status;
    }
    if (!webp_file_is_covered(&file)) {
        clear(image);
    }
    return decode_frame(&file, image, err);
}
