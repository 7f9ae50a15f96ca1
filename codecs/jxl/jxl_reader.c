/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl_reader.h"

#include "codecs/jxl/jxl.h"
#include "codecs/jxl/jxl_colours.h"
#include "codecs/jxl/jxl_restore.h"
#include "codecs/limits.h"
#include "codecs/metadata/losses.h"

enum { CHANNELS_MAX = 4 }; /* beside the colours: each takes memory of its own (jxl_memory.c) */

enum status jxl_reader_run(const struct jxl_reader *reader, JxlDecoderStatus event, struct error *err) {
    JxlDecoderStatus got = reader->library->JxlDecoderProcessInput(reader->decoder);
    if (got == event) {
        return ST_OK;
    }
    return got == JXL_DEC_NEED_MORE_INPUT ? fail(err, ST_CORRUPT, "JPEG XL is cut short")
                                          : fail(err, ST_CORRUPT, "JPEG XL data is damaged or cut short");
}

static enum status start(struct jxl_reader *reader, struct bytes input, int later, struct error *err) {
    const struct jxl_library *jxl = reader->library;
    const int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | later;
    reader->decoder = jxl->JxlDecoderCreate(NULL);
    if (!reader->decoder) {
        return fail(err, ST_BUSY, "out of memory for the JPEG XL library");
    }
    bool ready = jxl->JxlDecoderSubscribeEvents(reader->decoder, events) == JXL_DEC_SUCCESS &&
                 jxl->JxlDecoderSetKeepOrientation(reader->decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
                 jxl->JxlDecoderSetUnpremultiplyAlpha(reader->decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
                 jxl->JxlDecoderSetInput(reader->decoder, input.data, input.size) == JXL_DEC_SUCCESS;
    jxl->JxlDecoderCloseInput(reader->decoder);
    return ready ? ST_OK : fail(err, ST_INTERNAL, "the JPEG XL library cannot be set up");
}

static enum status check_channels(struct jxl_reader *reader, struct error *err) {
    uint32_t count = reader->info.num_extra_channels;
    if (count > CHANNELS_MAX) {
        return fail(err, ST_UNSUPPORTED, "JPEG XL has %u channels beside its colours; the limit is %u", count,
                    CHANNELS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        JxlExtraChannelInfo channel;
        if (reader->library->JxlDecoderGetExtraChannelInfo(reader->decoder, i, &channel) != JXL_DEC_SUCCESS) {
            return fail(err, ST_CORRUPT, "JPEG XL data is damaged");
        }
        if (channel.type == JXL_CHANNEL_BLACK) {
            return fail(err, ST_UNSUPPORTED, "JPEG XL with CMYK colours is not supported");
        }
    }
    reader->others = count > (reader->info.alpha_bits > 0 ? 1 : 0);
    return ST_OK;
}

static struct image_shape shape_of(const JxlBasicInfo *info) {
    bool alpha = info->alpha_bits > 0, gray = info->num_color_channels == 1;
    bool deep = info->bits_per_sample > 8 || info->exponent_bits_per_sample > 0 || info->alpha_bits > 8;
    return (struct image_shape){
        .model = gray ? (alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY) : (alpha ? PIXEL_RGBA : PIXEL_RGB),
        .depth = deep ? 16 : 8,
        .width = info->xsize,
        .height = info->ysize,
    };
}

static enum status read_info(struct jxl_reader *reader, const struct codec_limits *limits,
                             struct error *err) {
    JxlBasicInfo *info = &reader->info;
    enum status status = jxl_reader_run(reader, JXL_DEC_BASIC_INFO, err);
    if (status == ST_OK &&
        reader->library->JxlDecoderGetBasicInfo(reader->decoder, info) != JXL_DEC_SUCCESS) {
        return fail(err, ST_CORRUPT, "JPEG XL data is damaged");
    }
    status = status == ST_OK ? limits_check_size(info->xsize, info->ysize, limits, err) : status;
    if (status == ST_OK && info->have_animation && !limits->first_frame) {
        return fail(err, ST_UNSUPPORTED, "JPEG XL is animated; page=0 takes its first frame");
    }
    status = status == ST_OK ? check_channels(reader, err) : status;
    reader->pixels = shape_of(info);
    return status;
}

enum status jxl_reader_open(struct jxl_reader *reader, struct bytes input, int events,
                            const struct codec_limits *limits, struct error *err) {
    *reader = (struct jxl_reader){.library = jxl_library_open(err)};
    if (!reader->library) {
        return ST_UNSUPPORTED;
    }
    enum status status = start(reader, input, events, err);
    status = status == ST_OK ? read_info(reader, limits, err) : status;
    status = status == ST_OK ? jxl_reader_run(reader, JXL_DEC_COLOR_ENCODING, err) : status;
    const struct jxl_source source = {reader->library, reader->decoder, &reader->info};
    return status == ST_OK ? jxl_colours_choose(&source, err) : status;
}

void jxl_reader_close(struct jxl_reader *reader) {
    if (reader->decoder) {
        reader->library->JxlDecoderDestroy(reader->decoder);
    }
    *reader = (struct jxl_reader){0};
}

enum status jxl_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err) {
    struct jxl_reader reader;
    enum status status = jxl_reader_open(&reader, input, JXL_DEC_FRAME, limits, err);
    if (status == ST_OK) {
        picture->native = picture->pixels = reader.pixels;
        picture->restorable = !reader.info.have_animation && jxl_restore_possible(input);
        picture->metadata.losses |= reader.others ? LOSS_PICTURES : 0;
        status = jxl_metadata_read(&reader, input, &picture->metadata, err);
    }
    if (status == ST_OK && reader.info.have_animation) {
        status = jxl_frames_count(&reader, limits, picture, err);
    }
    jxl_reader_close(&reader);
    return status;
}
