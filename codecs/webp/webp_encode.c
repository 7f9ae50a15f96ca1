/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/webp/webp.h"
#include "codecs/webp/webp_container.h"
#include "codecs/webp/webp_effort.h"
#include "codecs/webp/webp_library.h"
#include "core/deadline.h"

struct webp_encoder {
    const struct webp_library *library;
    const struct image *image;
    const struct encode_options *options;
    struct buf *output;
    struct error *err;
    enum status status; /* why a callback ended the encoding */
    WebPConfig config;
    WebPPicture picture;
};

/* ---- callbacks ---- */

static int on_bytes(const uint8_t *data, size_t size, const WebPPicture *picture) {
    struct webp_encoder *encoder = picture->custom_ptr;
    encoder->status = buf_append(encoder->output, data, size, encoder->err);
    return encoder->status == ST_OK;
}

static int on_progress(int percent, const WebPPicture *picture) {
    (void)percent;
    struct webp_encoder *encoder = picture->user_data;
    encoder->status = deadline_check(encoder->options->deadline_ns, encoder->err);
    return encoder->status == ST_OK;
}

/* ---- pixels ---- */

/* round(v * 255 / 65535), exactly. */
static uint8_t reduce16(unsigned v) {
    return (uint8_t)((v * 255 + 32895) >> 16);
}

static uint8_t sample8(const struct image *image, const uint8_t *row, size_t index) {
    uint16_t deep;
    if (image->depth == 8) {
        return row[index];
    }
    memcpy(&deep, row + index * 2, 2);
    return reduce16(deep);
}

static bool is_gray(const struct image *image) {
    return image->model == PIXEL_GRAY || image->model == PIXEL_GRAY_ALPHA;
}

/* Any pixels as 8-bit RGBA in one number. */
static void fill_argb(struct webp_encoder *encoder) {
    const struct image *image = encoder->image;
    size_t channels = image->plane[0].channels, colours = is_gray(image) ? 1 : 3;
    bool alpha = image_pixel_has_alpha(image->model);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = plane_row(&image->plane[0], y);
        uint32_t *to = encoder->picture.argb + (size_t)y * (size_t)encoder->picture.argb_stride;
        for (size_t x = 0, at = 0; x < image->width; x++, at += channels) {
            uint32_t red = sample8(image, row, at);
            uint32_t green = colours == 3 ? sample8(image, row, at + 1) : red;
            uint32_t blue = colours == 3 ? sample8(image, row, at + 2) : red;
            uint32_t opacity = alpha ? sample8(image, row, at + colours) : 255;
            to[x] = opacity << 24 | red << 16 | green << 8 | blue;
        }
    }
}

/* Grey is luma alone, in the limited range and with the rounding that libwebp gives RGB. */
static void fill_gray(struct webp_encoder *encoder) {
    const struct image *image = encoder->image;
    WebPPicture *picture = &encoder->picture;
    size_t channels = image->plane[0].channels;
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = plane_row(&image->plane[0], y);
        uint8_t *luma = picture->y + (size_t)y * (size_t)picture->y_stride;
        for (size_t x = 0; x < image->width; x++) {
            luma[x] = (uint8_t)((56318u * sample8(image, row, x * channels) + (16u << 16) + 32768u) >> 16);
            if (channels == 2) {
                picture->a[(size_t)y * (size_t)picture->a_stride + x] = sample8(image, row, x * 2 + 1);
            }
        }
    }
    size_t chroma = (size_t)picture->uv_stride * ((image->height + 1) / 2);
    memset(picture->u, 128, chroma);
    memset(picture->v, 128, chroma);
}

static void borrow_planes(struct webp_encoder *encoder) {
    const struct plane *plane = encoder->image->plane;
    encoder->picture.y = plane[0].data;
    encoder->picture.u = plane[1].data;
    encoder->picture.v = plane[2].data;
    encoder->picture.y_stride = (int)plane[0].stride;
    encoder->picture.uv_stride = (int)plane[1].stride;
}

static enum status fail_memory(struct webp_encoder *encoder) {
    return fail(encoder->err, ST_BUSY, "out of memory in the WebP library");
}

static enum status take_pixels(struct webp_encoder *encoder) {
    const struct webp_library *library = encoder->library;
    const struct image *image = encoder->image;
    const struct plane *plane = &image->plane[0];
    WebPPicture *picture = &encoder->picture;
    bool lossy = !encoder->options->lossless;
    if (image->model == PIXEL_YCBCR) {
        borrow_planes(encoder);
        return ST_OK;
    }
    if (lossy && image->depth == 8 && !is_gray(image)) {
        bool alpha = image->model == PIXEL_RGBA;
        int taken = (alpha ? library->WebPPictureImportRGBA
                           : library->WebPPictureImportRGB)(picture, plane->data, (int)plane->stride);
        return taken ? ST_OK : fail_memory(encoder);
    }
    bool luma = lossy && is_gray(image);
    picture->use_argb = !luma;
    picture->colorspace = image_pixel_has_alpha(image->model) ? WEBP_YUV420A : WEBP_YUV420;
    if (!library->WebPPictureAlloc(picture)) {
        return fail_memory(encoder);
    }
    (luma ? fill_gray : fill_argb)(encoder);
    return ST_OK;
}

