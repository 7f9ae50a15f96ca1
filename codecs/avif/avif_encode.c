/* SPDX-License-Identifier: MIT
 * AVIF by libavif, with the encoder libaom (docs/adr/0025). */
#include <string.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_library.h"
#include "codecs/metadata/carried.h"
#include "codecs/metadata/losses.h"
#include "core/deadline.h"

enum {
    DEEP_BITS = 10, /* what 16-bit samples become: all decoders read it, 12 bits only some */
    DEEP_MAX = (1 << DEEP_BITS) - 1,
    CICP = 0x63494350,
    QUALITY_MAX = 100,
    SPEED_FASTEST = 9, /* 10 is the same */
};

/* Nanoseconds a sample at each effort, whose speed is SPEED_FASTEST - effort, as in sharp and libheif: the
 * slowest found, for noise of full resolution. */
static const uint32_t effort_ns[] = {200, 500, 750, 1000, 3000, 3500, 5000, 15000, 20000, 60000};

struct avif_writer {
    const struct avif_library *library;
    const struct image *image;
    const struct encode_options *options;
    const struct metadata *metadata;
    struct carried carried;
    avifImage *stored; /* what libavif encodes */
    struct error *err;
};

static enum status writer_fail(const struct avif_writer *writer, avifResult result, const char *details) {
    return avif_library_fail(writer->library, result, details, ST_INTERNAL, writer->err);
}

/* ---- pixels ---- */

static avifPixelFormat format_of(const struct image *image, enum subsampling subsampling) {
    if (image->model == PIXEL_GRAY || image->model == PIXEL_GRAY_ALPHA) {
        return AVIF_PIXEL_FORMAT_YUV400;
    }
    if (image->model == PIXEL_YCBCR) {
        const struct plane *chroma = &image->plane[1];
        subsampling = chroma->shift_y ? SUBSAMPLING_420 : chroma->shift_x ? SUBSAMPLING_422 : SUBSAMPLING_444;
    }
    return subsampling == SUBSAMPLING_444   ? AVIF_PIXEL_FORMAT_YUV444
           : subsampling == SUBSAMPLING_422 ? AVIF_PIXEL_FORMAT_YUV422
                                            : AVIF_PIXEL_FORMAT_YUV420;
}

