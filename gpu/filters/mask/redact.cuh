/* SPDX-License-Identifier: MIT
 * Redaction of a JPEG's planes, as cpu/mask/redact.h defines it, in whole blocks of the JPEG. Sums are whole
 * numbers, so the order in which they are added does not matter. */
#ifndef BLURD_GPU_FILTERS_MASK_REDACT_CUH
#define BLURD_GPU_FILTERS_MASK_REDACT_CUH

#include "gpu/filters/mask/rect.cuh"

enum { REDACT_BIN = 16, REDACT_LEVELS = 16, REDACT_LOOK_RANGE = 24 };

/* The part of a row of blocks that a block of threads does. */
struct redact_part {
    int row, first, end; /* of blocks */
};

static __device__ __forceinline__ struct redact_part redact_part_of(const struct redact_pass &pass) {
    struct redact_part part;
    part.row = (int)blockIdx.x / pass.parts;
    part.first = ((int)blockIdx.x - part.row * pass.parts) * KERNEL_REDACT_BLOCKS;
    part.end = min(part.first + KERNEL_REDACT_BLOCKS, pass.columns);
    return part;
}

static __device__ __forceinline__ uint32_t *redact_owners(const struct redact_pass &pass, int row) {
    return (uint32_t *)pass.owners + (int64_t)row * pass.columns;
}

/* Rounds what the mask covers out to whole blocks, and makes these region 0. A warp does a block. */
static __device__ __forceinline__ void redact_settle_blocks(const struct redact_pass &pass) {
    struct redact_part part = redact_part_of(pass);
    int top = part.row * pass.block_height;
    int bottom = min(top + pass.block_height, pass.mask.height);
    uint32_t outside = pass.invert ? MASK_INSIDE : 0;
    for (int block = part.first + (int)threadIdx.y; block < part.end; block += KERNEL_THREADS_Y) {
        int left = block * pass.block_width;
        int width = min(pass.block_width, pass.mask.width - left);
        int x = left + (int)threadIdx.x;
        bool any = false;
        for (int y = top; y < bottom && (int)threadIdx.x < width; y++) {
            any = any || row_of<const uint8_t>(pass.mask, y)[x] != outside;
        }
        any = __ballot_sync(0xffffffff, any) != 0;
        for (int y = top; y < bottom && (int)threadIdx.x < width; y++) {
            row_of<uint8_t>(pass.mask, y)[x] = any ? MASK_INSIDE : 0;
        }
        if (threadIdx.x == 0) {
            redact_owners(pass, part.row)[block] = any;
        }
        if (threadIdx.x == 0 && any && pass.fill == KERNEL_FILL_RING) {
            uint32_t *bounds = (uint32_t *)pass.bounds;
            atomicMax(&bounds[0], (uint32_t)(pass.columns - block));
            atomicMax(&bounds[1], (uint32_t)(pass.rows - part.row));
            atomicMax(&bounds[2], (uint32_t)block + 1);
            atomicMax(&bounds[3], (uint32_t)part.row + 1);
        }
    }
}

/* A rectangle of pixels, and the region that its samples are added to. */
struct redact_area {
    int x0, y0, x1, y1, row, region;
};

/* Cuts an area down to the bounding rectangle of what is inside, with its ring. */
static __device__ __forceinline__ void redact_cut(const struct redact_pass &pass, struct redact_area &area) {
    const uint32_t *bounds = (const uint32_t *)pass.bounds;
    area.x0 = max(area.x0, (pass.columns - (int)bounds[0]) * pass.block_width - pass.ring);
    area.y0 = max(area.y0, (pass.rows - (int)bounds[1]) * pass.block_height - pass.ring);
    area.x1 = min(area.x1, min((int)bounds[2] * pass.block_width, pass.mask.width) + pass.ring);
    area.y1 = min(area.y1, min((int)bounds[3] * pass.block_height, pass.mask.height) + pass.ring);
}

