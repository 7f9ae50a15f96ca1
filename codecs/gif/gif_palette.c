/* SPDX-License-Identifier: MIT
 * Median cut (Heckbert, "Color image quantization for frame buffer display", 1982) of a histogram of 5 bits a
 * primary: the box that is worst, by pixels times squared length, is divided at the median of its longest
 * side. A colour is the mean of its box's pixels. */
#include "codecs/gif/gif_palette.h"

#include "core/deadline.h"

enum { RGBA = 4, OPAQUE_LEAST = 128, LEVELS = 32, ROWS_A_CHECK = 64, BITS_LEAST = 2 };

/* Cells from `low` to `high`, both included. */
struct gif_box {
    uint8_t low[3], high[3];
    uint64_t pixels;
};

static uint8_t sample8(const uint8_t *row, size_t index, bool deep) {
    uint16_t sample;
    if (!deep) {
        return row[index];
    }
    memcpy(&sample, row + 2 * index, sizeof sample);
    return (uint8_t)((sample * 255u + 32895u) >> 16); /* round(v * 255 / 65535) */
}

void gif_row(const struct image *image, uint32_t y, uint8_t *rgba) {
    const uint8_t *row = plane_row(&image->plane[0], y);
    const size_t channels = image->plane[0].channels;
    const bool deep = image->depth == 16, grey = channels < 3;
    for (size_t x = 0; x < image->width; x++, rgba += RGBA) {
        const size_t at = x * channels;
        rgba[0] = sample8(row, at, deep);
        rgba[1] = grey ? rgba[0] : sample8(row, at + 1, deep);
        rgba[2] = grey ? rgba[0] : sample8(row, at + 2, deep);
        rgba[3] = channels % 2 == 0 ? sample8(row, at + channels - 1, deep) : UINT8_MAX;
    }
}

static unsigned cell_of(const uint8_t *p) {
    return (unsigned)(p[0] >> 3) << 10 | (unsigned)(p[1] >> 3) << 5 | p[2] >> 3;
}

/* The slot of the colour, or the free one where it belongs. */
static unsigned find(const struct gif_palette *palette, uint32_t colour) {
    unsigned slot = (colour * UINT32_C(2654435761)) >> 22;
    while (palette->known[slot] != 0 && palette->known[slot] != colour + 1) {
        slot = (slot + 1) % GIF_KNOWN;
    }
    return slot;
}

