/* SPDX-License-Identifier: MIT
 * Pictures as libavif encodes them. */
#include <string.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_writer.h"
#include "core/deadline.h"

enum {
    DEEP_BITS = 10, /* what 16-bit samples become: all decoders read it, 12 bits only some */
    DEEP_MAX = (1 << DEEP_BITS) - 1,
    CICP = 0x63494350,
};

enum status avif_writer_fail(const struct avif_writer *writer, avifResult result, const char *details,
                             struct error *err) {
    return avif_library_fail(writer->library, result, details, ST_INTERNAL, err);
}

/* ---- pixels ---- */

static avifPixelFormat format_of(const struct image_shape *shape, enum subsampling subsampling) {
    if (shape->model == PIXEL_GRAY || shape->model == PIXEL_GRAY_ALPHA) {
        return AVIF_PIXEL_FORMAT_YUV400;
    }
    if (shape->model == PIXEL_YCBCR) {
        subsampling = shape->chroma_shift_y   ? SUBSAMPLING_420
                      : shape->chroma_shift_x ? SUBSAMPLING_422
                                              : SUBSAMPLING_444;
    }
    return subsampling == SUBSAMPLING_444   ? AVIF_PIXEL_FORMAT_YUV444
           : subsampling == SUBSAMPLING_422 ? AVIF_PIXEL_FORMAT_YUV422
                                            : AVIF_PIXEL_FORMAT_YUV420;
}

uint64_t avif_writer_samples(const struct avif_writer *writer, const struct image_shape *shape) {
    const avifPixelFormat format = format_of(shape, writer->options.subsampling);
    unsigned halves = format == AVIF_PIXEL_FORMAT_YUV400   ? 2
                      : format == AVIF_PIXEL_FORMAT_YUV420 ? 3
                      : format == AVIF_PIXEL_FORMAT_YUV422 ? 4
                                                           : 6;
    halves += image_pixel_has_alpha(shape->model) ? 2 : 0;
    return (uint64_t)shape->width * shape->height * halves / 2;
}

/* Lends the planes, which libavif only reads. */
static void lend_planes(const struct image *image, avifImage *stored) {
    for (unsigned p = 0; p < image->plane_count; p++) {
        stored->yuvPlanes[p] = image->plane[p].data;
        stored->yuvRowBytes[p] = (uint32_t)image->plane[p].stride;
    }
}

static void copy_samples(const struct image *image, unsigned channel, uint8_t *to, uint32_t stride) {
    const struct plane *plane = &image->plane[0];
    for (uint32_t y = 0; y < image->height; y++, to += stride) {
        const uint8_t *from = plane_row(plane, y);
        for (uint32_t x = 0; x < image->width; x++) {
            size_t i = (size_t)x * plane->channels + channel;
            if (image->depth == 8) {
                to[x] = from[i];
            } else {
                uint16_t sample;
                memcpy(&sample, from + 2 * i, 2);
                sample = (uint16_t)(((uint32_t)sample * DEEP_MAX + UINT16_MAX / 2) / UINT16_MAX);
                memcpy(to + 2 * (size_t)x, &sample, 2);
            }
        }
    }
}

static enum status split_gray(const struct avif_writer *writer, const struct image *image, avifImage *stored,
                              struct error *err) {
    bool alpha = image->model == PIXEL_GRAY_ALPHA;
    avifResult result =
        writer->library->avifImageAllocatePlanes(stored, alpha ? AVIF_PLANES_ALL : AVIF_PLANES_YUV);
    if (result != AVIF_RESULT_OK || !stored->yuvPlanes[AVIF_CHAN_Y]) {
        return fail(err, ST_BUSY, "out of memory for the AVIF library");
    }
    copy_samples(image, 0, stored->yuvPlanes[AVIF_CHAN_Y], stored->yuvRowBytes[AVIF_CHAN_Y]);
    if (alpha) {
        copy_samples(image, 1, stored->alphaPlane, stored->alphaRowBytes);
    }
    return ST_OK;
}

static enum status convert(const struct avif_writer *writer, const struct image *image, avifImage *stored,
                           struct error *err) {
    avifRGBImage rgb;
    writer->library->avifRGBImageSetDefaults(&rgb, stored);
    rgb.format = image->model == PIXEL_RGBA ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = image->depth;
    rgb.pixels = image->plane[0].data;
    rgb.rowBytes = (uint32_t)image->plane[0].stride;
    avifResult result = writer->library->avifImageRGBToYUV(stored, &rgb);
    return result == AVIF_RESULT_OK ? ST_OK
                                    : avif_writer_fail(writer, result, "RGB cannot be converted", err);
}

static enum status fill(const struct avif_writer *writer, const struct image *image, avifImage *stored,
                        struct error *err) {
    enum pixel_model model = image->model;
    if (model == PIXEL_YCBCR || (model == PIXEL_GRAY && image->depth == 8)) {
        lend_planes(image, stored);
        return ST_OK;
    }
    return model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA ? split_gray(writer, image, stored, err)
                                                            : convert(writer, image, stored, err);
}

