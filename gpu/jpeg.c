/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg.h"

#include <string.h>

enum status gpu_jpeg_open(struct gpu_jpeg *jpeg, const struct nvjpeg *nvjpeg, struct error *err) {
    *jpeg = (struct gpu_jpeg){.nvjpeg = nvjpeg};
    enum status status =
        NVJPEG_TRY(nvjpeg, err, nvjpegCreateEx, NVJPEG_BACKEND_HARDWARE, NULL, NULL, 0, &jpeg->handle);
    return status != ST_OK ? status
                           : NVJPEG_TRY(nvjpeg, err, nvjpegDecoderCreate, jpeg->handle,
                                        NVJPEG_BACKEND_HARDWARE, &jpeg->decoder);
}

void gpu_jpeg_close(struct gpu_jpeg *jpeg) {
    if (jpeg->decoder) {
        jpeg->nvjpeg->nvjpegDecoderDestroy(jpeg->decoder); /* nothing to do about a failure */
    }
    if (jpeg->handle) {
        jpeg->nvjpeg->nvjpegDestroy(jpeg->handle);
    }
    memset(jpeg, 0, sizeof *jpeg);
}

static enum status init_decoding(struct gpu_jpeg_lane *lane, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    const struct nvjpeg *nvjpeg = jpeg->nvjpeg;
    enum status status =
        NVJPEG_TRY(nvjpeg, err, nvjpegDecoderStateCreate, jpeg->handle, jpeg->decoder, &lane->state);
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegBufferPinnedCreate, jpeg->handle, NULL, &lane->pinned);
    }
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegBufferDeviceCreate, jpeg->handle, NULL, &lane->memory);
    }
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegStateAttachPinnedBuffer, lane->state, lane->pinned);
    }
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegStateAttachDeviceBuffer, lane->state, lane->memory);
    }
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegJpegStreamCreate, jpeg->handle, &lane->stream);
    }
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegDecodeParamsCreate, jpeg->handle, &lane->decoding);
    }
    return status == ST_OK
               ? NVJPEG_TRY(nvjpeg, err, nvjpegDecodeParamsSetOutputFormat, lane->decoding, NVJPEG_OUTPUT_YUV)
               : status;
}

enum status gpu_jpeg_lane_init(struct gpu_jpeg_lane *lane, const struct gpu_jpeg *jpeg, CUstream stream,
                               struct error *err) {
    *lane = (struct gpu_jpeg_lane){.jpeg = jpeg, .on = stream};
    enum status status = init_decoding(lane, err);
    if (status == ST_OK) {
        status =
            NVJPEG_TRY(jpeg->nvjpeg, err, nvjpegEncoderStateCreate, jpeg->handle, &lane->encoder, stream);
    }
    return status == ST_OK ? NVJPEG_TRY(jpeg->nvjpeg, err, nvjpegEncoderParamsCreate, jpeg->handle,
                                        &lane->encoding, stream)
                           : status;
}

void gpu_jpeg_lane_finish(struct gpu_jpeg_lane *lane) {
    if (!lane->jpeg) {
        return;
    }
    const struct nvjpeg *nvjpeg = lane->jpeg->nvjpeg;
#define FINISH(function, member)                                                                             \
    if (lane->member) {                                                                                      \
        nvjpeg->function(lane->member);                                                                      \
    }
    FINISH(nvjpegEncoderParamsDestroy, encoding)
    FINISH(nvjpegEncoderStateDestroy, encoder)
    FINISH(nvjpegDecodeParamsDestroy, decoding)
    FINISH(nvjpegJpegStreamDestroy, stream)
    FINISH(nvjpegJpegStateDestroy, state)
    FINISH(nvjpegBufferDeviceDestroy, memory)
    FINISH(nvjpegBufferPinnedDestroy, pinned)
#undef FINISH
    memset(lane, 0, sizeof *lane);
}

static struct nvjpeg_image planes(const struct image *image) {
    struct nvjpeg_image planes = {0};
    for (unsigned i = 0; i < image->plane_count; i++) {
        planes.channel[i] = image->plane[i].data;
        planes.pitch[i] = image->plane[i].stride;
    }
    return planes;
}

