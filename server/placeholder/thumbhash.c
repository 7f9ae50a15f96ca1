/* SPDX-License-Identifier: MIT */
#include "server/placeholder/thumbhash.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "server/placeholder/cosine.h"

enum { LIGHT, YELLOW, RED, ALPHA, CHANNELS }; /* of the transform: yellow against blue, red against green */
enum { SIDE_MAX = 7, TERMS_MAX = SIDE_MAX * (SIDE_MAX + 1) / 2 };

/* The terms of a channel. Those of low frequency are computed: a triangle of across * down. */
struct channel_terms {
    unsigned across, down, count;
    uint8_t column[TERMS_MAX], row[TERMS_MAX]; /* frequencies of a term */
    double term[TERMS_MAX];                    /* the first is the mean */
    double scale;                              /* the largest magnitude of the others */
};

/* Cosines of both axes: [k][x] of frequency k at sample x. */
struct cosines {
    double column[SIDE_MAX][THUMBNAIL_SIDE], row[SIDE_MAX][THUMBNAIL_SIDE];
};

struct mean {
    double colour[3], alpha;
};

/* To the nearest whole number, halves up. */
static unsigned nearest(double value) {
    double below = floor(value);
    return (unsigned)(value - below >= 0.5 ? below + 1 : below);
}

static struct mean mean_of(const struct thumbnail *thumbnail) {
    struct mean mean = {{0}, 0};
    for (uint32_t i = 0; i < thumbnail->width * thumbnail->height; i++) {
        double alpha = thumbnail->pixel[i][3] / 255.0;
        for (unsigned c = 0; c < 3; c++) {
            mean.colour[c] += alpha / 255 * thumbnail->pixel[i][c];
        }
        mean.alpha += alpha;
    }
    for (unsigned c = 0; c < 3 && mean.alpha > 0; c++) {
        mean.colour[c] /= mean.alpha;
    }
    return mean;
}

static void fill_axis(double axis[SIDE_MAX][THUMBNAIL_SIDE], uint32_t side) {
    for (unsigned k = 0; k < SIDE_MAX; k++) {
        for (uint32_t x = 0; x < side; x++) {
            axis[k][x] = cosine(M_PI / side * k * (x + 0.5));
        }
    }
}

static struct channel_terms terms_of(unsigned across, unsigned down) {
    struct channel_terms terms = {.across = across, .down = down};
    for (unsigned row = 0; row < down; row++) {
        for (unsigned column = 0; column * down < across * (down - row); column++) {
            terms.column[terms.count] = (uint8_t)column;
            terms.row[terms.count++] = (uint8_t)row;
        }
    }
    return terms;
}

/* Lays a pixel over the mean colour and takes its channels. */
static void channels_of(const uint8_t pixel[4], const struct mean *mean, double channel[CHANNELS]) {
    double alpha = pixel[3] / 255.0, colour[3];
    for (unsigned c = 0; c < 3; c++) {
        colour[c] = mean->colour[c] * (1 - alpha) + alpha / 255 * pixel[c];
    }
    channel[LIGHT] = (colour[0] + colour[1] + colour[2]) / 3;
    channel[YELLOW] = (colour[0] + colour[1]) / 2 - colour[2];
    channel[RED] = colour[0] - colour[1];
    channel[ALPHA] = alpha;
}

static void add_pixels(const struct thumbnail *thumbnail, const struct mean *mean, unsigned channels,
                       struct channel_terms terms[CHANNELS]) {
    struct cosines cosines;
    fill_axis(cosines.column, thumbnail->width);
    fill_axis(cosines.row, thumbnail->height);
    for (uint32_t i = 0; i < thumbnail->width * thumbnail->height; i++) {
        uint32_t x = i % thumbnail->width, y = i / thumbnail->width;
        double channel[CHANNELS];
        channels_of(thumbnail->pixel[i], mean, channel);
        for (unsigned c = 0; c < channels; c++) {
            struct channel_terms *all = &terms[c];
            for (unsigned t = 0; t < all->count; t++) {
                all->term[t] += channel[c] * cosines.column[all->column[t]][x] * cosines.row[all->row[t]][y];
            }
        }
    }
}

