/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic.h"
#include "codecs/heic/heic_colours.h"
#include "codecs/heic/heic_pixels.h"
#include "codecs/heic/heic_reader.h"
#include "codecs/small_blocks.h"
#include "core/deadline.h"

static struct image_shape shape_of(const struct heic_reader *reader) {
    const struct heic_library *heif = reader->heif;
    bool alpha = heif->heif_image_handle_has_alpha_channel(reader->handle);
    return (struct image_shape){
        .model =
            reader->facts.gray ? (alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY) : (alpha ? PIXEL_RGBA : PIXEL_RGB),
        .depth = heif->heif_image_handle_get_luma_bits_per_pixel(reader->handle) > 8 ? 16 : 8,
        .width = (uint32_t)heif->heif_image_handle_get_width(reader->handle),
        .height = (uint32_t)heif->heif_image_handle_get_height(reader->handle),
    };
}

enum status heic_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err) {
    struct heic_reader reader;
    enum status status = heic_reader_open(&reader, input, limits, err);
    if (status == ST_OK) {
        picture->pixels = picture->native = shape_of(&reader);
        status = heic_metadata_read(&reader, &picture->metadata, err);
    }
    heic_reader_finish(&reader);
    return status;
}

/* Planes are smaller than interleaved pixels, and show their sizes: not every version of libheif checks that
 * the data have the size that the boxes state. */
static enum status decode_to(const struct heic_reader *reader, enum heif_colorspace space,
                             enum heif_chroma chroma, struct heif_image **planes, struct error *err) {
    const struct heic_library *heif = reader->heif;
    struct heif_decoding_options *options = heif->heif_decoding_options_alloc();
    if (!options) {
        return fail(err, ST_BUSY, "out of memory for the HEIC reader");
    }
    options->strict_decoding = 1;
    struct heif_error failure = heif->heif_decode_image(reader->handle, planes, space, chroma, options);
    heif->heif_decoding_options_free(options);
    return failure.code == heif_error_Ok ? ST_OK : heic_reader_fail(&failure, err);
}

/* As stored where chroma is to be interpolated; RGB for all else, also for colours that heic_colours does not
 * know, which show only after the decoding. */
static enum status decode_planes(const struct heic_reader *reader, struct heif_image **planes,
                                 struct error *err) {
    if (reader->facts.halved) {
        enum heif_chroma chroma = reader->facts.halved == 1 ? heif_chroma_420 : heif_chroma_422;
        enum status status = decode_to(reader, heif_colorspace_YCbCr, chroma, planes, err);
        bool known = status == ST_OK && heic_colours_known(reader->heif, *planes);
        if (known || (status != ST_OK && status != ST_UNSUPPORTED)) {
            return status;
        }
        if (*planes) {
            reader->heif->heif_image_release(*planes);
            *planes = NULL;
        }
    }
    return decode_to(reader, heif_colorspace_RGB, heif_chroma_444, planes, err);
}

static enum status decode_pixels(const struct heic_reader *reader, const struct image *image,
                                 struct error *err) {
    struct heif_image *planes = NULL;
    struct small_blocks small;
    small_blocks_take(&small);
    enum status status = decode_planes(reader, &planes, err);
    small_blocks_give(&small);
    if (status == ST_OK) {
        bool premultiplied = reader->heif->heif_image_handle_is_premultiplied_alpha(reader->handle);
        status = heic_pixels_copy(reader->heif, planes, premultiplied, image, err);
    }
    if (planes) {
        reader->heif->heif_image_release(planes);
    }
    return status;
}

enum status heic_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err) {
    (void)picture;
    struct heic_reader reader;
    enum status status = heic_reader_open(&reader, input, limits, err);
    if (status == ST_OK) {
        status = deadline_check(limits->deadline_ns, err);
    }
    if (status == ST_OK) {
        status = decode_pixels(&reader, image, err);
    }
    heic_reader_finish(&reader);
    return status == ST_OK ? deadline_check(limits->deadline_ns, err) : status;
}