/* ---- encoding ---- */

enum { PARTITION_MAX = 16 << 20, PARTITIONS_MAX = 3, NOISE = 3 };

/* libwebp divides the picture's data into 1, 2, 4 or 8 partitions, as log2. One holds less than 16 MiB, and
 * noise takes up to 3 bytes a pixel. */
static int partitions_for(const struct image *image) {
    uint64_t bytes = (uint64_t)image->width * image->height * NOISE;
    int partitions = 0;
    while (partitions < PARTITIONS_MAX && bytes >> partitions > PARTITION_MAX) {
        partitions++;
    }
    return partitions;
}

static bool configure(struct webp_encoder *encoder) {
    const struct encode_options *options = encoder->options;
    const struct webp_library *library = encoder->library;
    WebPConfig *config = &encoder->config;
    const struct image_shape shape = image_shape(encoder->image);
    const struct webp_effort *effort = webp_effort_affordable(&shape, options);
    if (!library->WebPConfigInitInternal(config, WEBP_PRESET_DEFAULT, options->quality,
                                         WEBP_ENCODER_ABI_VERSION) ||
        !library->WebPPictureInitInternal(&encoder->picture, WEBP_ENCODER_ABI_VERSION)) {
        return false;
    }
    config->method = effort->method;
    config->low_memory = webp_effort_saves_memory(effort, &shape);
    config->partitions = partitions_for(encoder->image);
    config->exact = options->lossless;
    encoder->picture.width = (int)encoder->image->width;
    encoder->picture.height = (int)encoder->image->height;
    encoder->picture.writer = on_bytes;
    encoder->picture.custom_ptr = encoder;
    encoder->picture.progress_hook = on_progress;
    encoder->picture.user_data = encoder;
    return !options->lossless || library->WebPConfigLosslessPreset(config, effort->level);
}

static enum status judge(struct webp_encoder *encoder) {
    switch (encoder->picture.error_code) {
    case VP8_ENC_OK: /* not every lack of memory is recorded */
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        return fail_memory(encoder);
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        return fail(encoder->err, ST_LIMIT,
                    "picture has more detail than a WebP can hold at this quality; reduce the quality");
    default:
        return fail(encoder->err, ST_INTERNAL, "WebP library failed with error %d",
                    (int)encoder->picture.error_code);
    }
}

static enum status encode_picture(struct webp_encoder *encoder) {
    if (!configure(encoder)) {
        return fail(encoder->err, ST_UNSUPPORTED,
                    "WebP is not supported by the version of %s on this machine", LIBWEBP);
    }
    enum status status = deadline_check(encoder->options->deadline_ns, encoder->err);
    status = status == ST_OK ? take_pixels(encoder) : status;
    if (status == ST_OK && !encoder->library->WebPEncode(&encoder->config, &encoder->picture)) {
        status = encoder->status != ST_OK ? encoder->status : judge(encoder);
    }
    encoder->library->WebPPictureFree(&encoder->picture);
    return status;
}

static enum status check_image(const struct image *image, struct error *err) {
    const struct plane *chroma = &image->plane[image->plane_count - 1];
    if (image->model == PIXEL_YCBCR && (chroma->shift_x != 1 || chroma->shift_y != 1)) {
        return fail(err, ST_INTERNAL, "WebP has no planes of this shape");
    }
    return ST_OK;
}

enum status webp_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    struct webp_encoder encoder = {.image = image, .options = options, .output = output, .err = err};
    struct carried carried = {0};
    struct webp_container container = {.carried = &carried, .output = output};
    const struct image_shape shape = image_shape(image);
    enum status status = check_image(image, err);
    encoder.library = status == ST_OK ? webp_library_open(err) : NULL;
    if (!encoder.library) {
        return status == ST_OK ? ST_UNSUPPORTED : status;
    }
    status = carried_make(metadata, &codec_webp, &shape, options, &carried, err);
    status = status == ST_OK ? webp_container_open(&container, err) : status;
    status = status == ST_OK ? encode_picture(&encoder) : status;
    status = status == ST_OK ? webp_container_close(&container, err) : status;
    if (status == ST_OK) {
        carried_report(&carried, options);
    }
    carried_finish(&carried);
    return status;
}
