/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/decode.h"

#include "gpu/stream/launch.h"

enum { BLOCK = 8, COEFFICIENTS = 64, ALIGNMENT = 256, ROOM = 72 /* as in decode_tile */ };

_Static_assert((int)KERNEL_DECODE_BLOCKS *BLOCK == (int)KERNEL_THREADS_X * (int)KERNEL_DECODE_THREADS_Y,
               "eight threads for a block of samples");

/* Offsets in decode->memory. */
struct decode_layout {
    size_t owners, sums, end;
};

static struct decode_layout lay_out(const struct huffman_sync *sync) {
    struct decode_layout layout = {.owners = (size_t)sync->blocks * COEFFICIENTS * sizeof(int16_t)};
    layout.sums = bytes_align_up(layout.owners + (size_t)sync->blocks * sizeof(uint32_t), ALIGNMENT);
    size_t ranges = huffman_sync_ranges(sync);
    layout.end = layout.sums + ranges * (KERNEL_DECODE_THREADS + 1) * sizeof(struct decode_sums);
    return layout;
}

enum status gpu_decode_reserve(struct gpu_decode *decode, struct gpu_stream *stream,
                               struct huffman_sync *sync, struct error *err) {
    const struct decode_layout layout = lay_out(sync);
    enum status status = gpu_stream_reserve(stream, &decode->memory, layout.end, err);
    if (status == ST_OK) {
        sync->zeros = (struct gpu_buffer){decode->memory.data, layout.owners};
    }
    return status;
}

static uint32_t blocks_of(uint32_t samples) {
    return (samples + BLOCK - 1) / BLOCK;
}

/* Number of blocks of an MCU before those of the component. */
static uint32_t first_of(const struct jpeg_header *header, uint32_t component) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < component; i++) {
        first += (uint32_t)header->h[i] * header->v[i];
    }
    return first;
}

static enum status find_values(struct gpu_decode *decode, struct gpu_stream *stream,
                               const struct huffman_sync *sync, struct error *err) {
    const struct jpeg_header *header = &sync->header;
    const struct decode_layout layout = lay_out(sync);
    CUdeviceptr memory = decode->memory.data;
    struct decode_pass pass = {
        .sync = huffman_sync_pass(sync, stream),
        .values = memory,
        .owners = memory + layout.owners,
        .sums = memory + layout.sums,
        .in_mcu = first_of(header, KERNEL_PLANES),
        .first = {first_of(header, 1), first_of(header, 2)},
        .blocks = sync->blocks,
    };
    pass.tables = pass.sync.tables + offsetof(struct scan_tables, decode);
    struct gpu_blocks blocks = {pass.sync.count, KERNEL_DECODE_THREADS_Y, sizeof(struct decode_shared)};
    return gpu_launch_urgent(stream, KERNEL_decode_values, &pass, blocks, err);
}

struct decode_result gpu_decode_result(const struct gpu_decode *decode, const struct huffman_sync *sync) {
    const struct decode_layout layout = lay_out(sync);
    CUdeviceptr memory = decode->memory.data;
    return (struct decode_result){
        .values = memory,
        .owners = memory + layout.owners,
        .sums = memory + layout.sums,
        .count = huffman_sync_ranges(sync) * KERNEL_DECODE_THREADS,
    };
}

/* `first`: no kernel has read codes before. */
static enum status fill_planes(struct gpu_decode *decode, struct gpu_stream *stream,
                               const struct huffman_sync *sync, const struct image *image, bool first,
                               struct error *err) {
    const struct jpeg_header *header = &sync->header;
    struct decode_planes_pass pass = {
        .from = gpu_decode_result(decode, sync),
        .tables = huffman_sync_pass(sync, stream).tables,
        .marks = stream->marks_device,
        .first = first,
        .planes = image->plane_count,
        .in_mcu = first_of(header, KERNEL_PLANES),
        .mcus_x = (image->width + BLOCK * header->h[0] - 1) / (BLOCK * header->h[0]),
    };
    struct gpu_blocks blocks = {0, KERNEL_DECODE_THREADS_Y, KERNEL_DECODE_BLOCKS * ROOM * sizeof(int16_t)};
    for (uint32_t p = 0; p < pass.planes; p++) {
        const struct plane *plane = &image->plane[p];
        pass.plane[p] = (struct decode_plane){
            .data = (uint64_t)(uintptr_t)plane->data,
            .stride = (uint32_t)plane->stride,
            .blocks = blocks_of(plane->width) * blocks_of(plane->height),
            .blocks_x = blocks_of(plane->width),
            .h = header->h[p],
            .v = header->v[p],
            .first = first_of(header, p),
            .first_tile = blocks.count,
            .inverse_x = blocks_of(plane->width) > 1 ? UINT32_MAX / blocks_of(plane->width) + 1 : 0,
            .inverse_h = UINT16_MAX / (uint32_t)header->h[p] + 1,
            .inverse_v = UINT16_MAX / (uint32_t)header->v[p] + 1,
        };
        blocks.count += (pass.plane[p].blocks + KERNEL_DECODE_TILE - 1) / KERNEL_DECODE_TILE;
    }
    return gpu_launch(stream, KERNEL_decode_planes, &pass, blocks, err);
}

enum status gpu_decode_begin(struct gpu_decode *decode, struct gpu_stream *stream,
                             const struct huffman_sync *sync, const struct image *image, struct error *err) {
    enum status status = find_values(decode, stream, sync, err);
    return status == ST_OK ? fill_planes(decode, stream, sync, image, false, err) : status;
}

/* No DC coefficient lacks a sum: the owners' lowest bits say so. */
enum status gpu_decode_coefficients(struct gpu_decode *decode, struct gpu_stream *stream,
                                    const struct huffman_sync *sync, const struct decode_values *values,
                                    const struct image *image, struct error *err) {
    const struct decode_layout layout = lay_out(sync);
    enum status status =
        values->host ? gpu_stream_upload(stream, decode->memory.data, values->host, layout.owners, err)
                     : gpu_stream_copy(stream, decode->memory.data, values->device, layout.owners, err);
    if (status == ST_OK) {
        status =
            gpu_stream_fill(stream, decode->memory.data + layout.owners, 1, layout.sums - layout.owners, err);
    }
    return status == ST_OK ? fill_planes(decode, stream, sync, image, true, err) : status;
}
