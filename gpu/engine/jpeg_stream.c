/* SPDX-License-Identifier: MIT */
#include "gpu/engine/jpeg_stream.h"

#include <stddef.h>

#include "gpu/detect/detect.h"
#include "gpu/engine/jpeg_layouts.h"
#include "gpu/filters/filters.h"
#include "gpu/filters/gpu_chain.h"

enum status jpeg_stream_init(struct jpeg_stream *jpeg, struct gpu_device *device, struct error *err) {
    *jpeg = (struct jpeg_stream){0};
    enum status status = gpu_stream_init(&jpeg->stream, device, err);
    if (status == ST_OK && !jpeg->stream.marks) {
        status = fail(err, ST_UNSUPPORTED, "this driver lacks the function cuStreamWriteValue32");
    }
    if (status == ST_OK) {
        status = huffman_sync_init(&jpeg->sync, &jpeg->stream, err);
    }
    return status == ST_OK ? gpu_encode_init(&jpeg->encode, &jpeg->stream, err) : status;
}

void jpeg_stream_finish(struct jpeg_stream *jpeg) {
    if (!jpeg->stream.device) {
        return;
    }
    if (jpeg->staging) {
        jpeg->stream.device->cuda->cuMemFreeHost(jpeg->staging);
        jpeg->staging = NULL;
    }
    huffman_sync_finish(&jpeg->sync, &jpeg->stream);
    gpu_buffer_finish(&jpeg->decode.memory, jpeg->stream.device);
    gpu_encode_finish(&jpeg->encode, &jpeg->stream);
    gpu_buffer_finish(&jpeg->mask.memory, jpeg->stream.device);
    gpu_buffer_finish(&jpeg->planes, jpeg->stream.device);
    gpu_stream_finish(&jpeg->stream);
}

void jpeg_stream_trim(struct jpeg_stream *jpeg, enum status status) {
    if (gpu_stream_trim(&jpeg->stream, status)) {
        gpu_buffer_finish(&jpeg->sync.memory, jpeg->stream.device);
        gpu_buffer_finish(&jpeg->decode.memory, jpeg->stream.device);
        gpu_buffer_finish(&jpeg->encode.memory, jpeg->stream.device);
        gpu_buffer_finish(&jpeg->mask.memory, jpeg->stream.device);
        gpu_buffer_finish(&jpeg->planes, jpeg->stream.device);
        gpu_buffer_empty_pool(jpeg->stream.device);
        jpeg->kept = 0;
    }
}

/* Bytes that are downloaded at once; few searches find more candidates. */
enum { CANDIDATES_AT_ONCE = 64 * 1024 };

static uint64_t number_of(const struct transcode *job) {
    return job->picture ? *job->picture : 0;
}

bool jpeg_stream_keeps(const struct jpeg_stream *jpeg, const struct transcode *job) {
    return number_of(job) && jpeg->kept == number_of(job) && jpeg->kept_size == job->input.size &&
           image_same_shape(&jpeg->kept_shape, &job->shape) && job->colours == TRANSCODE_PLANES &&
           job->form != TRANSCODE_PIXELS;
}

/* The chain of a job; a search that names its picture keeps it. */
static struct gpu_chain chain_of(const struct transcode *job, const struct jpeg_layouts *layouts) {
    return (struct gpu_chain){.run = &layouts->run,
                              .turned_size = layouts->turned_size,
                              .keeps = number_of(job) && chain_searches(job->chain)};
}

static struct gpu_mask_job masked_of(const struct transcode *job) {
    return (struct gpu_mask_job){&job->mask->plan, job->mask->rects, job->mask->weights, job->orientation};
}

/* Reserves all memory but the decoder's. */
static enum status reserve(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err) {
    struct jpeg_layouts layouts;
    jpeg_layouts_make(&layouts, job);
    struct gpu_chain chain = chain_of(job, &layouts);
    size_t size = jpeg->stream.source.size;
    chain.present = jpeg->again;
    enum status status = gpu_chain_reserve(&chain, &jpeg->stream, err);
    jpeg->again = jpeg->again && jpeg->stream.source.size == size;
    if (status == ST_OK && job->mask) {
        const struct gpu_mask_job masked = masked_of(job);
        status = gpu_mask_reserve(&jpeg->mask, &jpeg->stream, &masked, &job->shape, err);
    }
    if (status == ST_OK && layouts.planes_size > 0) {
        status = gpu_stream_reserve(&jpeg->stream, &jpeg->planes, layouts.planes_size, err);
    }
    return status == ST_OK && !chain_searches(job->chain) && !job->pixels
               ? gpu_encode_reserve(&jpeg->encode, &jpeg->stream, &layouts.encoded, job->output, job->room,
                                    err)
               : status;
}

