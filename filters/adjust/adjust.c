/* SPDX-License-Identifier: MIT */
#include "filters/adjust/adjust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/argument/value.h"

#define AT(member) offsetof(struct adjust_arguments, member)

/* BT.601, as in JPEG: the grey of a JPEG is its luma. */
static const double luma[3] = {0.299, 0.587, 0.114};

/* CSS Filter Effects 1, 13.1.1. */
static const double sepia[3][3] = {{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}};

/* Reads 3 or 6 hexadecimal digits of `length` characters, perhaps behind a #. Three are doubled, as in CSS.
 */
static bool read_colour(const char *text, size_t length, uint8_t rgb[3]) {
    size_t sign = length > 0 && text[0] == '#', digits = length - sign;
    unsigned value[3];
    text += sign;
    if ((digits != 3 && digits != 6) || strspn(text, "0123456789abcdefABCDEF") != digits ||
        sscanf(text, digits == 3 ? "%1x%1x%1x" : "%2x%2x%2x", &value[0], &value[1], &value[2]) != 3) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        rgb[i] = (uint8_t)(digits == 3 ? value[i] * 17 : value[i]);
    }
    return true;
}

/* Parses "#shadow,#highlight". */
static enum status parse_duotone(const struct argument *row, const char *text, void *field,
                                 struct error *err) {
    struct adjust_duotone *duotone = field;
    char quoted[VALUE_QUOTE_MAX];
    const char *comma = strchr(text, ',');
    if (!comma || !read_colour(text, (size_t)(comma - text), duotone->shadow) ||
        !read_colour(comma + 1, strlen(comma + 1), duotone->highlight)) {
        return fail_argument(err, row->name,
                             "%s is %s, it must be two colours of 3 or 6 hexadecimal digits: 2b1055,ffd26f",
                             row->name, value_quote(text, quoted));
    }
    duotone->given = true;
    return ST_OK;
}

static const struct argument adjust_table[] = {
    {
        .name = "brightness",
        .type = ARGUMENT_REAL,
        .offset = AT(brightness),
        .minimum = 0,
        .maximum = 10,
        .initial = 1,
        .help = "Factor of all colours: 0 is black, 1 changes nothing.",
    },
    {
        .name = "contrast",
        .type = ARGUMENT_REAL,
        .offset = AT(contrast),
        .minimum = 0,
        .maximum = 10,
        .initial = 1,
        .help = "Factor of the distance from middle grey: 0 is grey, 1 changes nothing.",
    },
    {
        .name = "saturation",
        .type = ARGUMENT_REAL,
        .offset = AT(saturation),
        .minimum = 0,
        .maximum = 10,
        .initial = 1,
        .help = "Factor of the distance from the grey of the same luma: 0 has no colour, 1 changes nothing.",
    },
    {
        .name = "gamma",
        .type = ARGUMENT_REAL,
        .offset = AT(gamma),
        .minimum = 0.2,
        .maximum = 5,
        .initial = 1,
        .help =
            "Exponent 1 / gamma for colours from 0 to 1: above 1 the middle becomes lighter, below 1 darker.",
    },
    {
        .name = "grayscale",
        .type = ARGUMENT_SWITCH,
        .offset = AT(grayscale),
        .help = "Leaves the luma only. The result has one channel, a JPEG too, unless there are regions.",
    },
    {
        .name = "sepia",
        .type = ARGUMENT_REAL,
        .offset = AT(sepia),
        .minimum = 0,
        .maximum = 1,
        .help = "Brown tones of old photographs, from 0 (none) to 1 (all).",
    },
    {
        .name = "duotone",
        .type = ARGUMENT_PARSED,
        .offset = AT(duotone),
        .parse = parse_duotone,
        .form = "two colours",
        .example = "2b1055,ffd26f",
        .without = "",
        .help =
            "Two colours of 3 or 6 hexadecimal digits, for black and for white. Luma between them becomes a "
            "mixture. In a URL, `#` before the digits is left out or written `%23`.",
    },
    {
        .name = "negate",
        .type = ARGUMENT_SWITCH,
        .offset = AT(negate),
        .help = "The negative, of what all other arguments make.",
    },
    {.name = NULL},
};

/* A matrix for colours from 0 to 1, with what is added in column 3. */
struct colours {
    double row[3][4];
};

