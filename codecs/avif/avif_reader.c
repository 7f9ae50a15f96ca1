/* SPDX-License-Identifier: MIT */
#include "codecs/avif/avif_reader.h"

#include <limits.h>
#include <string.h>

#include "codecs/avif/avif.h"
#include "codecs/avif/avif_crop.h"
#include "codecs/bmff/bmff_gain_map.h"
#include "codecs/limits.h"
#include "codecs/metadata/losses.h"
#include "codecs/peek.h"

enum { FRAMES_MAX = 10000 }; /* of an animation; libavif lists them all */

enum status avif_reader_fail(const struct avif_reader *reader, avifResult result, struct error *err) {
    const char *details = reader->decoder->diag.error;
    if (strstr(details, "too large") || strstr(details, "imageCountLimit")) {
        return fail(err, ST_LIMIT, "AVIF is over a limit: %s", details);
    }
    return avif_library_fail(reader->library, result, details, ST_CORRUPT, err);
}

/* The limits of libavif itself hold while it parses, which takes no memory for pixels: so a picture over
 * ours gets our sentence, and a large picture beside the shown one does no harm.
 *
 * Nothing is strict: libheif before 1.12 writes no `pixi`, avif-serialize before 0.7.4 no `ispe` for alpha,
 * and avif_crop_read judges crops. */
static enum status parse(struct avif_reader *reader, struct bytes input, struct error *err) {
    const struct avif_library *library = reader->library;
    reader->decoder = library->avifDecoderCreate();
    if (!reader->decoder) {
        return fail(err, ST_BUSY, "out of memory for the AVIF library");
    }
    reader->decoder->maxThreads = 1;
    reader->decoder->imageCountLimit = FRAMES_MAX;
    reader->decoder->strictFlags = AVIF_STRICT_DISABLED;
    avifResult result = library->avifDecoderSetIOMemory(reader->decoder, input.data, input.size);
    result = result == AVIF_RESULT_OK ? library->avifDecoderParse(reader->decoder) : result;
    return result == AVIF_RESULT_OK ? ST_OK : avif_reader_fail(reader, result, err);
}

static void limit(avifDecoder *decoder, const struct codec_limits *limits) {
    uint64_t most = AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    decoder->imageSizeLimit = (uint32_t)(limits->max_pixels < most ? limits->max_pixels : most);
    decoder->imageDimensionLimit = limits->max_side;
}

/* Whether pixels are made of the planes by sums with weights. The others, among which are RGB planes, YCgCo
 * and constant luminance, are none for filters. */
static bool is_weighted(avifMatrixCoefficients matrix) {
    switch (matrix) {
    case AVIF_MATRIX_COEFFICIENTS_BT709:
    case AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED:
    case AVIF_MATRIX_COEFFICIENTS_FCC:
    case AVIF_MATRIX_COEFFICIENTS_BT470BG:
    case AVIF_MATRIX_COEFFICIENTS_BT601:
    case AVIF_MATRIX_COEFFICIENTS_SMPTE240:
    case AVIF_MATRIX_COEFFICIENTS_BT2020_NCL:
    case AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_NCL:
        return true;
    default:
        return false;
    }
}

/* The first three bits of the sequence header, at the beginning of the AV1 data, are the profile; UINT_MAX
 * when they are not there. */
static unsigned av1_profile(struct bytes data) {
    enum { SEQUENCE_HEADER = 1, EXTENDED = 4, SIZED = 2, SIZE_BYTES = 8 };
    size_t at = 0;
    while (at + 2 < data.size && data.data[at] & SIZED) { /* units of a type and a size */
        unsigned type = data.data[at] >> 3 & 15;
        size_t size = 0;
        at += data.data[at] & EXTENDED ? 2 : 1;
        for (unsigned i = 0, more = 1; more && i < SIZE_BYTES && at < data.size; i++, at++) {
            size |= (size_t)(data.data[at] & 127) << 7 * i;
            more = data.data[at] & 128;
        }
        if (type == SEQUENCE_HEADER && at < data.size) {
            return data.data[at] >> 5;
        }
        at = size < data.size - at ? at + size : data.size;
    }
    return UINT_MAX;
}

/* The profile tells the subsampling of 8 bits. In old files of cavif the container tells 4:4:4 of 4:2:2. */
static avifPixelFormat format_of(const struct avif_reader *reader, struct bytes input) {
    static const avifPixelFormat formats[] = {AVIF_PIXEL_FORMAT_YUV420, AVIF_PIXEL_FORMAT_YUV444,
                                              AVIF_PIXEL_FORMAT_YUV422};
    avifExtent extent;
    avifResult result = reader->library->avifDecoderNthImageMaxExtent(reader->decoder, 0, &extent);
    unsigned profile = UINT_MAX;
    if (result == AVIF_RESULT_OK && extent.offset < input.size) {
        profile = av1_profile((struct bytes){input.data + extent.offset, input.size - (size_t)extent.offset});
    }
    return profile < sizeof formats / sizeof *formats ? formats[profile] : reader->decoder->image->yuvFormat;
}