static __device__ __forceinline__ struct redact_area redact_area_of(const struct redact_pass &pass) {
    const struct kernel_grid &picture = pass.plane[0].samples;
    struct redact_area area;
    if (pass.inside) {
        struct redact_part part = redact_part_of(pass);
        area.x0 = part.first * pass.block_width;
        area.y0 = part.row * pass.block_height;
        area.x1 = min(part.end * pass.block_width, picture.width);
        area.y1 = min(area.y0 + pass.block_height, picture.height);
        area.region = 0;
        if (pass.ring) {
            redact_cut(pass, area);
        }
    } else {
        struct kernel_rect rect = rect_within(pass.rects, (int)blockIdx.x, picture.width, picture.height);
        area.x0 = rect.x0;
        area.y0 = rect.y0;
        area.x1 = rect.x1;
        area.y1 = rect.y1;
        area.region = min((int)rect.region, pass.regions - (pass.ring ? 0 : 1));
    }
    area.row = area.y0 / pass.block_height;
    return area;
}

/* Adds the samples of a plane. Those of blocks without an owner do not count, or only those. */
static __device__ __forceinline__ void
redact_add_plane(const struct redact_pass &pass, const struct redact_area &area, int index, uint32_t *sums) {
    const struct redact_plane &plane = pass.plane[index];
    int right = (area.x1 + (1 << plane.shift_x) - 1) >> plane.shift_x;
    int bottom = (area.y1 + (1 << plane.shift_y) - 1) >> plane.shift_y;
    const uint32_t *owners = redact_owners(pass, area.row);
    bool looks = pass.inside || pass.ring;
    uint32_t total = 0, count = 0;
    for (int y = (area.y0 >> plane.shift_y) + (int)threadIdx.y; y < bottom; y += KERNEL_THREADS_Y) {
        const uint8_t *row = row_of<const uint8_t>(plane.samples, y);
        for (int x = (area.x0 >> plane.shift_x) + (int)threadIdx.x; x < right; x += KERNEL_THREADS_X) {
            bool outside = looks && !owners[(x << plane.shift_x) / pass.block_width];
            bool counts = outside == (pass.ring > 0);
            total += counts ? row[x] : 0;
            count += counts;
        }
    }
    if (count) {
        atomicAdd(&sums[2 * index], total);
        atomicAdd(&sums[2 * index + 1], count);
    }
}

/* The sums of an area, and the owner of its blocks. The last region has the highest number. Rings are summed
 * up once all blocks have their owners. */
static __device__ __forceinline__ void redact_add(const struct redact_pass &pass) {
    uint32_t *sums = (uint32_t *)block_memory;
    struct redact_area area = redact_area_of(pass);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    if (thread < KERNEL_REDACT_SUMS) {
        sums[thread] = 0;
    }
    __syncthreads();
    bool empty = area.x0 >= area.x1 || area.y0 >= area.y1;
    int end = empty ? 0 : (area.x1 + pass.block_width - 1) / pass.block_width;
    for (int block = area.x0 / pass.block_width + thread; block < end && !pass.inside && !pass.ring;
         block += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        atomicMax(&redact_owners(pass, area.row)[block], (uint32_t)area.region + 1);
    }
    bool sums_up = pass.ring || pass.fill == KERNEL_FILL_MEAN;
    for (int p = 0; p < pass.planes && sums_up && !empty; p++) {
        redact_add_plane(pass, area, p, sums);
    }
    __syncthreads();
    if (thread < KERNEL_REDACT_SUMS && sums[thread]) {
        atomicAdd((unsigned long long *)pass.sums + (int64_t)area.region * KERNEL_REDACT_SUMS + thread,
                  (unsigned long long)sums[thread]);
    }
}

/* Rounded to nearest; -1: nothing counted. */
static __device__ __forceinline__ int redact_mean(const struct redact_pass &pass, int plane,
                                                  uint32_t region) {
    const unsigned long long *sums =
        (const unsigned long long *)pass.sums + (int64_t)region * KERNEL_REDACT_SUMS + 2 * plane;
    unsigned long long count = sums[1];
    return count ? (int)((sums[0] + count / 2) / count) : -1;
}

