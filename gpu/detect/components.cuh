/* SPDX-License-Identifier: MIT
 * Finds components with union-find. A run is a row's longest stretch of pixels of a component. All its pixels
 * have as label the index of its first pixel. That first pixel's label is its own index, if it is the root of
 * its component, or the index of a pixel nearer to the root. */
#ifndef BLURD_GPU_DETECT_COMPONENTS_CUH
#define BLURD_GPU_DETECT_COMPONENTS_CUH

#include "gpu/detect/components_kernels.h"
#include "gpu/detect/detect_kernels.h"

/* A root's label has this bit once its part has a number. */
static const uint32_t component_numbered = 0x80000000u;

struct component_pixel {
    int32_t index, x, y;
    bool inside; /* and of a component */
    bool first;  /* of its run */
};

static __device__ __forceinline__ bool component_has(const struct components_pass &pass, int32_t index) {
    return ((const uint8_t *)pass.map)[index] >= pass.pixel;
}

/* The pixel of this thread. */
static __device__ __forceinline__ struct component_pixel
component_pixel_of(const struct components_pass &pass) {
    struct component_pixel pixel;
    pixel.index = (int32_t)(blockIdx.x * (KERNEL_THREADS_X * KERNEL_THREADS_Y) +
                            threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    pixel.y = pixel.index / pass.width;
    pixel.x = pixel.index - pixel.y * pass.width;
    pixel.inside = pixel.y < pass.height && component_has(pass, pixel.index);
    pixel.first = pixel.inside && (pixel.x == 0 || !component_has(pass, pixel.index - 1));
    return pixel;
}

/* Other threads change labels meanwhile. The result was the root at one moment, and atomicMin finds out
 * whether it still is. */
static __device__ __forceinline__ uint32_t component_root(const volatile uint32_t *labels, uint32_t index) {
    uint32_t next = labels[index];
    while (next != index) {
        index = next;
        next = labels[index];
    }
    return index;
}

/* Merges two components: the larger root gets the smaller one as label. If another thread was faster, the
 * loop goes on with the label that it wrote. */
static __device__ __forceinline__ void component_unite(uint32_t *labels, uint32_t a, uint32_t b) {
    while (true) {
        a = component_root(labels, a);
        b = component_root(labels, b);
        if (a == b) {
            return;
        }
        const uint32_t larger = a > b ? a : b, smaller = a > b ? b : a;
        const uint32_t before = atomicMin(&labels[larger], smaller);
        if (before == larger) {
            return;
        }
        a = before;
        b = smaller;
    }
}

/* The first pixel of a run labels all of it. The count of parts becomes 0. */
static __device__ __forceinline__ void component_label(const struct components_pass &pass) {
    const struct component_pixel pixel = component_pixel_of(pass);
    uint32_t *labels = (uint32_t *)pass.labels;
    if (pixel.index == 0) {
        *(uint32_t *)pass.count = 0;
    }
    if (pixel.first) {
        const int32_t end = pixel.index - pixel.x + pass.width;
        for (int32_t i = pixel.index; i < end && component_has(pass, i); i++) {
            labels[i] = (uint32_t)pixel.index;
        }
    }
}

/* A pixel unites its run with those of the row above that it is the first or the last to touch. */
static __device__ __forceinline__ void component_join(const struct components_pass &pass) {
    const struct component_pixel pixel = component_pixel_of(pass);
    uint32_t *labels = (uint32_t *)pass.labels;
    if (!pixel.inside || pixel.y == 0) {
        return;
    }
    const int32_t above = pixel.index - pass.width;
    const bool left = pixel.x > 0 && component_has(pass, above - 1);
    const bool middle = component_has(pass, above);
    const bool right = pixel.x + 1 < pass.width && component_has(pass, above + 1);
    const uint32_t own = labels[pixel.index];
    if (middle && (pixel.first || !left)) {
        component_unite(labels, own, labels[above]);
    }
    if (left && !middle && pixel.first) {
        component_unite(labels, own, labels[above - 1]);
    }
    if (right && !middle) {
        component_unite(labels, own, labels[above + 1]);
    }
}

/* Roots get the numbers of their parts. */
static __device__ __forceinline__ void component_number(const struct components_pass &pass) {
    const struct component_pixel pixel = component_pixel_of(pass);
    uint32_t *labels = (uint32_t *)pass.labels;
    if (pixel.first && labels[pixel.index] == (uint32_t)pixel.index) {
        const uint32_t number = atomicAdd((uint32_t *)pass.count, 1u);
        ((struct component_part *)pass.parts)[number] = {pass.width, pass.height};
        labels[pixel.index] = component_numbered | number;
    }
}

static __device__ __forceinline__ void component_add(uint64_t *to, uint64_t value) {
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
}

/* Adds a run's moments as a whole, as moments_add_run does. */
static __device__ __forceinline__ void component_spread(struct component_part *part, uint32_t from,
                                                        uint32_t pixels, uint32_t y) {
    const uint64_t count = pixels, first = from, row = y;
    const uint64_t ramp = count * (count - 1) / 2;
    const uint64_t squares = ramp * (2 * count - 1) / 3;
    const uint64_t x = count * first + ramp;
    component_add(&part->x, x);
    component_add(&part->y, count * row);
    component_add(&part->xx, (count * first + 2 * ramp) * first + squares);
    component_add(&part->xy, x * row);
    component_add(&part->yy, count * row * row);
}

/* The first pixel of a run adds it to its part. */
static __device__ __forceinline__ void component_measure(const struct components_pass &pass) {
    const struct component_pixel pixel = component_pixel_of(pass);
    const uint32_t *labels = (const uint32_t *)pass.labels;
    if (!pixel.first) {
        return;
    }
    const int32_t end = pixel.index - pixel.x + pass.width;
    int32_t peak = 0, last = pixel.index;
    for (; last < end && component_has(pass, last); last++) {
        peak = max(peak, (int32_t)((const uint8_t *)pass.map)[last]);
    }
    uint32_t label = labels[pixel.index];
    while (!(label & component_numbered)) {
        label = labels[label];
    }
    struct component_part *part = (struct component_part *)pass.parts + (label & ~component_numbered);
    atomicMin(&part->left, pixel.x);
    atomicMin(&part->top, pixel.y);
    atomicMax(&part->right, pixel.x + last - pixel.index);
    atomicMax(&part->bottom, pixel.y + 1);
    atomicAdd(&part->pixels, last - pixel.index);
    atomicMax(&part->peak, peak);
    component_spread(part, (uint32_t)pixel.x, (uint32_t)(last - pixel.index), (uint32_t)pixel.y);
}

/* Two words for each sum, the lower one first. */
static __device__ __forceinline__ void component_split(const struct component_part &part, int32_t *sums) {
    const uint64_t moments[] = {part.x, part.y, part.xx, part.xy, part.yy};
    for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
        sums[2 * i] = (int32_t)(uint32_t)moments[i];
        sums[2 * i + 1] = (int32_t)(uint32_t)(moments[i] >> 32);
    }
}

/* The threads divide the parts among themselves: each takes one and skips as many as there are threads. The
 * sums are in the order of detect/components.h. */
static __device__ __forceinline__ void component_gather(const struct components_pass &pass) {
    const uint32_t threads = gridDim.x * (KERNEL_THREADS_X * KERNEL_THREADS_Y);
    const uint32_t count = *(const uint32_t *)pass.count;
    uint32_t i =
        blockIdx.x * (KERNEL_THREADS_X * KERNEL_THREADS_Y) + threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
    for (; i < count; i += threads) {
        const struct component_part part = ((const struct component_part *)pass.parts)[i];
        if (part.peak < pass.peak) {
            continue;
        }
        const uint32_t place = atomicAdd((uint32_t *)pass.candidates, 1u);
        if (place < (uint32_t)pass.most) {
            struct kernel_candidate found = {};
            found.x = (uint16_t)part.left;
            found.y = (uint16_t)part.top;
            found.sum[0] = part.peak | pass.mark;
            found.sum[1] = part.right;
            found.sum[2] = part.bottom;
            found.sum[3] = part.pixels;
            component_split(part, found.sum + 4);
            ((struct kernel_candidate *)(pass.candidates + sizeof(uint32_t)))[place] = found;
        }
    }
}

#endif