/* Applies row[c] = factor * row[c], plus `added` for all colours. */
static void scale(struct colours *all, double factor, double added) {
    for (unsigned c = 0; c < 3; c++) {
        for (unsigned k = 0; k < 4; k++) {
            all->row[c][k] = factor * all->row[c][k] + (k == 3 ? added : 0);
        }
    }
}

/* Mixes each colour with the product of `matrix` and all colours: `amount` 0 changes nothing. */
static void mix(struct colours *all, const double matrix[3][3], double amount) {
    const struct colours before = *all;
    for (unsigned c = 0; c < 3; c++) {
        for (unsigned k = 0; k < 4; k++) {
            double product = 0;
            for (unsigned i = 0; i < 3; i++) {
                product += matrix[c][i] * before.row[i][k];
            }
            all->row[c][k] = (1 - amount) * before.row[c][k] + amount * product;
        }
    }
}

static void mix_grey(struct colours *all, double amount) {
    double matrix[3][3];
    for (unsigned c = 0; c < 3; c++) {
        memcpy(matrix[c], luma, sizeof luma);
    }
    mix(all, matrix, amount);
}

static void tone(struct colours *all, const struct adjust_duotone *duotone) {
    mix_grey(all, 1);
    for (unsigned c = 0; c < 3; c++) {
        double shadow = duotone->shadow[c] / 255.0, highlight = duotone->highlight[c] / 255.0;
        for (unsigned k = 0; k < 4; k++) {
            all->row[c][k] = (highlight - shadow) * all->row[c][k] + (k == 3 ? shadow : 0);
        }
    }
}

static struct colours colours_of(const struct adjust_arguments *adjust) {
    struct colours all = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    scale(&all, adjust->brightness, 0);
    scale(&all, adjust->contrast, 0.5 * (1 - adjust->contrast));
    if (adjust->saturation != 1) {
        mix_grey(&all, 1 - adjust->saturation);
    }
    if (adjust->grayscale) {
        mix_grey(&all, 1);
    }
    if (adjust->sepia > 0) {
        mix(&all, sepia, adjust->sepia);
    }
    if (adjust->duotone.given) {
        tone(&all, &adjust->duotone);
    }
    if (adjust->negate) {
        scale(&all, -1, 1);
    }
    return all;
}

static bool is_toned(const struct adjust_arguments *adjust) {
    return adjust->sepia > 0 || adjust->duotone.given;
}

static bool is_grey(enum pixel_model model) {
    return model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
}

static enum pixel_model model_of(const struct adjust_arguments *adjust, enum pixel_model source) {
    bool alpha = image_pixel_has_alpha(source);
    if (adjust->keep_model || (is_grey(source) && !is_toned(adjust))) {
        return source;
    }
    if (adjust->grayscale && !is_toned(adjust)) {
        return alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY;
    }
    return source == PIXEL_YCBCR ? source : alpha ? PIXEL_RGBA : PIXEL_RGB;
}

/* The matrix for a grey source, whose colours are all the same. */
static void from_grey(struct colours *all) {
    for (unsigned c = 0; c < 3; c++) {
        all->row[c][0] += all->row[c][1] + all->row[c][2];
        all->row[c][1] = all->row[c][2] = 0;
    }
}

/* Leaves the luma of the result in row 0. */
static void to_grey(struct colours *all) {
    mix_grey(all, 1);
    memset(all->row[1], 0, 2 * sizeof all->row[1]);
}

/* The factors of the planes, for adjustments that `planar` allows: luma takes the factor of grey, and the
 * distance of Cb and Cr from 128 that of saturated colour. */
static void to_planes(struct colours *all, const struct adjust_arguments *adjust) {
    double colour = adjust->grayscale ? 0 : all->row[0][0] - all->row[1][0];
    from_grey(all);
    for (unsigned c = 1; c < 3; c++) {
        const double row[4] = {0, c == 1 ? colour : 0, c == 2 ? colour : 0, (1 - colour) * 128 / 255};
        memcpy(all->row[c], row, sizeof row);
    }
}

/* Place of a node of the curve for 16 bits. */
static unsigned node_sample(unsigned node) {
    unsigned bits = node < 2 * ADJUST_FINE ? 0 : node / ADJUST_FINE - 1;
    return (node - bits * ADJUST_FINE) << bits;
}