/* The level of a mean; chroma has that of grey among its levels. */
static __device__ __forceinline__ uint8_t redact_level(int mean, int plane) {
    mean = max(mean, 0);
    if (plane > 0) {
        return (uint8_t)(min((mean + REDACT_BIN / 2) / REDACT_BIN, REDACT_LEVELS - 1) * REDACT_BIN);
    }
    return (uint8_t)(mean / REDACT_BIN * REDACT_BIN + REDACT_BIN / 2);
}

/* A sample of what a region is filled with. One without a ring of its own has that of all. */
static __device__ __forceinline__ uint8_t redact_value(const struct redact_pass &pass, int plane,
                                                       uint32_t region) {
    if (pass.fill == KERNEL_FILL_COLOUR) {
        return pass.colour[plane];
    }
    int mean = redact_mean(pass, plane, region);
    if (pass.fill == KERNEL_FILL_MEAN) {
        return redact_level(mean, plane);
    }
    mean = mean < 0 ? redact_mean(pass, plane, (uint32_t)pass.regions) : mean;
    return mean < 0 ? pass.colour[plane] : (uint8_t)mean;
}

/* A hash of the tile's place, from -REDACT_LOOK_RANGE to REDACT_LOOK_RANGE. */
static __device__ __forceinline__ int redact_look(uint32_t column, uint32_t row) {
    uint32_t h = column * 0x9e3779b1u ^ row * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (int)((h ^ (h >> 15)) % (2 * REDACT_LOOK_RANGE + 1)) - REDACT_LOOK_RANGE;
}

/* What the blocks of a part are filled with. */
struct redact_fills {
    uint8_t value[KERNEL_REDACT_BLOCKS][4];
    uint32_t owned[KERNEL_REDACT_BLOCKS];
    uint32_t any;
};

static __device__ __forceinline__ void redact_fill_plane(const struct redact_pass &pass,
                                                         const struct redact_part &part, int index,
                                                         const struct redact_fills &fills) {
    const struct redact_plane &plane = pass.plane[index];
    int width = pass.block_width >> plane.shift_x, height = pass.block_height >> plane.shift_y;
    int right = min(part.end * width, plane.samples.width);
    int bottom = min((part.row + 1) * height, plane.samples.height);
    for (int y = part.row * height + (int)threadIdx.y; y < bottom; y += KERNEL_THREADS_Y) {
        uint8_t *row = row_of<uint8_t>(plane.samples, y);
        for (int x = part.first * width + (int)threadIdx.x; x < right; x += KERNEL_THREADS_X) {
            int block = x / width - part.first;
            if (!fills.owned[block]) {
                continue;
            }
            int value = fills.value[block][index];
            if (pass.look && index == 0) {
                value += redact_look((uint32_t)x / pass.look, (uint32_t)y / pass.look);
            }
            row[x] = (uint8_t)min(max(value, 0), 255);
        }
    }
}

static __device__ __forceinline__ void redact_fill_part(const struct redact_pass &pass) {
    struct redact_fills &fills = *(struct redact_fills *)block_memory;
    struct redact_part part = redact_part_of(pass);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    if (thread == 0) {
        fills.any = 0;
    }
    __syncthreads();
    if (thread < part.end - part.first) {
        uint32_t owner = redact_owners(pass, part.row)[part.first + thread];
        fills.owned[thread] = owner;
        if (owner) {
            atomicOr(&fills.any, 1u);
            for (int p = 0; p < pass.planes; p++) {
                fills.value[thread][p] = redact_value(pass, p, owner - 1);
            }
        }
    }
    __syncthreads();
    for (int p = 0; p < pass.planes && fills.any; p++) {
        redact_fill_plane(pass, part, p, fills);
    }
}

#endif
