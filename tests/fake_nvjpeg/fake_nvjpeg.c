/* SPDX-License-Identifier: MIT */
#include "tests/fake_nvjpeg/fake_nvjpeg.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvjpeg.h"
#include "tests/fake_cuda/faults.h"
#include "tests/fake_nvjpeg/object.h"
#include "tests/fake_nvjpeg/planes.h"
#include "tests/fake_nvjpeg/walk.h"

/* The types are those of gpu/nvjpeg.def, and all are visible. */
#define NVJPEG(name, ...) FAKE_NVJPEG_VISIBLE int name(__VA_ARGS__);
#include "gpu/nvjpeg.def"
#undef NVJPEG

/* nvjpegStatus_t; those that only a caller or the device is guilty of. */
enum { NVJPEG_INVALID_PARAMETER = 2, NVJPEG_EXECUTION_FAILED = 6 };

struct nvjpeg_handle {
    struct object object;
};
struct nvjpeg_decoder {
    struct object object;
};
struct nvjpeg_pinned {
    struct object object;
};
struct nvjpeg_memory {
    struct object object;
};
struct nvjpeg_stream { /* a parsed file; its bytes are the caller's */
    struct object object;
    const unsigned char *data;
    size_t size;
    struct walk walk;
};
struct nvjpeg_decode_params {
    struct object object;
    int format;
};

/* How far a decode has got; each step follows the one before. */
enum stage { STAGE_NONE, STAGE_HOST, STAGE_TRANSFERRED };

struct nvjpeg_state {
    struct object object;
    nvjpegPinned pinned;
    nvjpegMemory memory;
    enum stage stage;
    nvjpegStream stream; /* of the decode that has begun */
    CUstream on;
};
struct nvjpeg_encoder {
    struct object object;
    unsigned char *data; /* of the last picture; NULL: there is none */
    unsigned long size;
};
struct nvjpeg_encoder_params {
    struct object object;
    struct planes_coding coding;
    int chroma;
};

/* Each function begins with this. */
#define MAY_FAIL(name)                                                                                       \
    do {                                                                                                     \
        int result_ = fault_of(name);                                                                        \
        if (result_ != 0) {                                                                                  \
            return result_;                                                                                  \
        }                                                                                                    \
    } while (0)

int fake_nvjpeg_objects(void) {
    return object_count();
}

/* ---- creating and destroying ---- */

/* What all functions that create do; `good`: their arguments are. */
#define CREATE(good, object_kind, to)                                                                        \
    if (!(good) || !(to)) {                                                                                  \
        return NVJPEG_INVALID_PARAMETER;                                                                     \
    }                                                                                                        \
    *(to) = object_make(sizeof **(to), object_kind);                                                         \
    return *(to) ? NVJPEG_SUCCESS : NVJPEG_ALLOCATOR_FAILURE

