/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jxl/jxl.h"
#include "codecs/jxl/jxl_colours.h"
#include "codecs/jxl/jxl_effort.h"
#include "codecs/jxl/jxl_library.h"
#include "codecs/metadata/carried.h"
#include "core/deadline.h"

struct jxl_writer {
    const struct jxl_library *library;
    const struct image *image;
    const struct encode_options *options;
    const struct metadata *metadata;
    struct carried carried;
    struct jxl_effort effort;
    JxlEncoder *encoder;
    JxlEncoderFrameSettings *frame; /* owned by the encoder */
    struct error *err;
};

static enum status judge(const struct jxl_writer *writer, JxlEncoderStatus result, const char *what) {
    if (result == JXL_ENC_SUCCESS) {
        return ST_OK;
    }
    JxlEncoderError error = writer->library->JxlEncoderGetError(writer->encoder);
    return error == JXL_ENC_ERR_OOM
               ? fail(writer->err, ST_BUSY, "out of memory in the JPEG XL library")
               : fail(writer->err, ST_INTERNAL, "JPEG XL library failed with error %d: %s", (int)error, what);
}

/* ---- what stands in the header ---- */

static uint8_t orientation_of(const struct jxl_writer *writer) {
    bool stays = writer->metadata && writer->options->keep_metadata && !writer->options->upright;
    return stays ? writer->metadata->orientation : 1;
}

/* Samples of the file's own colours, unless libjxl's lossy coder converts them. */
static enum status set_info(const struct jxl_writer *writer) {
    const struct image *image = writer->image;
    bool alpha = image_pixel_has_alpha(image->model);
    JxlBasicInfo info;
    writer->library->JxlEncoderInitBasicInfo(&info);
    info.xsize = image->width;
    info.ysize = image->height;
    info.bits_per_sample = image->depth;
    info.orientation = (JxlOrientation)orientation_of(writer);
    info.num_color_channels = image->model == PIXEL_GRAY || image->model == PIXEL_GRAY_ALPHA ? 1 : 3;
    info.num_extra_channels = alpha ? 1 : 0;
    info.alpha_bits = alpha ? image->depth : 0;
    info.uses_original_profile = writer->effort.kind != JXL_KIND_LOSSY;
    return judge(writer, writer->library->JxlEncoderSetBasicInfo(writer->encoder, &info), "header");
}

static enum status set_colours(const struct jxl_writer *writer) {
    const struct buf *profile = &writer->carried.profile;
    if (profile->size > 0) {
        return judge(writer,
                     writer->library->JxlEncoderSetICCProfile(writer->encoder, profile->data, profile->size),
                     "profile");
    }
    JxlColorEncoding encoding;
    bool gray = writer->image->model == PIXEL_GRAY || writer->image->model == PIXEL_GRAY_ALPHA;
    jxl_colours_encoding(jxl_colours_code(writer->metadata), gray, &encoding);
    return judge(writer, writer->library->JxlEncoderSetColorEncoding(writer->encoder, &encoding), "colours");
}

/* ---- pixels ---- */

/* The scale of quality that libjxl's own programs have. */
static float distance_of(unsigned quality) {
    float q = (float)quality;
    return quality >= 100  ? 0.01F
           : quality >= 30 ? 0.1F + (100 - q) * 0.09F
                           : 53.0F / 3000 * q * q - 23.0F / 20 * q + 25;
}

static bool set_option(const struct jxl_writer *writer, JxlEncoderFrameSettingId option, int64_t value) {
    return writer->library->JxlEncoderFrameSettingsSetOption(writer->frame, option, value) == JXL_ENC_SUCCESS;
}

/* The search for patches and dots takes up to 800 bytes a pixel of a flat picture, and saves a few percent.
 */
static enum status set_options(struct jxl_writer *writer) {
    const struct jxl_library *jxl = writer->library;
    writer->frame = jxl->JxlEncoderFrameSettingsCreate(writer->encoder, NULL);
    if (!writer->frame) {
        return fail(writer->err, ST_BUSY, "out of memory for the JPEG XL library");
    }
    bool set = set_option(writer, JXL_ENC_FRAME_SETTING_EFFORT, writer->effort.level) &&
               set_option(writer, JXL_ENC_FRAME_SETTING_PATCHES, 0) &&
               set_option(writer, JXL_ENC_FRAME_SETTING_DOTS, 0);
    if (writer->effort.kind == JXL_KIND_LOSSLESS) {
        set = set && jxl->JxlEncoderSetFrameLossless(writer->frame, JXL_TRUE) == JXL_ENC_SUCCESS;
    } else if (writer->effort.kind == JXL_KIND_LOSSY) {
        set = set && jxl->JxlEncoderSetFrameDistance(writer->frame, distance_of(writer->options->quality)) ==
                         JXL_ENC_SUCCESS;
    }
    return judge(writer, set ? JXL_ENC_SUCCESS : JXL_ENC_ERROR, "options");
}