/* ---- what stands beside them ---- */

static void find_code(struct avif_writer *writer, const struct metadata *metadata) {
    for (unsigned i = 0; metadata && i < metadata->chunk_count && !writer->coded; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        writer->coded = chunk->kind == CHUNK_COLOUR && chunk->tag == CICP && chunk->data.size == 4;
        if (writer->coded) {
            memcpy(writer->code, chunk->data.data, sizeof writer->code);
        }
    }
}

/* Planes keep their code. RGB gets BT.601 and the full range, as in a JPEG, which libavif converts
 * fastest; deep pictures, which it converts in one way only, keep their matrix. */
static void set_code(const struct avif_writer *writer, const struct image *image, avifImage *stored) {
    const uint8_t *code = writer->code;
    bool planes = image->model == PIXEL_YCBCR, profile = writer->carried.profile.size > 0;
    stored->colorPrimaries = profile ? AVIF_COLOR_PRIMARIES_UNSPECIFIED : AVIF_COLOR_PRIMARIES_BT709;
    stored->transferCharacteristics =
        profile ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    stored->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    stored->yuvRange = AVIF_RANGE_FULL;
    if (writer->coded) {
        bool deep_2020 = image->depth == 16 && code[2] == AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
        stored->colorPrimaries = code[0];
        stored->transferCharacteristics = code[1];
        stored->matrixCoefficients = planes || deep_2020 ? code[2] : AVIF_MATRIX_COEFFICIENTS_BT601;
        stored->yuvRange = planes && code[3] == 0 ? AVIF_RANGE_LIMITED : AVIF_RANGE_FULL;
    }
}

#if AVIF_VERSION >= 1000000
#define MIRROR(image) (image)->imir.axis
#else
#define MIRROR(image) (image)->imir.mode
#endif

/* Readers of AVIF ignore the orientation in EXIF. */
static void set_orientation(unsigned number, avifImage *stored) {
    static const uint8_t quarters[9] = {0, 0, 0, 2, 0, 1, 3, 3, 1}; /* anticlockwise */
    static const int8_t mirrors[9] = {-1, -1, 1, -1, 0, 0, -1, 0, -1};
    if (quarters[number] > 0) {
        stored->transformFlags |= AVIF_TRANSFORM_IROT;
        stored->irot.angle = quarters[number];
    }
    if (mirrors[number] >= 0) {
        stored->transformFlags |= AVIF_TRANSFORM_IMIR;
        MIRROR(stored) = (uint8_t)mirrors[number];
    }
}

static avifRWData lent(const struct buf *data) {
    return (avifRWData){data->data, data->size};
}

/* Lends the metadata, which libavif copies. Its own functions would read the orientation in EXIF. */
static void lend_metadata(const struct avif_writer *writer, avifImage *stored) {
    stored->icc = lent(&writer->carried.profile);
    stored->exif = lent(&writer->carried.exif);
    stored->xmp = lent(&writer->carried.xmp);
}

void avif_writer_free(const struct avif_writer *writer, avifImage *stored) {
    if (stored) {
        const avifRWData none = {NULL, 0};
        stored->icc = stored->exif = stored->xmp = none;
        writer->library->avifImageDestroy(stored);
    }
}

enum status avif_writer_image(const struct avif_writer *writer, const struct image *image, avifImage **stored,
                              struct error *err) {
    const struct image_shape shape = image_shape(image);
    *stored = writer->library->avifImageCreate(image->width, image->height, image->depth == 8 ? 8 : DEEP_BITS,
                                               format_of(&shape, writer->options.subsampling));
    if (!*stored) {
        return fail(err, ST_BUSY, "out of memory for the AVIF library");
    }
    set_code(writer, image, *stored);
    set_orientation(writer->orientation, *stored);
    lend_metadata(writer, *stored);
    return fill(writer, image, *stored, err);
}

/* ---- the writer ---- */

enum status avif_writer_open(struct avif_writer *writer, const struct image_shape *shape,
                             const struct encode_options *options, const struct metadata *metadata,
                             struct error *err) {
    *writer = (struct avif_writer){.options = *options, .orientation = 1};
    writer->options.losses = NULL;
    enum status status = avif_library_open(&writer->library, err);
    status = status == ST_OK ? deadline_check(options->deadline_ns, err) : status;
    if (status == ST_OK &&
        !writer->library->avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_ENCODE)) {
        status = fail(err, ST_UNSUPPORTED,
                      "this system's AVIF library was built without libaom, which writes AVIF");
    }
    if (status == ST_OK) {
        status = carried_make(metadata, &codec_avif, shape, options, &writer->carried, err);
    }
    if (status == ST_OK) {
        const bool turned = metadata && options->keep_metadata && !options->upright;
        writer->orientation = turned && metadata->orientation <= 8 ? metadata->orientation : 1;
        find_code(writer, metadata);
        carried_report(&writer->carried, options);
    }
    return status;
}

void avif_writer_close(struct avif_writer *writer) {
    carried_finish(&writer->carried);
}
