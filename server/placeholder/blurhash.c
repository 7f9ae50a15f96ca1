/* SPDX-License-Identifier: MIT
 * Where a double is assigned to a float it is rounded, as in the encoder that is followed. */
#include "server/placeholder/blurhash.h"

#include <math.h>

enum {
    CHANNELS = 3,
    AXIS = BLURHASH_COMPONENTS_MAX,
    VALUES = 256,
    LEVELS = 19,
    LARGEST_MAX = 82,
    LARGEST_SCALE = 166
};

/* Cosines of an axis: [x][k] of component k at sample x. */
struct axis {
    float cosine[THUMBNAIL_SIDE][AXIS];
};

struct blurhash_terms {
    unsigned across, down;
    float term[AXIS][AXIS][CHANNELS]; /* [down][across] */
};

static void fill_axis(struct axis *axis, unsigned components, uint32_t side) {
    for (uint32_t x = 0; x < side; x++) {
        for (unsigned k = 0; k < components; k++) {
            axis->cosine[x][k] = cosf((float)(M_PI * k * x / side));
        }
    }
}

static float linear_of(unsigned value) {
    float share = (float)value / 255;
    return share <= 0.04045 ? (float)(share / 12.92) : powf((float)((share + 0.055) / 1.055), 2.4F);
}

static unsigned stored_of(float linear) {
    float value = fmaxf(0, fminf(1, linear));
    return (unsigned)(value <= 0.0031308 ? value * 12.92 * 255 + 0.5
                                         : (1.055 * powf(value, (float)(1 / 2.4)) - 0.055) * 255 + 0.5);
}

/* Adds a pixel to all sums: each of them gets the pixels in order, rows first. */
static void add_pixel(struct blurhash_terms *terms, const float *columns, const float *rows,
                      const float value[CHANNELS]) {
    for (unsigned j = 0; j < terms->down; j++) {
        for (unsigned i = 0; i < terms->across; i++) {
            float basis = columns[i] * rows[j];
            for (unsigned c = 0; c < CHANNELS; c++) {
                terms->term[j][i][c] += basis * value[c];
            }
        }
    }
}

static void transform(struct blurhash_terms *terms, const struct thumbnail *thumbnail) {
    struct axis columns, rows;
    float linear[VALUES];
    fill_axis(&columns, terms->across, thumbnail->width);
    fill_axis(&rows, terms->down, thumbnail->height);
    for (unsigned i = 0; i < VALUES; i++) {
        linear[i] = linear_of(i);
    }
    const uint8_t(*pixel)[4] = thumbnail->pixel;
    for (uint32_t y = 0; y < thumbnail->height; y++) {
        for (uint32_t x = 0; x < thumbnail->width; x++, pixel++) {
            const float value[CHANNELS] = {linear[(*pixel)[0]], linear[(*pixel)[1]], linear[(*pixel)[2]]};
            add_pixel(terms, columns.cosine[x], rows.cosine[y], value);
        }
    }
    for (unsigned i = 0; i < terms->down * AXIS; i++) {
        float scale = (i == 0 ? 1.0F : 2.0F) / (float)(thumbnail->width * thumbnail->height);
        for (unsigned c = 0; c < CHANNELS; c++) {
            terms->term[i / AXIS][i % AXIS][c] *= scale;
        }
    }
}

/* Returns the largest magnitude of a varying term. */
static float largest_of(const struct blurhash_terms *terms) {
    float largest = 0;
    for (unsigned j = 0; j < terms->down; j++) {
        for (unsigned i = j == 0; i < terms->across; i++) {
            for (unsigned c = 0; c < CHANNELS; c++) {
                largest = fmaxf(fabsf(terms->term[j][i][c]), largest);
            }
        }
    }
    return largest;
}

static char *put_digits(char *text, unsigned value, unsigned count) {
    static const char digits[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
    enum { BASE = sizeof digits - 1 };
    for (unsigned i = count; i-- > 0; value /= BASE) {
        text[i] = digits[value % BASE];
    }
    return text + count;
}

/* A square root gives small terms more of the levels. */
static unsigned level_of(float term, float largest) {
    float share = term / largest;
    float root = copysignf(powf(fabsf(share), 0.5F), share);
    return (unsigned)fmaxf(0, fminf(LEVELS - 1, floorf((float)(root * (LEVELS / 2) + LEVELS / 2.0))));
}

static char *put_terms(char *text, const struct blurhash_terms *terms, float largest) {
    for (unsigned j = 0; j < terms->down; j++) {
        for (unsigned i = j == 0; i < terms->across; i++) {
            const float *term = terms->term[j][i];
            unsigned value = 0;
            for (unsigned c = 0; c < CHANNELS; c++) {
                value = value * LEVELS + level_of(term[c], largest);
            }
            text = put_digits(text, value, 2);
        }
    }
    return text;
}

void blurhash_write(const struct thumbnail *thumbnail, unsigned across, unsigned down,
                    char text[BLURHASH_TEXT_MAX]) {
    struct blurhash_terms terms = {.across = across, .down = down};
    transform(&terms, thumbnail);
    const float *mean = terms.term[0][0];
    float steps = floorf((float)(largest_of(&terms) * LARGEST_SCALE - 0.5));
    unsigned largest = (unsigned)fmaxf(0, fminf(LARGEST_MAX, steps));
    text = put_digits(text, across - 1 + (down - 1) * AXIS, 1);
    text = put_digits(text, largest, 1);
    text = put_digits(text, stored_of(mean[0]) << 16 | stored_of(mean[1]) << 8 | stored_of(mean[2]), 4);
    text = put_terms(text, &terms, (float)(largest + 1) / LARGEST_SCALE);
    *text = '\0';
}