static enum status add_pixels(const struct jxl_writer *writer) {
    const struct plane *plane = &writer->image->plane[0];
    const JxlPixelFormat format = {.num_channels = plane->channels,
                                   .data_type = writer->image->depth == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                                   .endianness = JXL_NATIVE_ENDIAN,
                                   .align = plane->stride};
    return judge(writer,
                 writer->library->JxlEncoderAddImageFrame(writer->frame, &format, plane->data,
                                                          plane->stride * plane->height),
                 "pixels");
}

/* The JPEG has nothing but the pixels, and is not kept in the file. */
static enum status add_jpeg(const struct jxl_writer *writer) {
    struct encode_options options = *writer->options;
    struct buf jpeg;
    options.progressive = options.optimal = options.keep_metadata = false;
    options.losses = NULL;
    buf_init(&jpeg, SIZE_MAX);
    enum status status = codec_encode(CODEC_JPEG, writer->image, &options, NULL, &jpeg, writer->err);
    status = status == ST_OK ? deadline_check(options.deadline_ns, writer->err) : status;
    if (status == ST_OK) {
        status = judge(writer, writer->library->JxlEncoderAddJPEGFrame(writer->frame, jpeg.data, jpeg.size),
                       "JPEG");
    }
    buf_finish(&jpeg);
    return status;
}

/* ---- boxes ---- */

static enum status add_box(const struct jxl_writer *writer, const char type[static 4],
                           const struct buf *data) {
    return data->size == 0 ? ST_OK
                           : judge(writer,
                                   writer->library->JxlEncoderAddBox(writer->encoder, type, data->data,
                                                                     data->size, JXL_FALSE),
                                   "boxes");
}

/* In a box the TIFF structure of EXIF stands behind an offset. */
static enum status add_exif(const struct jxl_writer *writer) {
    static const uint8_t offset[4] = {0};
    const struct buf *exif = &writer->carried.exif;
    struct buf box;
    buf_init(&box, sizeof offset + exif->size);
    enum status status = ST_OK;
    if (exif->size > 0) {
        status = buf_append(&box, offset, sizeof offset, writer->err);
        status = status == ST_OK ? buf_append(&box, exif->data, exif->size, writer->err) : status;
    }
    status = status == ST_OK ? add_box(writer, "Exif", &box) : status;
    buf_finish(&box);
    return status;
}

static enum status add_boxes(const struct jxl_writer *writer) {
    if (writer->carried.exif.size == 0 && writer->carried.xmp.size == 0) {
        return ST_OK;
    }
    enum status status = judge(writer, writer->library->JxlEncoderUseBoxes(writer->encoder), "boxes");
    status = status == ST_OK ? add_exif(writer) : status;
    return status == ST_OK ? add_box(writer, "xml ", &writer->carried.xmp) : status;
}

/* ---- the file ---- */

static enum status write_file(const struct jxl_writer *writer, struct buf *output) {
    JxlEncoderStatus result;
    enum status status = jxl_library_write(writer->library, writer->encoder, output, &result, writer->err);
    return status == ST_OK ? judge(writer, result, "coding") : status;
}

static enum status encode(struct jxl_writer *writer, struct buf *output) {
    const struct image_shape shape = image_shape(writer->image);
    writer->effort = jxl_effort_choose(&shape, writer->options);
    writer->encoder = writer->library->JxlEncoderCreate(NULL);
    if (!writer->encoder) {
        return fail(writer->err, ST_BUSY, "out of memory for the JPEG XL library");
    }
    enum status status = set_info(writer);
    status = status == ST_OK ? set_colours(writer) : status;
    status = status == ST_OK ? set_options(writer) : status;
    status = status == ST_OK ? add_boxes(writer) : status;
    if (status == ST_OK) {
        status = writer->effort.kind == JXL_KIND_REPACKED ? add_jpeg(writer) : add_pixels(writer);
    }
    status = status == ST_OK ? write_file(writer, output) : status;
    writer->library->JxlEncoderDestroy(writer->encoder);
    return status;
}

enum status jxl_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    struct jxl_writer writer = {.library = jxl_library_open(err),
                                .image = image,
                                .options = options,
                                .metadata = metadata,
                                .err = err};
    if (!writer.library) {
        return ST_UNSUPPORTED;
    }
    /* Colours that libjxl has no words for get a profile. */
    struct codec target = codec_jxl;
    const uint8_t *code = jxl_colours_code(metadata);
    const struct image_shape shape = image_shape(image);
    target.colours =
        code && !jxl_colours_encoding(code, false, &(JxlColorEncoding){0}) ? COLOURS_NONE : COLOURS_CODES;
    enum status status = deadline_check(options->deadline_ns, err);
    status =
        status == ST_OK ? carried_make(metadata, &target, &shape, options, &writer.carried, err) : status;
    status = status == ST_OK ? encode(&writer, output) : status;
    status = status == ST_OK ? deadline_check(options->deadline_ns, err) : status;
    if (status == ST_OK) {
        carried_report(&writer.carried, options);
    }
    carried_finish(&writer.carried);
    return status;
}