enum status gpu_jpeg_parse(struct gpu_jpeg_lane *lane, struct bytes bytes, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    const struct nvjpeg *nvjpeg = jpeg->nvjpeg;
    int unsupported = 1;
    enum status status = NVJPEG_TRY(nvjpeg, err, nvjpegJpegStreamParse, jpeg->handle, bytes.data, bytes.size,
                                    0, 0, lane->stream);
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegDecoderJpegSupported, jpeg->decoder, lane->stream,
                            lane->decoding, &unsupported);
    }
    return status == ST_OK && unsupported
               ? fail(err, ST_UNSUPPORTED, "the hardware decoder does not take this JPEG")
               : status;
}

enum status gpu_jpeg_decode(struct gpu_jpeg_lane *lane, const struct image *image, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    const struct nvjpeg *nvjpeg = jpeg->nvjpeg;
    struct nvjpeg_image to = planes(image);
    enum status status = NVJPEG_TRY(nvjpeg, err, nvjpegDecodeJpegHost, jpeg->handle, jpeg->decoder,
                                    lane->state, lane->decoding, lane->stream);
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegDecodeJpegTransferToDevice, jpeg->handle, jpeg->decoder,
                            lane->state, lane->stream, lane->on);
    }
    return status == ST_OK ? NVJPEG_TRY(nvjpeg, err, nvjpegDecodeJpegDevice, jpeg->handle, jpeg->decoder,
                                        lane->state, &to, lane->on)
                           : status;
}

static enum nvjpeg_subsampling subsampling(const struct image *image) {
    if (image->model == PIXEL_GRAY) {
        return NVJPEG_CSS_GRAY;
    }
    switch (image->plane[1].shift_x << 4 | image->plane[1].shift_y) {
    case 0x11:
        return NVJPEG_CSS_420;
    case 0x10:
        return NVJPEG_CSS_422;
    case 0x01:
        return NVJPEG_CSS_440;
    case 0x20:
        return NVJPEG_CSS_411;
    default:
        return NVJPEG_CSS_444;
    }
}

static enum status set_encoding(struct gpu_jpeg_lane *lane, const struct gpu_jpeg_options *options,
                                int chroma, struct error *err) {
    const struct nvjpeg *nvjpeg = lane->jpeg->nvjpeg;
    if (lane->set.quality == options->quality && lane->set.optimised == options->optimised &&
        lane->set_chroma == chroma) {
        return ST_OK;
    }
    lane->set.quality = 0; /* none, until all is set */
    enum status status =
        NVJPEG_TRY(nvjpeg, err, nvjpegEncoderParamsSetQuality, lane->encoding, options->quality, lane->on);
    if (status == ST_OK) {
        status = NVJPEG_TRY(nvjpeg, err, nvjpegEncoderParamsSetOptimizedHuffman, lane->encoding,
                            options->optimised, lane->on);
    }
    if (status == ST_OK) {
        status =
            NVJPEG_TRY(nvjpeg, err, nvjpegEncoderParamsSetSamplingFactors, lane->encoding, chroma, lane->on);
    }
    if (status == ST_OK) {
        lane->set = *options;
        lane->set_chroma = chroma;
    }
    return status;
}

enum status gpu_jpeg_encode(struct gpu_jpeg_lane *lane, const struct image *image,
                            const struct gpu_jpeg_options *options, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    struct nvjpeg_image from = planes(image);
    int chroma = (int)subsampling(image);
    enum status status = set_encoding(lane, options, chroma, err);
    return status == ST_OK
               ? NVJPEG_TRY(jpeg->nvjpeg, err, nvjpegEncodeYUV, jpeg->handle, lane->encoder, lane->encoding,
                            &from, chroma, (int)image->width, (int)image->height, lane->on)
               : status;
}

enum status gpu_jpeg_size(struct gpu_jpeg_lane *lane, size_t *size, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    return NVJPEG_TRY(jpeg->nvjpeg, err, nvjpegEncodeRetrieveBitstream, jpeg->handle, lane->encoder, NULL,
                      size, lane->on);
}

enum status gpu_jpeg_fetch(struct gpu_jpeg_lane *lane, uint8_t *bytes, size_t size, struct error *err) {
    const struct gpu_jpeg *jpeg = lane->jpeg;
    return NVJPEG_TRY(jpeg->nvjpeg, err, nvjpegEncodeRetrieveBitstream, jpeg->handle, lane->encoder, bytes,
                      &size, lane->on);
}