/* Lends the planes, which libavif only reads. */
static void lend_planes(const struct avif_writer *writer) {
    for (unsigned p = 0; p < writer->image->plane_count; p++) {
        writer->stored->yuvPlanes[p] = writer->image->plane[p].data;
        writer->stored->yuvRowBytes[p] = (uint32_t)writer->image->plane[p].stride;
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

static enum status split_gray(const struct avif_writer *writer) {
    const struct image *image = writer->image;
    bool alpha = image->model == PIXEL_GRAY_ALPHA;
    avifImage *stored = writer->stored;
    avifResult result =
        writer->library->avifImageAllocatePlanes(stored, alpha ? AVIF_PLANES_ALL : AVIF_PLANES_YUV);
    if (result != AVIF_RESULT_OK || !stored->yuvPlanes[AVIF_CHAN_Y]) {
        return fail(writer->err, ST_BUSY, "out of memory for the AVIF library");
    }
    copy_samples(image, 0, stored->yuvPlanes[AVIF_CHAN_Y], stored->yuvRowBytes[AVIF_CHAN_Y]);
    if (alpha) {
        copy_samples(image, 1, stored->alphaPlane, stored->alphaRowBytes);
    }
    return ST_OK;
}

static enum status convert(const struct avif_writer *writer) {
    const struct image *image = writer->image;
    avifRGBImage rgb;
    writer->library->avifRGBImageSetDefaults(&rgb, writer->stored);
    rgb.format = image->model == PIXEL_RGBA ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = image->depth;
    rgb.pixels = image->plane[0].data;
    rgb.rowBytes = (uint32_t)image->plane[0].stride;
    avifResult result = writer->library->avifImageRGBToYUV(writer->stored, &rgb);
    return result == AVIF_RESULT_OK ? ST_OK : writer_fail(writer, result, "RGB cannot be converted");
}

static enum status fill(const struct avif_writer *writer) {
    enum pixel_model model = writer->image->model;
    if (model == PIXEL_YCBCR || (model == PIXEL_GRAY && writer->image->depth == 8)) {
        lend_planes(writer);
        return ST_OK;
    }
    return model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA ? split_gray(writer) : convert(writer);
}

/* ---- what stands beside them ---- */

static const uint8_t *find_code(const struct metadata *metadata) {
    for (unsigned i = 0; metadata && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->kind == CHUNK_COLOUR && chunk->tag == CICP && chunk->data.size == 4) {
            return chunk->data.data;
        }
    }
    return NULL;
}

/* Planes keep their code. RGB gets BT.601 and the full range, as in a JPEG, which libavif converts
 * fastest; deep pictures, which it converts in one way only, keep their matrix. */
static void set_code(const struct avif_writer *writer) {
    avifImage *stored = writer->stored;
    const uint8_t *code = find_code(writer->metadata);
    bool planes = writer->image->model == PIXEL_YCBCR, profile = writer->carried.profile.size > 0;
    stored->colorPrimaries = profile ? AVIF_COLOR_PRIMARIES_UNSPECIFIED : AVIF_COLOR_PRIMARIES_BT709;
    stored->transferCharacteristics =
        profile ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    stored->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    stored->yuvRange = AVIF_RANGE_FULL;
    if (code) {
        bool deep_2020 = writer->image->depth == 16 && code[2] == AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
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
static void set_orientation(const struct avif_writer *writer) {
    static const uint8_t quarters[9] = {0, 0, 0, 2, 0, 1, 3, 3, 1}; /* anticlockwise */
    static const int8_t mirrors[9] = {-1, -1, 1, -1, 0, 0, -1, 0, -1};
    const struct encode_options *options = writer->options;
    bool stays = writer->metadata && options->keep_metadata && !options->upright;
    unsigned number = stays && writer->metadata->orientation <= 8 ? writer->metadata->orientation : 1;
    avifImage *stored = writer->stored;
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
static void lend_metadata(const struct avif_writer *writer) {
    writer->stored->icc = lent(&writer->carried.profile);
    writer->stored->exif = lent(&writer->carried.exif);
    writer->stored->xmp = lent(&writer->carried.xmp);
}

static void destroy_image(const struct avif_writer *writer) {
    if (writer->stored) {
        const avifRWData none = {NULL, 0};
        writer->stored->icc = writer->stored->exif = writer->stored->xmp = none;
        writer->library->avifImageDestroy(writer->stored);
    }
}

static enum status make_image(struct avif_writer *writer) {
    const struct image *image = writer->image;
    avifPixelFormat format = format_of(image, writer->options->subsampling);
    writer->stored = writer->library->avifImageCreate(image->width, image->height,
                                                      image->depth == 8 ? 8 : DEEP_BITS, format);
    if (!writer->stored) {
        return fail(writer->err, ST_BUSY, "out of memory for the AVIF library");
    }
    set_code(writer);
    set_orientation(writer);
    lend_metadata(writer);
    return fill(writer);
}

/* ---- encoding ---- */

static uint64_t count_samples(const struct image *image, avifPixelFormat format) {
    unsigned halves = format == AVIF_PIXEL_FORMAT_YUV400   ? 2
                      : format == AVIF_PIXEL_FORMAT_YUV420 ? 3
                      : format == AVIF_PIXEL_FORMAT_YUV422 ? 4
                                                           : 6;
    halves += image_pixel_has_alpha(image->model) ? 2 : 0;
    return (uint64_t)image->width * image->height * halves / 2;
}

/* The strongest effort up to the asked one that fits into half the time: other work may share the cores. */
static unsigned affordable(const struct avif_writer *writer) {
    const unsigned last = sizeof effort_ns / sizeof *effort_ns - 1;
    const struct encode_options *options = writer->options;
    uint64_t samples = count_samples(writer->image, writer->stored->yuvFormat);
    uint64_t half = (uint64_t)deadline_left(options->deadline_ns) / 2;
    unsigned effort = options->effort < last ? options->effort : last;
    while (effort > 0 && samples * effort_ns[effort] > half) {
        effort--;
    }
    return effort;
}

/* The quality's quantizer, by the formula of libavif 1.0 and of libheif. */
static void set_quality(avifEncoder *encoder, int quality) {
#if AVIF_VERSION >= 1000000
    encoder->quality = encoder->qualityAlpha = quality;
#else
    int quantizer = ((QUALITY_MAX - quality) * AVIF_QUANTIZER_WORST_QUALITY + QUALITY_MAX / 2) / QUALITY_MAX;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = quantizer;
#endif
}

/* libaom takes pictures with flat areas for screens. It then looks for parts that repeat, by hashes of every
 * block, with several times the memory and time. */
static void set_options(const struct avif_writer *writer, avifEncoder *encoder) {
    (void)writer->library->avifEncoderSetCodecSpecificOption(encoder, "enable-intrabc", "0");
}

static enum status write_with(const struct avif_writer *writer, avifEncoder *encoder, struct buf *output) {
    encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
    encoder->maxThreads = 1;
    encoder->speed = SPEED_FASTEST - (int)affordable(writer);
    set_quality(encoder, writer->options->quality);
    set_options(writer, encoder);
    avifRWData file = {NULL, 0};
    avifResult result = writer->library->avifEncoderWrite(encoder, writer->stored, &file);
    enum status status = result == AVIF_RESULT_OK ? buf_append(output, file.data, file.size, writer->err)
                                                  : writer_fail(writer, result, encoder->diag.error);
    writer->library->avifRWDataFree(&file);
    return status;
}

static enum status write_file(const struct avif_writer *writer, struct buf *output) {
    const struct avif_library *library = writer->library;
    if (!library->avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_ENCODE)) {
        return fail(writer->err, ST_UNSUPPORTED,
                    "this system's AVIF library was built without libaom, which writes AVIF");
    }
    avifEncoder *encoder = library->avifEncoderCreate();
    if (!encoder) {
        return fail(writer->err, ST_BUSY, "out of memory for the AVIF library");
    }
    enum status status = write_with(writer, encoder, output);
    library->avifEncoderDestroy(encoder);
    return status;
}

enum status avif_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    struct avif_writer writer = {.image = image, .options = options, .metadata = metadata, .err = err};
    const struct image_shape shape = image_shape(image);
    enum status status = avif_library_open(&writer.library, err);
    status = status == ST_OK ? deadline_check(options->deadline_ns, err) : status;
    if (status == ST_OK) {
        status = carried_make(metadata, &codec_avif, &shape, options, &writer.carried, err);
    }
    status = status == ST_OK ? make_image(&writer) : status;
    status = status == ST_OK ? write_file(&writer, output) : status;
    status = status == ST_OK ? deadline_check(options->deadline_ns, err) : status;
    if (status == ST_OK) {
        carried_report(&writer.carried, options);
    }
    destroy_image(&writer);
    carried_finish(&writer.carried);
    return status;
}

/* A pixel at the least effort, and the multiple that each effort takes. */
struct encode_cost avif_encode_cost(const struct encode_extent *extent,
                                    const struct encode_options *options) {
    static const float factor[10] = {1, 1, 3.5F, 4.5F, 6.5F, 6.5F, 15, 18, 32, 63};
    return (struct encode_cost){60 * extent->pixels * factor[options->effort], 0};
}