static void describe(struct avif_reader *reader, struct bytes input) {
    const avifImage *image = reader->decoder->image;
    bool gray = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400, alpha = reader->decoder->alphaPresent;
    reader->pixels = (struct image_shape){
        .model = gray    ? alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY
                 : alpha ? PIXEL_RGBA
                         : PIXEL_RGB,
        .depth = image->depth > 8 ? 16 : 8,
        .width = reader->crop.width,
        .height = reader->crop.height,
    };
    reader->native = reader->pixels;
    if (!gray && !alpha && image->depth == 8 && is_weighted(image->matrixCoefficients)) {
        avifPixelFormat format = format_of(reader, input);
        if (avif_crop_cuts_chroma(&reader->crop, format)) {
            return;
        }
        reader->native.model = PIXEL_YCBCR;
        reader->native.chroma_shift_x = format != AVIF_PIXEL_FORMAT_YUV444;
        reader->native.chroma_shift_y = format == AVIF_PIXEL_FORMAT_YUV420;
    }
}

enum status avif_reader_open(struct avif_reader *reader, struct bytes file, const struct codec_limits *limits,
                             struct error *err) {
    *reader = (struct avif_reader){0};
    enum status status = avif_library_open(&reader->library, err);
    if (status == ST_OK && limits->gain_map) {
        status = bmff_gain_map_file(file, "AVIF", &reader->map, err);
    }
    struct bytes input = limits->gain_map ? buf_bytes(&reader->map) : file;
    status = status == ST_OK ? parse(reader, input, err) : status;
    if (status != ST_OK) {
        return status;
    }
    const avifDecoder *decoder = reader->decoder;
    status = limits_check_size(decoder->image->width, decoder->image->height, limits, err);
    if (status == ST_OK && decoder->imageCount > 1 && !limits->first_frame) {
        return fail(err, ST_UNSUPPORTED, "AVIF is animated; page=0 takes its first frame");
    }
    status = status == ST_OK ? avif_crop_read(decoder->image, &reader->crop, err) : status;
    if (status == ST_OK) {
        limit(reader->decoder, limits);
        describe(reader, input);
    }
    return status;
}

void avif_reader_close(struct avif_reader *reader) {
    if (reader->decoder) {
        reader->library->avifDecoderDestroy(reader->decoder);
    }
    buf_finish(&reader->map);
    *reader = (struct avif_reader){0};
}

/* What libavif does not tell: light levels, and the bits of other pictures. A file that is not read here has
 * nothing to tell, a sequence without a still picture; one with too many items has other pictures. */
static unsigned read_boxes(struct bytes input, struct bmff_light *light, bool *gain_map) {
    struct bmff_items items;
    struct error ignored;
    enum status status = bmff_items_read(&items, input, "AVIF", &ignored);
    if (status == ST_OK) {
        bmff_light_read(&items, light);
        *gain_map = bmff_items_have_gain_map(&items);
    }
    unsigned losses = status == ST_OK ? bmff_items_losses(&items) : status == ST_LIMIT ? LOSS_PICTURES : 0;
    bmff_items_finish(&items);
    return losses;
}

/* How often the frames are played: for ever where libavif does not tell. */
#if AVIF_VERSION >= 1000000
static uint32_t plays_of(const avifDecoder *decoder) {
    return decoder->repetitionCount >= 0 ? (uint32_t)decoder->repetitionCount + 1 : 0;
}
#else
static uint32_t plays_of(const avifDecoder *decoder) {
    (void)decoder;
    return 0;
}
#endif

enum status avif_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err) {
    struct avif_reader reader;
    enum status status = avif_reader_open(&reader, input, limits, err);
    if (status == ST_OK) {
        picture->native = reader.native;
        picture->pixels = reader.pixels;
        picture->frames = (uint32_t)reader.decoder->imageCount;
        picture->plays = plays_of(reader.decoder);
        picture->metadata.losses |= read_boxes(input, &reader.light, &picture->metadata.gain_map);
        status = avif_reader_metadata(&reader, &picture->metadata, err);
    }
    avif_reader_close(&reader);
    return status;
}

/* One of 8 bits without alpha is taken for one of the usual 4:2:0. */
bool avif_peek(struct bytes input, struct peek *peek) {
    bool known = bmff_peek(input, peek);
    peek->sampling = peek->channels == 3 && peek->depth == 8 ? 0x22 : 0;
    return known;
}