static uint32_t colour_of(const uint8_t *p) {
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

/* Keeps the colour as it is while there is room. */
static void note_colour(struct gif_palette *palette, const uint8_t *p) {
    const uint32_t colour = colour_of(p);
    const unsigned slot = find(palette, colour);
    if (palette->known[slot] != 0) {
        return;
    }
    palette->exact = palette->colours < GIF_COLOURS;
    if (palette->exact) {
        palette->known[slot] = colour + 1;
        palette->known_index[slot] = (uint8_t)palette->colours;
        memcpy(palette->colour[palette->colours++], p, 3);
    }
}

static void count_row(struct gif_palette *palette, const uint8_t *rgba, size_t width) {
    for (size_t x = 0; x < width; x++, rgba += RGBA) {
        if (rgba[3] < OPAQUE_LEAST) {
            palette->transparent = 0;
            continue;
        }
        struct gif_cell *cell = &palette->cell[cell_of(rgba)];
        cell->pixels++;
        for (unsigned i = 0; i < 3; i++) {
            cell->sum[i] += rgba[i];
        }
        if (palette->exact) {
            note_colour(palette, rgba);
        }
    }
}

/* ---- median cut ---- */

typedef void visit(void *context, unsigned cell, const uint8_t place[3]);

static void each_cell(const struct gif_box *box, visit *function, void *context) {
    uint8_t place[3];
    for (unsigned r = box->low[0]; r <= box->high[0]; r++) {
        for (unsigned g = box->low[1]; g <= box->high[1]; g++) {
            for (unsigned b = box->low[2]; b <= box->high[2]; b++) {
                place[0] = (uint8_t)r, place[1] = (uint8_t)g, place[2] = (uint8_t)b;
                function(context, r << 10 | g << 5 | b, place);
            }
        }
    }
}

struct gif_levels {
    const struct gif_palette *palette;
    uint64_t level[3][LEVELS]; /* pixels of each level of each primary */
};

static void measure_cell(void *context, unsigned cell, const uint8_t place[3]) {
    struct gif_levels *measure = context;
    for (unsigned i = 0; i < 3; i++) {
        measure->level[i][place[i]] += measure->palette->cell[cell].pixels;
    }
}

/* Makes the box as small as its pixels allow. */
static void shrink(const struct gif_palette *palette, struct gif_box *box, struct gif_levels *measure) {
    *measure = (struct gif_levels){.palette = palette};
    each_cell(box, measure_cell, measure);
    box->pixels = 0;
    for (unsigned i = 0; i < 3; i++) {
        while (box->low[i] < box->high[i] && measure->level[i][box->low[i]] == 0) {
            box->low[i]++;
        }
        while (box->high[i] > box->low[i] && measure->level[i][box->high[i]] == 0) {
            box->high[i]--;
        }
    }
    for (unsigned level = 0; level < LEVELS; level++) {
        box->pixels += measure->level[0][level];
    }
}

static unsigned longest(const struct gif_box *box) {
    unsigned best = 1; /* of equal ones green, then red */
    best = box->high[0] - box->low[0] > box->high[best] - box->low[best] ? 0 : best;
    return box->high[2] - box->low[2] > box->high[best] - box->low[best] ? 2 : best;
}

static uint64_t badness(const struct gif_box *box) {
    const unsigned axis = longest(box);
    const uint64_t length = (uint64_t)box->high[axis] - box->low[axis];
    return box->pixels * length * length;
}

/* Divides the box behind the level where half of its pixels are. */
static void divide(const struct gif_palette *palette, struct gif_box *box, struct gif_box *other) {
    struct gif_levels measure;
    const unsigned axis = longest(box);
    shrink(palette, box, &measure);
    unsigned level = box->low[axis];
    uint64_t below = measure.level[axis][level];
    while (level + 1u < box->high[axis] && below + measure.level[axis][level + 1] <= box->pixels / 2) {
        below += measure.level[axis][++level];
    }
    *other = *box;
    box->high[axis] = (uint8_t)level;
    other->low[axis] = (uint8_t)(level + 1);
    shrink(palette, box, &measure);
    shrink(palette, other, &measure);
}

struct gif_filling {
    struct gif_palette *palette;
    unsigned index;
    uint64_t pixels, sum[3];
};

static void fill_cell(void *context, unsigned cell, const uint8_t place[3]) {
    struct gif_filling *fill = context;
    (void)place;
    fill->palette->cell_index[cell] = (uint8_t)fill->index;
    fill->pixels += fill->palette->cell[cell].pixels;
    for (unsigned i = 0; i < 3; i++) {
        fill->sum[i] += fill->palette->cell[cell].sum[i];
    }
}

static void take_colours(struct gif_palette *palette, const struct gif_box *box, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct gif_filling fill = {.palette = palette, .index = i};
        each_cell(&box[i], fill_cell, &fill);
        for (unsigned j = 0; j < 3; j++) {
            palette->colour[i][j] = (uint8_t)((fill.sum[j] + fill.pixels / 2) / fill.pixels);
        }
    }
    palette->colours = count;
}

static void cut(struct gif_palette *palette, unsigned most) {
    struct gif_box box[GIF_COLOURS] = {{.high = {LEVELS - 1, LEVELS - 1, LEVELS - 1}}};
    struct gif_levels measure;
    unsigned count = 1, worst = 0;
    shrink(palette, &box[0], &measure);
    while (count < most && badness(&box[worst]) > 0) {
        divide(palette, &box[worst], &box[count++]);
        for (unsigned i = worst = 0; i < count; i++) {
            worst = badness(&box[i]) > badness(&box[worst]) ? i : worst;
        }
    }
    take_colours(palette, box, count);
}

enum status gif_palette_make(struct gif_palette *palette, const struct image *image, int64_t deadline_ns,
                             uint8_t *row, struct error *err) {
    memset(palette, 0, sizeof *palette);
    palette->exact = true;
    palette->transparent = -1;
    for (uint32_t y = 0; y < image->height; y++) {
        if (y % ROWS_A_CHECK == 0 && deadline_check(deadline_ns, err) != ST_OK) {
            return ST_LIMIT;
        }
        gif_row(image, y, row);
        count_row(palette, row, image->width);
    }
    const bool transparent = palette->transparent >= 0;
    const unsigned most = GIF_COLOURS - transparent;
    if (!palette->exact || palette->colours > most) {
        palette->exact = false;
        cut(palette, most);
    }
    palette->transparent = transparent ? (int)palette->colours : -1;
    palette->bits = BITS_LEAST;
    while (1u << palette->bits < palette->colours + transparent) {
        palette->bits++;
    }
    return ST_OK;
}

void gif_palette_apply(const struct gif_palette *palette, const uint8_t *rgba, uint8_t *index, size_t width) {
    for (size_t x = 0; x < width; x++, rgba += RGBA) {
        if (rgba[3] < OPAQUE_LEAST) {
            index[x] = (uint8_t)palette->transparent;
        } else if (palette->exact) {
            index[x] = palette->known_index[find(palette, colour_of(rgba))];
        } else {
            index[x] = palette->cell_index[cell_of(rgba)];
        }
    }
}