static int destroy(const char *call, void *object, enum object_kind kind) {
    int result = fault_of(call);
    if (!object_enter(object, kind)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    object_free(object);
    return result;
}

int nvjpegCreateEx(int backend, void *device_allocator, void *pinned_allocator, unsigned flags,
                   nvjpegHandle *handle) {
    MAY_FAIL("nvjpegCreateEx");
    CREATE(backend == NVJPEG_BACKEND_HARDWARE && !device_allocator && !pinned_allocator && flags == 0,
           OBJECT_HANDLE, handle);
}

int nvjpegDestroy(nvjpegHandle handle) {
    return destroy("nvjpegDestroy", handle, OBJECT_HANDLE);
}

int nvjpegDecoderCreate(nvjpegHandle handle, int backend, nvjpegDecoder *decoder) {
    MAY_FAIL("nvjpegDecoderCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && backend == NVJPEG_BACKEND_HARDWARE, OBJECT_DECODER, decoder);
}

int nvjpegDecoderDestroy(nvjpegDecoder decoder) {
    return destroy("nvjpegDecoderDestroy", decoder, OBJECT_DECODER);
}

int nvjpegDecoderStateCreate(nvjpegHandle handle, nvjpegDecoder decoder, nvjpegState *state) {
    MAY_FAIL("nvjpegDecoderStateCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && object_is(decoder, OBJECT_DECODER), OBJECT_STATE, state);
}

int nvjpegJpegStateDestroy(nvjpegState state) {
    return destroy("nvjpegJpegStateDestroy", state, OBJECT_STATE);
}

int nvjpegBufferPinnedCreate(nvjpegHandle handle, void *allocator, nvjpegPinned *buffer) {
    MAY_FAIL("nvjpegBufferPinnedCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && !allocator, OBJECT_PINNED, buffer);
}

int nvjpegBufferPinnedDestroy(nvjpegPinned buffer) {
    return destroy("nvjpegBufferPinnedDestroy", buffer, OBJECT_PINNED);
}

int nvjpegBufferDeviceCreate(nvjpegHandle handle, void *allocator, nvjpegMemory *buffer) {
    MAY_FAIL("nvjpegBufferDeviceCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && !allocator, OBJECT_MEMORY, buffer);
}

int nvjpegBufferDeviceDestroy(nvjpegMemory buffer) {
    return destroy("nvjpegBufferDeviceDestroy", buffer, OBJECT_MEMORY);
}

int nvjpegJpegStreamCreate(nvjpegHandle handle, nvjpegStream *stream) {
    MAY_FAIL("nvjpegJpegStreamCreate");
    CREATE(object_is(handle, OBJECT_HANDLE), OBJECT_STREAM, stream);
}

int nvjpegJpegStreamDestroy(nvjpegStream stream) {
    return destroy("nvjpegJpegStreamDestroy", stream, OBJECT_STREAM);
}

int nvjpegDecodeParamsCreate(nvjpegHandle handle, nvjpegDecodeParams *params) {
    MAY_FAIL("nvjpegDecodeParamsCreate");
    CREATE(object_is(handle, OBJECT_HANDLE), OBJECT_DECODE_PARAMS, params);
}

int nvjpegDecodeParamsDestroy(nvjpegDecodeParams params) {
    return destroy("nvjpegDecodeParamsDestroy", params, OBJECT_DECODE_PARAMS);
}

int nvjpegEncoderStateCreate(nvjpegHandle handle, nvjpegEncoder *encoder, CUstream on) {
    MAY_FAIL("nvjpegEncoderStateCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && on, OBJECT_ENCODER, encoder);
}

int nvjpegEncoderStateDestroy(nvjpegEncoder encoder) {
    unsigned char *data = object_is(encoder, OBJECT_ENCODER) ? encoder->data : NULL;
    int result = destroy("nvjpegEncoderStateDestroy", encoder, OBJECT_ENCODER);
    free(data);
    return result;
}

int nvjpegEncoderParamsCreate(nvjpegHandle handle, nvjpegEncoderParams *params, CUstream on) {
    MAY_FAIL("nvjpegEncoderParamsCreate");
    CREATE(object_is(handle, OBJECT_HANDLE) && on, OBJECT_ENCODER_PARAMS, params);
}

int nvjpegEncoderParamsDestroy(nvjpegEncoderParams params) {
    return destroy("nvjpegEncoderParamsDestroy", params, OBJECT_ENCODER_PARAMS);
}

/* ---- settings ---- */

int nvjpegStateAttachPinnedBuffer(nvjpegState state, nvjpegPinned buffer) {
    MAY_FAIL("nvjpegStateAttachPinnedBuffer");
    if (!object_is(buffer, OBJECT_PINNED) || !object_enter(state, OBJECT_STATE)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    state->pinned = buffer;
    object_leave(state);
    return NVJPEG_SUCCESS;
}

int nvjpegStateAttachDeviceBuffer(nvjpegState state, nvjpegMemory buffer) {
    MAY_FAIL("nvjpegStateAttachDeviceBuffer");
    if (!object_is(buffer, OBJECT_MEMORY) || !object_enter(state, OBJECT_STATE)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    state->memory = buffer;
    object_leave(state);
    return NVJPEG_SUCCESS;
}

int nvjpegDecodeParamsSetOutputFormat(nvjpegDecodeParams params, int format) {
    MAY_FAIL("nvjpegDecodeParamsSetOutputFormat");
    if (format != NVJPEG_OUTPUT_YUV || !object_enter(params, OBJECT_DECODE_PARAMS)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    params->format = format;
    object_leave(params);
    return NVJPEG_SUCCESS;
}

/* Sets one member. */
#define SET(params, good, member, value)                                                                     \
    if (!(good) || !object_enter(params, OBJECT_ENCODER_PARAMS)) {                                           \
        return NVJPEG_INVALID_PARAMETER;                                                                     \
    }                                                                                                        \
    (params)->member = (value);                                                                              \
    object_leave(params);                                                                                    \
    return NVJPEG_SUCCESS

int nvjpegEncoderParamsSetQuality(nvjpegEncoderParams params, int quality, CUstream on) {
    MAY_FAIL("nvjpegEncoderParamsSetQuality");
    SET(params, on && quality >= 1 && quality <= 100, coding.quality, quality);
}

int nvjpegEncoderParamsSetOptimizedHuffman(nvjpegEncoderParams params, int optimized, CUstream on) {
    MAY_FAIL("nvjpegEncoderParamsSetOptimizedHuffman");
    SET(params, on, coding.optimised, optimized != 0);
}

int nvjpegEncoderParamsSetSamplingFactors(nvjpegEncoderParams params, int subsampling, CUstream on) {
    MAY_FAIL("nvjpegEncoderParamsSetSamplingFactors");
    SET(params, on && planes_know(subsampling), chroma, subsampling);
}

/* ---- decoding ---- */

int nvjpegJpegStreamParse(nvjpegHandle handle, const unsigned char *data, size_t size, int save_metadata,
                          int save_stream, nvjpegStream stream) {
    MAY_FAIL("nvjpegJpegStreamParse");
    if (!object_is(handle, OBJECT_HANDLE) || !data || save_metadata || save_stream ||
        !object_enter(stream, OBJECT_STREAM)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    int status = walk_file(data, size, &stream->walk);
    stream->data = status == NVJPEG_SUCCESS ? data : NULL;
    stream->size = size;
    object_leave(stream);
    return status;
}

int nvjpegDecoderJpegSupported(nvjpegDecoder decoder, nvjpegStream stream, nvjpegDecodeParams params,
                               int *unsupported) {
    MAY_FAIL("nvjpegDecoderJpegSupported");
    if (!object_is(decoder, OBJECT_DECODER) || !object_is(stream, OBJECT_STREAM) || !stream->data ||
        !object_is(params, OBJECT_DECODE_PARAMS)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    *unsupported = !walk_fits_hardware(&stream->walk);
    return NVJPEG_SUCCESS;
}

int nvjpegDecodeJpegHost(nvjpegHandle handle, nvjpegDecoder decoder, nvjpegState state,
                         nvjpegDecodeParams params, nvjpegStream stream) {
    MAY_FAIL("nvjpegDecodeJpegHost");
    if (!object_is(handle, OBJECT_HANDLE) || !object_is(decoder, OBJECT_DECODER) ||
        !object_is(params, OBJECT_DECODE_PARAMS) || params->format != NVJPEG_OUTPUT_YUV ||
        !object_is(stream, OBJECT_STREAM) || !stream->data || !object_enter(state, OBJECT_STATE)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    bool ready = state->pinned && state->memory;
    state->stage = ready ? STAGE_HOST : STAGE_NONE;
    state->stream = stream;
    object_leave(state);
    return ready ? walk_fits_hardware(&stream->walk) ? NVJPEG_SUCCESS : NVJPEG_NOT_SUPPORTED
                 : NVJPEG_INVALID_PARAMETER;
}

int nvjpegDecodeJpegTransferToDevice(nvjpegHandle handle, nvjpegDecoder decoder, nvjpegState state,
                                     nvjpegStream stream, CUstream on) {
    MAY_FAIL("nvjpegDecodeJpegTransferToDevice");
    if (!object_is(handle, OBJECT_HANDLE) || !object_is(decoder, OBJECT_DECODER) || !on ||
        !object_enter(state, OBJECT_STATE)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    bool next = state->stage == STAGE_HOST && state->stream == stream;
    state->stage = next ? STAGE_TRANSFERRED : STAGE_NONE;
    state->on = on;
    object_leave(state);
    return next ? NVJPEG_SUCCESS : NVJPEG_INVALID_PARAMETER;
}

static bool has_planes(const struct nvjpeg_image *image, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (!image->channel[i]) {
            return false;
        }
    }
    return true;
}

static int decode(const struct nvjpeg_state *state, const struct nvjpeg_image *image) {
    const struct nvjpeg_stream *stream = state->stream;
    if (!object_is(stream, OBJECT_STREAM) || !stream->data || !has_planes(image, stream->walk.components)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    return planes_decode(stream->data, stream->size, &stream->walk, image) ? NVJPEG_SUCCESS
                                                                           : NVJPEG_EXECUTION_FAILED;
}

int nvjpegDecodeJpegDevice(nvjpegHandle handle, nvjpegDecoder decoder, nvjpegState state,
                           const struct nvjpeg_image *image, CUstream on) {
    MAY_FAIL("nvjpegDecodeJpegDevice");
    if (!object_is(handle, OBJECT_HANDLE) || !object_is(decoder, OBJECT_DECODER) || !image ||
        !object_enter(state, OBJECT_STATE)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    bool next = state->stage == STAGE_TRANSFERRED && state->on == on;
    int status = next ? decode(state, image) : NVJPEG_INVALID_PARAMETER;
    state->stage = STAGE_NONE;
    object_leave(state);
    return status;
}

/* ---- encoding ---- */

/* Into the sampling that it has: nothing is resampled here. */
int nvjpegEncodeYUV(nvjpegHandle handle, nvjpegEncoder encoder, nvjpegEncoderParams params,
                    const struct nvjpeg_image *image, int subsampling, int width, int height, CUstream on) {
    MAY_FAIL("nvjpegEncodeYUV");
    const struct planes_shape shape = {subsampling, width, height};
    if (!object_is(handle, OBJECT_HANDLE) || !on || !object_is(params, OBJECT_ENCODER_PARAMS) ||
        params->coding.quality == 0 || params->chroma != subsampling || width < 1 || height < 1 || !image ||
        !has_planes(image, subsampling == NVJPEG_CSS_GRAY ? 1 : 3) ||
        !object_enter(encoder, OBJECT_ENCODER)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    free(encoder->data);
    bool good = planes_encode(image, &shape, &params->coding, &encoder->data, &encoder->size);
    object_leave(encoder);
    return good ? NVJPEG_SUCCESS : NVJPEG_EXECUTION_FAILED;
}

int nvjpegEncodeRetrieveBitstream(nvjpegHandle handle, nvjpegEncoder encoder, unsigned char *data,
                                  size_t *size, CUstream on) {
    MAY_FAIL("nvjpegEncodeRetrieveBitstream");
    if (!object_is(handle, OBJECT_HANDLE) || !size || !on || !object_enter(encoder, OBJECT_ENCODER)) {
        return NVJPEG_INVALID_PARAMETER;
    }
    bool good = encoder->data && (!data || *size >= encoder->size);
    if (good && data) {
        memcpy(data, encoder->data, encoder->size);
    }
    *size = good ? encoder->size : 0;
    object_leave(encoder);
    return good ? NVJPEG_SUCCESS : NVJPEG_INVALID_PARAMETER;
}