static void fill_curve(struct adjust_plan *plan, double gamma, unsigned depth) {
    double white = depth == 16 ? 65535 : 255;
    unsigned entries = depth == 16 ? ADJUST_NODES : ADJUST_CURVE;
    for (unsigned i = 0; i < entries; i++) {
        double sample = depth == 16 ? node_sample(i) : i;
        plan->curve[i] = (float)(white * pow(sample / white, 1 / gamma));
    }
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)err; /* all arguments go together */
    const struct adjust_arguments *adjust = arguments;
    struct adjust_plan *plan = planned;
    struct colours all = colours_of(adjust);
    plan->model = (uint8_t)model_of(adjust, shape->model);
    if (shape->model == PIXEL_YCBCR) {
        to_planes(&all, adjust);
    } else if (is_grey(shape->model)) {
        from_grey(&all);
    }
    if (shape->model != PIXEL_YCBCR && is_grey((enum pixel_model)plan->model)) {
        to_grey(&all);
    }
    for (unsigned c = 0; c < 3; c++) {
        for (unsigned k = 0; k < 4; k++) {
            double unit = k < 3 ? 1 : 255 * image_sample_step(shape);
            plan->matrix[c][k] = (float)(unit * all.row[c][k]);
        }
    }
    plan->curved = adjust->gamma != 1;
    if (plan->curved) {
        fill_curve(plan, adjust->gamma, shape->depth);
    }
    return ST_OK;
}

/* The samples of planes can be adjusted on their own when no colour needs another. The results agree with
 * those of RGB where no sum is cut to the range of samples. */
static bool planar(const void *arguments, const struct image_shape *shape) {
    const struct adjust_arguments *adjust = arguments;
    (void)shape;
    bool kept = adjust->brightness == 1 && adjust->contrast == 1 && adjust->saturation == 1;
    return adjust->gamma == 1 && !is_toned(adjust) && (adjust->grayscale || kept);
}

static void result(const void *planned, struct image_shape *shape) {
    shape->model = (enum pixel_model)((const struct adjust_plan *)planned)->model;
    if (shape->model != PIXEL_YCBCR) {
        shape->chroma_shift_x = shape->chroma_shift_y = 0;
    }
}

/* Whether a picture of the one model can become one of the other. */
static bool model_follows(enum pixel_model source, enum pixel_model model) {
    if (source == PIXEL_YCBCR || model == PIXEL_YCBCR) {
        return source == PIXEL_YCBCR && (model == PIXEL_YCBCR || model == PIXEL_GRAY);
    }
    return model < PIXEL_YCBCR && image_pixel_has_alpha(source) == image_pixel_has_alpha(model);
}

static struct filter_reach reach(const void *planned) {
    (void)planned;
    return (struct filter_reach){.grid = 1};
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct adjust_plan *plan = planned;
    bool sound = plan->curved <= (shape->model != PIXEL_YCBCR) && plan->model <= PIXEL_YCBCR &&
                 model_follows(shape->model, (enum pixel_model)plan->model);
    for (unsigned c = 0; c < 3; c++) {
        for (unsigned k = 0; k < 4; k++) {
            sound = sound && fabsf(plan->matrix[c][k]) <= (k < 3 ? 1e4f : 1e8f);
        }
    }
    for (unsigned i = 0; i < ADJUST_CURVE; i++) {
        sound = sound && fabsf(plan->curve[i]) <= 1e5f;
    }
    return sound;
}

static bool paints(const void *arguments) {
    (void)arguments;
    return true;
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct adjust_arguments){1.2, 1.1, 1.4, .gamma = 2}, true},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 16), &(const struct adjust_arguments){1, 1, 0.5, .gamma = 2}, false},
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct adjust_arguments){1, 1, 1, 1, .grayscale = true},
     false},
    {FILTER_SAMPLE_LARGE(PIXEL_GRAY, 8), &(const struct adjust_arguments){1, 1, 1, 1, .sepia = 1}, false},
    {FILTER_SAMPLE_PLANES, &(const struct adjust_arguments){1, 1, 1, 1, .negate = true}, true},
    {.arguments = NULL},
};

const struct filter filter_adjust = {
    .name = "adjust",
    .help = "Brightness, contrast, saturation, gamma, grey, sepia, duotone, negative.",
    .example = "saturation=1.3&contrast=1.1",
    .arguments = adjust_table,
    .plan = plan,
    .planar = planar,
    .result = result,
    .valid = valid,
    .reach = reach,
    .paints = paints,
    .sample_ns = {0.6F, 1},
    .samples = samples,
};