/* Makes shares of 0 to 1 of the varying terms, 0.5 for none. */
static void normalise(struct channel_terms *terms, uint32_t pixels) {
    for (unsigned t = 0; t < terms->count; t++) {
        terms->term[t] /= pixels;
        if (t > 0) {
            terms->scale = fmax(terms->scale, fabs(terms->term[t]));
        }
    }
    for (unsigned t = 1; t < terms->count && terms->scale > 0; t++) {
        terms->term[t] = 0.5 + 0.5 / terms->scale * terms->term[t];
    }
}

static void put_head(const struct thumbnail *thumbnail, const struct channel_terms terms[CHANNELS],
                     bool has_alpha, unsigned shorter, uint8_t hash[THUMBHASH_MAX]) {
    const bool landscape = thumbnail->width > thumbnail->height;
    uint32_t first = nearest(63 * terms[LIGHT].term[0]) | nearest(31.5 + 31.5 * terms[YELLOW].term[0]) << 6 |
                     nearest(31.5 + 31.5 * terms[RED].term[0]) << 12 |
                     nearest(31 * terms[LIGHT].scale) << 18 | (unsigned)has_alpha << 23;
    uint32_t second = shorter | nearest(63 * terms[YELLOW].scale) << 3 | nearest(63 * terms[RED].scale) << 9 |
                      (unsigned)landscape << 15;
    hash[0] = (uint8_t)first;
    hash[1] = (uint8_t)(first >> 8);
    hash[2] = (uint8_t)(first >> 16);
    hash[3] = (uint8_t)second;
    hash[4] = (uint8_t)(second >> 8);
    if (has_alpha) {
        hash[5] = (uint8_t)(nearest(15 * terms[ALPHA].term[0]) | nearest(15 * terms[ALPHA].scale) << 4);
    }
}

size_t thumbhash_write(const struct thumbnail *thumbnail, uint8_t hash[THUMBHASH_MAX]) {
    enum { COLOUR_SIDE = 3, ALPHA_SIDE = 5 };
    const uint32_t width = thumbnail->width, height = thumbnail->height;
    const double longer = width > height ? width : height;
    const struct mean mean = mean_of(thumbnail);
    const bool has_alpha = mean.alpha < width * height;
    const unsigned channels = has_alpha ? CHANNELS : ALPHA, side = has_alpha ? ALPHA_SIDE : SIDE_MAX;
    unsigned across = nearest(side * width / longer), down = nearest(side * height / longer);
    across = across > 1 ? across : 1;
    down = down > 1 ? down : 1;
    struct channel_terms terms[CHANNELS] = {
        [LIGHT] = terms_of(across > 3 ? across : 3, down > 3 ? down : 3),
        [YELLOW] = terms_of(COLOUR_SIDE, COLOUR_SIDE),
        [RED] = terms_of(COLOUR_SIDE, COLOUR_SIDE),
        [ALPHA] = terms_of(ALPHA_SIDE, ALPHA_SIDE),
    };
    add_pixels(thumbnail, &mean, channels, terms);
    size_t nibbles = has_alpha ? 12 : 10;
    memset(hash, 0, THUMBHASH_MAX);
    for (unsigned c = 0; c < channels; c++) {
        normalise(&terms[c], width * height);
        for (unsigned t = 1; t < terms[c].count; t++, nibbles++) {
            hash[nibbles / 2] |= (uint8_t)(nearest(15 * terms[c].term[t]) << nibbles % 2 * 4);
        }
    }
    put_head(thumbnail, terms, has_alpha, width > height ? down : across, hash);
    return (nibbles + 1) / 2;
}
