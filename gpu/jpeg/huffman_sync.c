/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/huffman_sync.h"

#include <string.h>

#include "gpu/jpeg/coefficients_header.h"
#include "gpu/stream/launch.h"

enum { ALIGNMENT = 256 };

/* Pinned memory that the device accesses, too. */
struct huffman_sync_mailbox {
    struct scan_tables tables; /* of the last parsed picture */
    volatile uint32_t verdict; /* enum sync_verdict */
};

/* Offsets in sync->memory. */
struct sync_layout {
    size_t bytes, clean, parts, ranges, end;
};

uint32_t huffman_sync_ranges(const struct huffman_sync *sync) {
    return (uint32_t)((sync->header.size + KERNEL_SYNC_RANGE - 1) / KERNEL_SYNC_RANGE);
}

static struct sync_layout lay_out(const struct huffman_sync *sync) {
    struct sync_layout layout = {.bytes = bytes_align_up(sizeof(struct scan_tables), ALIGNMENT)};
    size_t ranges = huffman_sync_ranges(sync);
    layout.clean = layout.bytes + bytes_align_up(sync->header.size, ALIGNMENT);
    layout.parts = layout.clean + bytes_align_up(ranges * sizeof(struct sync_clean), ALIGNMENT);
    layout.ranges = layout.parts + ranges * KERNEL_SYNC_RANGE_PARTS * sizeof(struct sync_part);
    layout.end = layout.ranges + ranges * sizeof(struct sync_range);
    return layout;
}

enum status huffman_sync_init(struct huffman_sync *sync, struct gpu_stream *stream, struct error *err) {
    const struct cuda *cuda = stream->device->cuda;
    void *mailbox = NULL;
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &mailbox, sizeof *sync->mailbox, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status != ST_OK) {
        return status;
    }
    sync->mailbox = mailbox;
    memset(mailbox, 0, sizeof *sync->mailbox);
    return CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &sync->mailbox_device, mailbox, 0);
}

void huffman_sync_finish(struct huffman_sync *sync, struct gpu_stream *stream) {
    gpu_buffer_finish(&sync->memory, stream->device);
    if (sync->mailbox) {
        stream->device->cuda->cuMemFreeHost(sync->mailbox);
    }
    *sync = (struct huffman_sync){0};
}

static bool same_shape(const struct image_shape *a, const struct image_shape *b) {
    return a->model == b->model && a->depth == b->depth && a->width == b->width && a->height == b->height &&
           a->chroma_shift_x == b->chroma_shift_x && a->chroma_shift_y == b->chroma_shift_y;
}

enum status huffman_sync_parse(struct huffman_sync *sync, struct gpu_stream *stream, struct bytes file,
                               const struct image_shape *shape, struct error *err) {
    enum status status = jpeg_header_parse(file, &sync->header, &sync->mailbox->tables, err);
    if (status == ST_OK && !same_shape(&sync->header.shape, shape)) {
        return fail(err, ST_UNSUPPORTED, "the JPEG's frame is not of the shape that was found before");
    }
    sync->zeros = (struct gpu_buffer){0};
    sync->blocks = sync->mailbox->tables.sync.blocks;
    return status == ST_OK ? gpu_stream_reserve(stream, &sync->memory, lay_out(sync).end, err) : status;
}

enum status huffman_sync_parse_coefficients(struct huffman_sync *sync, struct gpu_stream *stream,
                                            struct bytes input, const struct image_shape *shape,
                                            struct error *err) {
    struct scan_tables *tables = &sync->mailbox->tables;
    enum status status = coefficients_header_parse(input, shape, &sync->header, tables, err);
    sync->zeros = (struct gpu_buffer){0};
    sync->blocks = tables->sync.blocks;
    return status == ST_OK ? gpu_stream_reserve(stream, &sync->memory, lay_out(sync).end, err) : status;
}

enum status huffman_sync_reserve(struct huffman_sync *sync, struct gpu_stream *stream, size_t size,
                                 uint32_t samples, struct error *err) {
    enum { BLOCK_SAMPLES = 64, SPARE = 1024 /* blocks beyond the picture's edges */ };
    sync->header.size = size;
    sync->blocks = samples / BLOCK_SAMPLES + SPARE;
    return gpu_stream_reserve(stream, &sync->memory, lay_out(sync).end, err);
}

struct sync_pass huffman_sync_pass(const struct huffman_sync *sync, const struct gpu_stream *stream) {
    const struct sync_layout layout = lay_out(sync);
    CUdeviceptr memory = sync->memory.data;
    return (struct sync_pass){
        .bytes = memory + layout.bytes,
        .tables = memory + offsetof(struct scan_tables, sync),
        .clean = memory + layout.clean,
        .parts = memory + layout.parts,
        .ranges = memory + layout.ranges,
        .verdict = sync->mailbox_device + offsetof(struct huffman_sync_mailbox, verdict),
        .marks = stream->marks_device,
        .zeros = sync->zeros.data,
        .zeros_size = sync->zeros.size,
        .size = (uint32_t)sync->header.size,
        .count = huffman_sync_ranges(sync),
    };
}

static enum status upload_tables(struct huffman_sync *sync, struct gpu_stream *stream, struct error *err) {
    return gpu_stream_upload(stream, sync->memory.data, &sync->mailbox->tables, sizeof sync->mailbox->tables,
                             err);
}

enum status huffman_sync_skip(struct huffman_sync *sync, struct gpu_stream *stream, struct error *err) {
    sync->mailbox->verdict = SYNC_INTACT;
    return upload_tables(sync, stream, err);
}

enum status huffman_sync_begin(struct huffman_sync *sync, struct gpu_stream *stream, struct bytes file,
                               struct error *err) {
    struct sync_pass pass = huffman_sync_pass(sync, stream);
    unsigned zeros = (unsigned)((pass.zeros_size + KERNEL_SYNC_ZEROS - 1) / KERNEL_SYNC_ZEROS);
    struct gpu_blocks blocks = {pass.count + zeros, KERNEL_SYNC_THREADS_Y, sizeof(struct sync_shared)};
    sync->mailbox->verdict = SYNC_PENDING;
    enum status status = upload_tables(sync, stream, err);
    if (status == ST_OK) {
        status =
            gpu_stream_upload(stream, pass.bytes, file.data + sync->header.offset, sync->header.size, err);
    }
    return status == ST_OK ? gpu_launch_urgent(stream, KERNEL_huffman_sync, &pass, blocks, err) : status;
}

enum status huffman_sync_end(const struct huffman_sync *sync, struct error *err) {
    switch (sync->mailbox->verdict) {
    case SYNC_INTACT:
        return ST_OK;
    case SYNC_DAMAGED:
        return fail(err, ST_UNSUPPORTED, "the JPEG's data is damaged");
    default:
        return fail(err, ST_UNSUPPORTED, "whether the JPEG's data is whole takes too long to find out");
    }
}
