/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/huffman_sync.h"

#include <string.h>

#include "gpu/stream/buffer.h"
#include "gpu/stream/launch.h"

enum { ALIGNMENT = 256 };

/* What a lane shares with the device for it, in pinned memory. */
struct huffman_sync_mailbox {
    struct scan_tables tables; /* of the picture that was parsed last */
    volatile uint32_t verdict; /* enum sync_verdict */
};

/* Where things lie in lane->sync.memory. */
struct places {
    size_t bytes, pieces, starts, before, end;
    uint32_t count, blocks; /* pieces, and what they are launched in */
};

static struct places find_places(size_t size) {
    struct places places = {.bytes = align_up(sizeof(struct scan_tables), ALIGNMENT)};
    places.count = (uint32_t)((size + KERNEL_SYNC_PIECE - 1) / KERNEL_SYNC_PIECE);
    places.blocks = (places.count + KERNEL_SYNC_RANGE - 1) / KERNEL_SYNC_RANGE;
    places.pieces = places.bytes + align_up(size, ALIGNMENT);
    places.starts = places.pieces + align_up((size_t)places.count * sizeof(struct sync_piece), ALIGNMENT);
    places.before = places.starts + align_up((size_t)places.blocks * sizeof(struct sync_state), ALIGNMENT);
    places.end = places.before + (size_t)places.count * sizeof(uint32_t);
    return places;
}

enum status huffman_sync_init(struct gpu_lane *lane, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    void *note = NULL;
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &note, sizeof *lane->sync.note, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status != ST_OK) {
        return status;
    }
    lane->sync.note = note;
    memset(note, 0, sizeof *lane->sync.note);
    return CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &lane->sync.note_device, note, 0);
}

void huffman_sync_finish(struct gpu_lane *lane) {
    if (lane->sync.note) {
        lane->device->cuda->cuMemFreeHost(lane->sync.note);
    }
    lane->sync = (struct huffman_sync){0};
}

static bool same_shape(const struct image_shape *a, const struct image_shape *b) {
    return a->model == b->model && a->depth == b->depth && a->width == b->width && a->height == b->height &&
           a->chroma_shift_x == b->chroma_shift_x && a->chroma_shift_y == b->chroma_shift_y;
}

enum status huffman_sync_parse(struct gpu_lane *lane, struct bytes file, const struct image_shape *shape,
                               struct error *err) {
    struct huffman_sync *sync = &lane->sync;
    enum status status = jpeg_header_parse(file, &sync->scan, &sync->note->tables, err);
    if (status == ST_OK && !same_shape(&sync->scan.shape, shape)) {
        return fail(err, ST_UNSUPPORTED, "the JPEG's frame is not of the shape that was found before");
    }
    sync->blocks = sync->note->tables.sync.blocks;
    return status == ST_OK ? gpu_buffer_reserve(lane, &sync->memory, find_places(sync->scan.size).end, err)
                           : status;
}

struct sync_pass huffman_sync_pass(const struct gpu_lane *lane) {
    const struct huffman_sync *sync = &lane->sync;
    const struct places places = find_places(sync->scan.size);
    CUdeviceptr memory = sync->memory.data;
    return (struct sync_pass){
        .bytes = memory + places.bytes,
        .tables = memory + offsetof(struct scan_tables, sync),
        .pieces = memory + places.pieces,
        .starts = memory + places.starts,
        .before = memory + places.before,
        .verdict = sync->note_device + offsetof(struct huffman_sync_mailbox, verdict),
        .size = (uint32_t)sync->scan.size,
        .count = places.count,
    };
}

enum status huffman_sync_begin(struct gpu_lane *lane, struct bytes file, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    struct huffman_sync *sync = &lane->sync;
    struct sync_pass pass = huffman_sync_pass(lane);
    struct gpu_blocks blocks = {find_places(sync->scan.size).blocks, KERNEL_SYNC_THREADS_Y,
                                sizeof(struct sync_shared)};
    sync->note->verdict = SYNC_PENDING;
    enum status status = CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, sync->memory.data, &sync->note->tables,
                                  sizeof sync->note->tables, lane->stream);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyHtoDAsync, pass.bytes, file.data + sync->scan.offset,
                          sync->scan.size, lane->stream);
    }
    return status == ST_OK ? gpu_launch(lane, KERNEL_huffman_sync, &pass, blocks, err) : status;
}

enum status huffman_sync_end(const struct gpu_lane *lane, struct error *err) {
    switch (lane->sync.note->verdict) {
    case SYNC_INTACT:
        return ST_OK;
    case SYNC_DAMAGED:
        return fail(err, ST_UNSUPPORTED, "the JPEG's data is damaged");
    default:
        return fail(err, ST_UNSUPPORTED, "whether the JPEG's data is whole takes too long to find out");
    }
}