enum status jpeg_stream_prepare(struct jpeg_stream *jpeg, struct error *err) {
    enum { WIDTH = 1920, HEIGHT = 1080, FILE_SIZE = 1 << 20, SCRATCH = 3 << 20 /* of a blur */ };
    const struct image_shape shape = {.model = PIXEL_YCBCR,
                                      .depth = 8,
                                      .chroma_shift_x = 1,
                                      .chroma_shift_y = 1,
                                      .width = WIDTH,
                                      .height = HEIGHT};
    const struct chain none = {0};
    struct gpu_stream *stream = &jpeg->stream;
    CUdeviceptr scratch;
    void *staging = NULL;
    enum status status = CUDA_TRY(stream->device->cuda, err, cuMemHostAlloc, &staging, JPEG_STREAM_STAGING,
                                  CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
    if (status != ST_OK) {
        return status;
    }
    jpeg->staging = staging;
    const struct transcode job = {
        .chain = &none, .shape = shape, .orientation = 1, .output = staging, .room = FILE_SIZE};
    status = reserve(jpeg, &job, err);
    if (status == ST_OK) {
        status = gpu_stream_scratch(stream, SCRATCH, &scratch, err);
    }
    if (status == ST_OK) {
        status = huffman_sync_reserve(&jpeg->sync, stream, FILE_SIZE, WIDTH * HEIGHT * 3 / 2, err);
    }
    return status == ST_OK ? gpu_decode_reserve(&jpeg->decode, stream, &jpeg->sync, err) : status;
}

/* The encoder writes no other names of components, or tables, than its own. */
static enum status check_patch(const struct jpeg_stream *jpeg, const struct transcode *job,
                               struct error *err) {
    return job->patch && !jpeg->sync.header.plain
               ? fail(err, ST_UNSUPPORTED, "the JPEG's frame is not one whose blocks are kept here")
               : ST_OK;
}

static enum status parse_input(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err) {
    struct huffman_sync *sync = &jpeg->sync;
    if (job->form == TRANSCODE_SCAN) {
        return huffman_sync_parse(sync, &jpeg->stream, job->input, &job->shape, err);
    }
    if (job->form == TRANSCODE_COEFFICIENTS) {
        return huffman_sync_parse_coefficients(sync, &jpeg->stream, job->input, &job->shape, err);
    }
    if (!jpeg->reading) {
        return fail(err, ST_UNSUPPORTED, "the picture that was kept is gone");
    }
    const struct progressive_source *source = &jpeg->reading->source;
    const struct bytes head = {(const uint8_t *)&source->head, coefficients_size(&source->layout)};
    enum status status = huffman_sync_parse_coefficients(sync, &jpeg->stream, head, &job->shape, err);
    sync->header.plain &= source->plain;
    return status;
}

/* Whether the job decodes a file, or the coefficients of one. */
static bool has_file(const struct jpeg_stream *jpeg, const struct transcode *job) {
    return !jpeg->again && job->form != TRANSCODE_PIXELS;
}

enum status jpeg_stream_parse(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err) {
    const struct image_shape stored = transcode_read(&job->shape, job->colours);
    if (!orient_is_exact(&stored, job->orientation)) {
        return fail(err, ST_UNSUPPORTED, "reduced chroma of an odd size is not turned by orientation %u here",
                    job->orientation);
    }
    jpeg->again = jpeg_stream_keeps(jpeg, job);
    jpeg->kept = 0; /* this job overwrites it */
    enum status status = reserve(jpeg, job, err);
    if (status == ST_OK && has_file(jpeg, job)) {
        status = parse_input(jpeg, job, err);
        status =
            status == ST_OK ? gpu_decode_reserve(&jpeg->decode, &jpeg->stream, &jpeg->sync, err) : status;
    }
    return status == ST_OK ? check_patch(jpeg, job, err) : status;
}

/* Sets where the chain begins: at the decoded picture, or at its turned copy. */
static enum status turn(struct gpu_stream *stream, const struct transcode *job,
                        const struct jpeg_layouts *layouts, struct gpu_chain *chain, struct error *err) {
    const struct image stored = gpu_chain_image(&layouts->stored, stream->source.data);
    if (!layouts->turned_size) {
        chain->source = stored;
        return ST_OK;
    }
    chain->source = gpu_chain_image(&layouts->source, stream->target.data);
    return gpu_orient(stream, &stored, job->orientation, &chain->source, err);
}

/* How the result is encoded. Only a patch has *patch. */
static struct gpu_encode_job encoding_of(const struct jpeg_stream *jpeg, const struct transcode *job,
                                         struct gpu_encode_patch *patch) {
    if (job->patch) {
        *patch = (struct gpu_encode_patch){.quantiser = jpeg->sync.header.quantiser,
                                           .source = gpu_decode_result(&jpeg->decode, &jpeg->sync),
                                           .mask = jpeg->coverage};
    }
    return (struct gpu_encode_job){.image = &jpeg->result,
                                   .room = job->room,
                                   .quality = job->quality,
                                   .optimal = job->optimal,
                                   .patch = job->patch ? patch : NULL};
}

/* Makes the planes of a result in RGB. */
static enum status split(struct jpeg_stream *jpeg, const struct jpeg_layouts *layouts, struct error *err) {
    if (layouts->planes_size == 0 || jpeg->result.model != PIXEL_RGB) {
        return ST_OK;
    }
    const struct image pixels = jpeg->result;
    jpeg->result = gpu_chain_image(&layouts->encoded, jpeg->planes.data);
    return gpu_rgb_to_ycc(&jpeg->stream, &pixels, &jpeg->result, err);
}

static enum status write_result(struct jpeg_stream *jpeg, const struct transcode *job,
                                const struct jpeg_layouts *layouts, struct error *err) {
    struct gpu_stream *stream = &jpeg->stream;
    struct gpu_encode_patch patch;
    if (job->pixels) {
        CUdeviceptr result = (CUdeviceptr)(uintptr_t)jpeg->result.plane[0].data;
        return gpu_stream_download(stream, job->output, result, layouts->target_size, err);
    }
    if (!chain_searches(job->chain)) {
        enum status status = split(jpeg, layouts, err);
        const struct gpu_encode_job encoding = encoding_of(jpeg, job, &patch);
        return status == ST_OK ? gpu_encode_begin(&jpeg->encode, stream, &encoding, err) : status;
    }
    jpeg->candidates = (CUdeviceptr)(uintptr_t)jpeg->result.plane[0].data;
    return gpu_stream_download(stream, job->output, jpeg->candidates, CANDIDATES_AT_ONCE, err);
}

static enum status decode(struct jpeg_stream *jpeg, const struct transcode *job, const struct image *stored,
                          struct error *err) {
    if (job->form == TRANSCODE_PIXELS) {
        CUdeviceptr to = (CUdeviceptr)(uintptr_t)stored->plane[0].data;
        return gpu_stream_upload(&jpeg->stream, to, job->input.data, job->input.size, err);
    }
    if (jpeg->again) {
        return ST_OK;
    }
    if (job->form != TRANSCODE_SCAN) {
        struct decode_values values = {0};
        if (job->form == TRANSCODE_SCANS) {
            values.device = jpeg->reading->memory.data;
        } else {
            values.host = job->input.data + sizeof(struct coefficients_head);
        }
        enum status status = huffman_sync_skip(&jpeg->sync, &jpeg->stream, err);
        return status == ST_OK
                   ? gpu_decode_coefficients(&jpeg->decode, &jpeg->stream, &jpeg->sync, &values, stored, err)
                   : status;
    }
    enum status status = huffman_sync_begin(&jpeg->sync, &jpeg->stream, job->input, err);
    return status == ST_OK ? gpu_decode_begin(&jpeg->decode, &jpeg->stream, &jpeg->sync, stored, err)
                           : status;
}

/* Redacts the decoded picture and draws the mask. */
static enum status mask(struct jpeg_stream *jpeg, const struct transcode *job, const struct image *stored,
                        struct gpu_chain *chain, struct error *err) {
    if (!job->mask) {
        return ST_OK;
    }
    const struct gpu_mask_job masked = masked_of(job);
    return gpu_mask_enqueue(&jpeg->mask, &jpeg->stream, &masked, stored, &chain->mask, err);
}

static enum status filter(struct jpeg_stream *jpeg, const struct transcode *job,
                          const struct jpeg_layouts *layouts, const struct image *stored, struct error *err) {
    struct gpu_stream *stream = &jpeg->stream;
    struct gpu_chain chain = chain_of(job, layouts);
    enum status status = mask(jpeg, job, stored, &chain, err);
    if (status == ST_OK) {
        status = turn(stream, job, layouts, &chain, err);
    }
    if (status == ST_OK) {
        status = gpu_chain_enqueue(&chain, stream, err);
    }
    jpeg->result = chain.result;
    jpeg->coverage = chain.mask;
    return status == ST_OK ? write_result(jpeg, job, layouts, err) : status;
}

static enum status enqueue(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err) {
    struct gpu_stream *stream = &jpeg->stream;
    struct jpeg_layouts layouts;
    jpeg_layouts_make(&layouts, job);
    const bool in_rgb = layouts.planes_size > 0 && job->form != TRANSCODE_PIXELS;
    const struct image planes =
        in_rgb ? gpu_chain_image(&layouts.decoded, jpeg->planes.data) : layouts.decoded;
    const struct image stored = gpu_chain_image(&layouts.stored, stream->source.data);
    for (unsigned i = 0; i < KERNEL_STAMPS; i++) {
        stream->marks->ns[i] = 0;
    }
    gpu_stream_gather(stream);
    enum status status = decode(jpeg, job, in_rgb ? &planes : &stored, err);
    if (status == ST_OK && in_rgb) {
        status = gpu_ycc_to_rgb(stream, &planes, &stored, err);
    }
    if (status == ST_OK) {
        status = filter(jpeg, job, &layouts, &stored, err);
    }
    return status == ST_OK ? gpu_stream_signal(stream, err) : status;
}

struct hang_detector_work jpeg_stream_work(const struct transcode *job) {
    enum { KIND_JPEG = HANG_KINDS - 1 /* filters have the others */ };
    struct image_shape stored = transcode_read(&job->shape, job->colours);
    struct image_shape upright = orient_shape(&stored, job->orientation);
    struct hang_detector_work work = gpu_chain_work(job->chain, &upright);
    work.kinds |= UINT32_C(1) << KIND_JPEG;
    return work;
}

enum status jpeg_stream_begin(struct jpeg_stream *jpeg, const struct transcode *job, struct error *err) {
    enum status status = enqueue(jpeg, job, err);
    return status == ST_OK ? ST_OK : gpu_stream_abandon(&jpeg->stream, status);
}

struct lane_timing jpeg_stream_timing(const struct jpeg_stream *jpeg, int64_t took_ns) {
    const struct gpu_stream *stream = &jpeg->stream;
    struct lane_timing timing = {.upload_ns = gpu_stream_between(stream, KERNEL_DECODING, KERNEL_DECODED),
                                 .filter_ns = gpu_stream_between(stream, KERNEL_DECODED, KERNEL_ENCODING),
                                 .download_ns = gpu_stream_between(stream, KERNEL_ENCODING, KERNEL_ENCODED)};
    int64_t rest = took_ns - timing.upload_ns - timing.download_ns;
    timing.filter_ns = timing.filter_ns > 0 ? timing.filter_ns : rest > 0 ? rest : 0;
    return timing;
}

/* Fetches the candidates that are not downloaded yet. */
static enum status end_search(struct jpeg_stream *jpeg, const struct transcode *job, size_t *size,
                              struct error *err) {
    uint32_t count = ((const struct candidates *)(void *)job->output)->count;
    count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
    *size = offsetof(struct candidates, candidate) + count * sizeof(struct candidate);
    if (*size <= CANDIDATES_AT_ONCE) {
        return ST_OK;
    }
    enum status status =
        gpu_stream_download(&jpeg->stream, job->output + CANDIDATES_AT_ONCE,
                            jpeg->candidates + CANDIDATES_AT_ONCE, *size - CANDIDATES_AT_ONCE, err);
    status = status == ST_OK ? gpu_stream_signal(&jpeg->stream, err) : status;
    return status == ST_OK ? ST_OK : gpu_stream_abandon(&jpeg->stream, status);
}

/* The data was intact, and the search has left the decoded picture. */
static void keep(struct jpeg_stream *jpeg, const struct transcode *job) {
    jpeg->kept = number_of(job);
    jpeg->kept_shape = job->shape;
    jpeg->kept_size = job->input.size;
}

enum status jpeg_stream_end(struct jpeg_stream *jpeg, const struct transcode *job, size_t *size,
                            struct error *err) {
    enum status status = has_file(jpeg, job) ? huffman_sync_end(&jpeg->sync, err) : ST_OK;
    if (status != ST_OK) {
        return status;
    }
    if (job->pixels) {
        *size = job->room;
        return ST_OK;
    }
    if (chain_searches(job->chain)) {
        keep(jpeg, job);
        return end_search(jpeg, job, size, err);
    }
    status = gpu_encode_end(&jpeg->encode, job->room, size, err);
    if (status != ST_OK || gpu_encode_is_direct(&jpeg->encode)) {
        return status;
    }
    status = gpu_encode_fetch(&jpeg->encode, &jpeg->stream, job->output, *size, err);
    status = status == ST_OK ? gpu_stream_signal(&jpeg->stream, err) : status;
    return status == ST_OK ? ST_OK : gpu_stream_abandon(&jpeg->stream, status);
}
