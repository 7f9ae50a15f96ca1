/* SPDX-License-Identifier: MIT */
#include "detect/text/turned.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"

/* A unit vector, and the sides of a rectangle of that spread along it and across. */
struct direction {
    double x, y, length, thickness;
};

/* Half the angle whose cosine and sine are of twice the direction, without the functions of angles, which
 * differ between libraries. */
static struct direction direction_of(const struct moments_spread *spread) {
    const double middle = (spread->xx + spread->yy) / 2, half = (spread->xx - spread->yy) / 2;
    const double reach = sqrt(half * half + spread->xy * spread->xy);
    struct direction to = {.x = 1,
                           .length = sqrt(12 * max_double(middle + reach, 1.0 / 12)),
                           .thickness = sqrt(12 * max_double(middle - reach, 1.0 / 12))};
    if (reach > 0 && half >= 0) {
        to.x = sqrt((reach + half) / (2 * reach));
        to.y = spread->xy / (2 * reach * to.x);
    } else if (reach > 0) {
        to.y = sqrt((reach - half) / (2 * reach));
        to.x = spread->xy / (2 * reach * to.y);
    }
    if (to.x < 0) {
        to.x = -to.x, to.y = -to.y;
    }
    return to;
}

static void upright(const struct line *line, double corner[4][2]) {
    const double x[2] = {line->left, line->right}, y[2] = {line->top, line->bottom};
    for (unsigned i = 0; i < 4; i++) {
        corner[i][0] = x[i == 1 || i == 2];
        corner[i][1] = y[i >= 2];
    }
}

/* The middle of the line between its ends. */
struct middle {
    double x, y, length;
};

/* The upright rectangle around a turned one is as wide as its length and its thickness reach, and as high. Of
 * the two, that which the direction is nearer to tells the length. */
static struct middle between_ends(const struct line *line, const struct moments_spread *spread,
                                  const struct direction *to) {
    const double wide = fabs(to->x), high = fabs(to->y);
    const double x = (line->inner_left + line->inner_right) / 2.0,
                 y = (line->inner_top + line->inner_bottom) / 2.0;
    const double length = wide >= high ? (line->inner_right - line->inner_left - to->thickness * high) / wide
                                       : (line->inner_bottom - line->inner_top - to->thickness * wide) / high;
    const double along = wide >= high ? (x - spread->x) / to->x : (y - spread->y) / to->y;
    return (struct middle){spread->x + along * to->x, spread->y + along * to->y,
                           max_double(length, to->thickness)};
}

void turned_corners(const struct line *line, int border, double corner[4][2]) {
    struct moments moments;
    memcpy(&moments, line->moments, sizeof moments);
    struct moments_spread spread = moments_spread(&moments, line->pixels);
    spread.x -= border, spread.y -= border;
    const struct direction to = direction_of(&spread);
    if (to.length < TURNED_LEAST * to.thickness) {
        upright(line, corner);
        return;
    }
    const struct middle middle = between_ends(line, &spread, &to);
    const double by = LINES_GROWTH * to.thickness / 16 + LINES_GROWTH_LEAST;
    const double along = middle.length / 2 + by, across = to.thickness / 2 + by;
    for (unsigned i = 0; i < 4; i++) {
        const double a = i == 1 || i == 2 ? along : -along, b = i >= 2 ? across : -across;
        corner[i][0] = middle.x + a * to.x - b * to.y;
        corner[i][1] = middle.y + a * to.y + b * to.x;
    }
}
