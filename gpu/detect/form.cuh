/* SPDX-License-Identifier: MIT
 * How the kernels for inverted residual blocks divide their work. */
#ifndef BLURD_GPU_DETECT_FORM_CUH
#define BLURD_GPU_DETECT_FORM_CUH

#include "gpu/detect/detect_kernels.h"
#include "gpu/detect/matrix.cuh"
#include "gpu/stream/grid.cuh"

enum { FACE_THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y };

/* A row of KERNEL_FACE_BLOCKS, and what follows from it. */
template <int Steps, int Stride, int Outputs, int Members, int Rows, int Width> struct face_form {
    static constexpr int steps = Steps, stride = Stride, outputs = Outputs, members = Members, rows = Rows,
                         width = Width;
    static constexpr int sixteenths = Outputs / 16;
    /* Values from pixel to pixel of the sums in shared memory, so that a warp's stores meet different banks.
     */
    static constexpr int pitch = Outputs + 4;
    static constexpr int groups = KERNEL_THREADS_Y / Members;
    static constexpr int pixels = Members * Rows * KERNEL_FACE_TILE;
    static constexpr int height = pixels / Width;
    static constexpr int columns = Width / 8; /* warps side by side */
    static constexpr int halo_width = (Width - 1) * Stride + 3;
    static constexpr int halo = halo_width * ((height - 1) * Stride + 3);
    /* A chunk in shared memory has pairs of pixels, `apart` from each other: a word of the upper one, four
     * channels, then one of the lower one. Pixels in the middle lie there twice. */
    static constexpr int apart = height / 2 * Stride * halo_width;
    static constexpr int pairs = halo - apart;
    static constexpr int chunk_bytes = pairs * KERNEL_FACE_PITCH;
    /* With two chunks for each group, a warp need not wait until others have read the one before. */
    static constexpr bool twice = 2 * groups * chunk_bytes + KERNEL_FACE_DUMMY <= KERNEL_SHARED_MAX;
    static constexpr int chunks_bytes = (twice ? 2 : 1) * groups * chunk_bytes;
    /* Of the packed weights of a chunk, for half of the outputs or all. */
    static constexpr int packed_bytes = Steps * KERNEL_FACE_STEP + KERNEL_FACE_DEPTH + 2 * KERNEL_FACE_TERMS +
                                        2 * sixteenths * KERNEL_FACE_ROWS;
    /* Times eight pairs that a warp expands. */
    static constexpr int units = (pairs + Members * 8 - 1) / (Members * 8);
    static constexpr bool kept = Steps <= 2;                        /* the source stays in registers */
    static constexpr int batch = kept ? 1 : units % 3 == 0 ? 3 : 2; /* units that are expanded at once */
    static constexpr int window = (Rows - 1) * Stride + 3;          /* rows of pairs that a warp filters */
};

/* What a thread works on. */
struct face_place {
    int x, y; /* of the tile's first result */
    int part; /* of the outputs */
    int thread, group, member;
    int row, quad;      /* of the lane: g and t */
    int left, top;      /* of the warp's results in the tile */
    uint2 select, next; /* of face_pick: the first byte of a word as byte g of eight; added, the next one */
};

static __device__ __forceinline__ uint8_t *face_memory(int offset) {
    return (uint8_t *)block_memory + offset;
}

template <class Form>
static __device__ __forceinline__ struct face_place face_place_of(const struct face_block_pass &block) {
    struct face_place place;
    unsigned index = blockIdx.x;
    place.part = index >= (unsigned)block.tiles; /* there are two at most */
    index -= place.part ? (unsigned)block.tiles : 0;
    unsigned y = index / (unsigned)block.tiles_x;
    place.x = (int)(index - y * (unsigned)block.tiles_x) * Form::width;
    place.y = (int)y * Form::height;
    place.group = (int)(threadIdx.y / Form::members);
    place.member = (int)(threadIdx.y % Form::members);
    place.thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    place.row = (int)(threadIdx.x / KERNEL_FACE_QUAD);
    place.quad = (int)(threadIdx.x % KERNEL_FACE_QUAD);
    place.left = place.member % Form::columns * 8;
    place.top = place.member / Form::columns * Form::rows;
    const uint32_t byte = 1u << 4 * (place.row % 4);
    place.next = place.row < 4 ? make_uint2(byte, 0) : make_uint2(0, byte);
    face_keep(place.next.x);
    face_keep(place.next.y);
    place.select = make_uint2(0x4444u - 4 * place.next.x, 0x4444u - 4 * place.next.y);
    face_keep(place.select.x);
    face_keep(place.select.y);
    return place;
}

#endif
