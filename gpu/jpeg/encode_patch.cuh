/* SPDX-License-Identifier: MIT
 * Makes the coefficients of a JPEG that changes under a mask only: new ones where a block covers a pixel at
 * which the mask is not 0, elsewhere those of the file that was decoded. A block that fills up an MCU follows
 * the block that its DC comes from. */
#ifndef BLURD_GPU_JPEG_ENCODE_PATCH_CUH
#define BLURD_GPU_JPEG_ENCODE_PATCH_CUH

#include "gpu/jpeg/decode_result.cuh"
#include "gpu/jpeg/encode_transform.cuh"

/* Whether a pixel of 8 in a row of the mask is not 0. Those to the right of the mask do not count. */
static __device__ __forceinline__ bool encode_any_of_8(const uint8_t *row, int x, int width) {
    if (x + KERNEL_ENCODE_SIDE <= width) {
        uint2 words = *(const uint2 *)(row + x);
        return (words.x | words.y) != 0;
    }
    uint32_t any = 0;
    for (; x < width; x++) {
        any |= row[x];
    }
    return any != 0;
}

/* Whether the block covers a pixel of the mask. Its eight threads look at rows in turn. All threads of the
 * warp call it. */
static __device__ __forceinline__ bool encode_is_touched(const struct encode_patch_pass &pass,
                                                         const struct encode_origin &origin) {
    const struct encode_component &luma = pass.encode.component[0];
    const struct encode_component &own = pass.encode.component[origin.component];
    const struct kernel_grid &mask = pass.mask;
    int columns = KERNEL_ENCODE_SIDE << (luma.shift_x - own.shift_x);
    int rows = KERNEL_ENCODE_SIDE << (luma.shift_y - own.shift_y);
    int bottom = min((origin.y + 1) * rows, mask.height);
    bool any = false;
    for (int y = origin.y * rows + (int)(encode_thread() % ENCODE_LANES); y < bottom; y += ENCODE_LANES) {
        const uint8_t *row = row_of<const uint8_t>(mask, y);
        for (int x = 0; x < columns; x += KERNEL_ENCODE_SIDE) {
            any = any || encode_any_of_8(row, origin.x * columns + x, mask.width);
        }
    }
    return (__ballot_sync(0xffffffffu, any) >> (threadIdx.x & ~7u) & 0xff) != 0;
}

/* The number in the scan of the block that the samples would come from. */
static __device__ __forceinline__ uint32_t encode_number_of(const struct encode_pass &pass,
                                                            const struct encode_origin &origin) {
    const struct encode_component &component = pass.component[origin.component];
    uint32_t x = (uint32_t)origin.x, y = (uint32_t)origin.y;
    uint32_t mcu = (y >> component.shift_y) * pass.mcus_x + (x >> component.shift_x);
    uint32_t in_x = x & ((1u << component.shift_x) - 1), in_y = y & ((1u << component.shift_y) - 1);
    return mcu * pass.in_mcu + component.first + (in_y << component.shift_x) + in_x;
}

/* Leaves the file's coefficients of a block in zigzag order. Each of its eight threads has a column. */
static __device__ __forceinline__ void encode_keep_block(const struct encode_patch_pass &pass,
                                                         struct encode_transform_shared &shared,
                                                         const struct encode_origin &origin) {
    uint32_t block = encode_thread() / ENCODE_LANES, lane = encode_thread() % ENCODE_LANES;
    uint32_t number = encode_number_of(pass.encode, origin);
    union encode_lane column;
    column.words = ((const uint4 *)pass.source.values)[(uint64_t)number * ENCODE_LANES + lane];
    if (lane == 0) {
        uint32_t before = decode_before(pass.source, number, (int)origin.component);
        column.value[0] = (int16_t)(uint16_t)((uint32_t)column.value[0] + before);
    }
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        uint32_t k = (uint32_t)i * KERNEL_ENCODE_SIDE + lane;
        /* AC of -32768 would have a symbol beyond the tables; that of -32767 is refused once counted. */
        int16_t value = column.value[i] == -32768 && k > 0 ? (int16_t)-32767 : column.value[i];
        shared.zigzag[block][shared.place[k]] = origin.dummy && k > 0 ? (int16_t)0 : value;
    }
}

static __device__ __forceinline__ void encode_patch_group(const struct encode_patch_pass &pass) {
    struct encode_patch_shared &shared = *(struct encode_patch_shared *)block_memory;
    uint32_t block = encode_thread() / ENCODE_LANES, lane = encode_thread() % ENCODE_LANES;
    uint32_t at = blockIdx.x * KERNEL_ENCODE_GROUP + block;
    struct encode_origin origin = encode_origin_of(pass.encode, min(at, pass.encode.count - 1));
    encode_prepare(pass.encode, shared.transform);
    if (encode_thread() == 0) {
        shared.touched = 0;
    }
    bool touched = encode_is_touched(pass, origin);
    __syncthreads();
    if (touched && lane == 0) {
        atomicOr(&shared.touched, 1u);
    }
    __syncthreads();
    if (shared.touched) {
        uint32_t places[KERNEL_ENCODE_SIDE];
        encode_places(shared.transform, places);
        encode_transform_block(pass.encode, shared.transform, origin, places);
    }
    if (!touched) {
        encode_keep_block(pass, shared.transform, origin);
    }
    __syncwarp();
    encode_list(pass.encode, shared.transform, blockIdx.x, pass.encode.component[origin.component].table);
    encode_add_lists(pass.encode, shared.transform);
}

#endif
