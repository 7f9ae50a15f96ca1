/* SPDX-License-Identifier: MIT */
#include "cpu/blend.h"

#include <stdbool.h>
#include <string.h>

#include "cpu/bands.h"
#include "cpu/mask/mask_plane.h"

struct blending {
    const struct image *source, *result, *mask;
};

static inline uint64_t get(const uint8_t *samples, size_t i, unsigned bytes) {
    uint16_t wide;
    memcpy(&wide, samples + i * bytes, bytes == 1 ? 1 : 2);
    return bytes == 1 ? samples[i] : wide;
}

static inline void put(uint8_t *samples, size_t i, unsigned bytes, uint64_t value) {
    uint16_t wide = (uint16_t)value;
    if (bytes == 1) {
        samples[i] = (uint8_t)value;
    } else {
        memcpy(samples + 2 * i, &wide, 2);
    }
}

static inline void mix(uint8_t *to, const uint8_t *from, unsigned channels, unsigned bytes, unsigned m) {
    for (unsigned c = 0; c < channels; c++) {
        uint32_t sum = (uint32_t)get(from, c, bytes) * (255 - m) + (uint32_t)get(to, c, bytes) * m;
        put(to, c, bytes, (sum + 127) / 255);
    }
}

static inline void mix_alpha(uint8_t *to, const uint8_t *from, unsigned channels, unsigned bytes,
                             unsigned m) {
    uint64_t source = get(from, channels - 1, bytes) * (255 - m);
    uint64_t filtered = get(to, channels - 1, bytes) * m;
    uint64_t alpha = source + filtered;
    for (unsigned c = 0; c + 1 < channels; c++) {
        uint64_t sum = get(from, c, bytes) * source + get(to, c, bytes) * filtered + alpha / 2;
        put(to, c, bytes, alpha ? sum / alpha : 0);
    }
    put(to, channels - 1, bytes, (alpha + 127) / 255);
}

/* Length of the run of bytes equal to the first, `count` at most. */
static uint32_t equal_run(const uint8_t *m, uint32_t count) {
    uint32_t run = 1;
    uint64_t all = m[0] * 0x0101010101010101u, eight;
    for (; run + 8 <= count; run += 8) {
        memcpy(&eight, m + run, sizeof eight);
        if (eight != all) {
            break;
        }
    }
    while (run < count && m[run] == m[0]) {
        run++;
    }
    return run;
}

/* Blends `count` pixels with the coverages m. */
static void blend_span(uint8_t *to, const uint8_t *from, const struct plane *plane, unsigned bytes,
                       bool alpha, const uint8_t *m, uint32_t count) {
    size_t pixel = (size_t)plane->channels * bytes;
    uint32_t run;
    for (uint32_t x = 0; x < count; x += run) {
        run = m[x] == 0 || m[x] == 255 ? equal_run(m + x, count - x) : 1;
        if (m[x] == 255) {
            continue;
        }
        if (m[x] == 0) {
            memcpy(to + x * pixel, from + x * pixel, run * pixel);
        } else {
            (alpha ? mix_alpha : mix)(to + x * pixel, from + x * pixel, plane->channels, bytes, m[x]);
        }
    }
}

static void blend_band(const void *context, const struct band *band) {
    const struct blending *blending = context;
    const struct plane *from = &blending->source->plane[band->plane];
    const struct plane *to = &blending->result->plane[band->plane];
    unsigned bytes = blending->result->depth / 8u;
    bool alpha = image_pixel_has_alpha(blending->result->model);
    for (uint32_t y = band->from; y < band->to; y++) {
        for (uint32_t x = 0; x < to->width; x += MASK_CHUNK) {
            uint8_t buffer[MASK_CHUNK];
            uint32_t count = to->width - x < MASK_CHUNK ? to->width - x : MASK_CHUNK;
            const uint8_t *m = mask_samples(blending->mask, to, y, x, count, MASK_MEAN, buffer);
            size_t offset = (size_t)x * to->channels * bytes;
            blend_span(plane_row(to, y) + offset, plane_row(from, y) + offset, to, bytes, alpha, m, count);
        }
    }
}

enum status blend(struct crew *crew, int64_t deadline_ns, const struct image *source,
                  const struct image *result, const struct image *mask, struct error *err) {
    struct blending blending = {source, result, mask};
    struct pass pass = {.band = blend_band, .context = &blending, .deadline_ns = deadline_ns};
    for (unsigned i = 0; i < result->plane_count; i++) {
        pass.rows[i] = result->plane[i].height;
        pass.cost[i] = (uint64_t)result->plane[i].width * result->plane[i].channels;
    }
    return bands_run(crew, bands_seats(crew, &pass, 0), &pass, err);
}
