/* SPDX-License-Identifier: MIT
 * Rectangles and ellipses have one span of columns a row. A polygon fills the spans between its crossings
 * with the line of the centres. The other rules also look at the pixels that its edges pass through: a pixel
 * without an edge lies on one side of the polygon, and its centre tells which. */
#include "cpu/mask/mask_shape.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"

/* Far above the rounding errors of crossings and roots: coordinates are below 2^21. */
static const double margin = 1e-6;

/* fmax, fmin, floor and ceil without a library call: all numbers are finite and below 2^53. */

static inline double floor_of(double value) {
    double whole = (double)(int64_t)value;
    return whole > value ? whole - 1 : whole;
}

static inline double ceil_of(double value) {
    return -floor_of(-value);
}

struct canvas {
    uint32_t width, height;
    enum mask_rule rule;
    mask_shape_span *span;
    void *context;
    struct mask_rect drawn;
};

/* Whole columns or rows [lo, hi); empty where hi <= lo. */
struct range {
    double lo, hi;
};

/* The pixels of an axis that belong to the interval from `lo` to `hi`. */
static struct range range_of(enum mask_rule rule, double lo, double hi) {
    switch (rule) {
    case MASK_CENTRE:
        break;
    case MASK_TOUCHED:
        return (struct range){floor_of(lo), max_double(ceil_of(hi), floor_of(lo) + 1)};
    case MASK_WITHIN:
        return (struct range){ceil_of(lo), floor_of(hi)};
    }
    return (struct range){ceil_of(lo - 0.5), ceil_of(hi - 0.5)};
}

static struct range range_cut(struct range range, uint32_t size) {
    return (struct range){max_double(range.lo, 0), min_double(range.hi, size)};
}

static void fill(struct canvas *canvas, double y, struct range columns) {
    struct range cut = range_cut(columns, canvas->width);
    if (cut.lo >= cut.hi) {
        return;
    }
    uint32_t row = (uint32_t)y, from = (uint32_t)cut.lo, to = (uint32_t)cut.hi;
    canvas->span(canvas->context, row, from, to);
    struct mask_rect *drawn = &canvas->drawn;
    if (drawn->y1 == 0) {
        *drawn = (struct mask_rect){from, row, to, row + 1};
    }
    drawn->x0 = from < drawn->x0 ? from : drawn->x0;
    drawn->x1 = to > drawn->x1 ? to : drawn->x1;
    drawn->y1 = row + 1;
}

static void draw_rectangle(struct canvas *canvas, const struct region_box *box) {
    struct range rows = range_cut(range_of(canvas->rule, box->y0, box->y1), canvas->height);
    for (double y = rows.lo; y < rows.hi; y++) {
        fill(canvas, y, range_of(canvas->rule, box->x0, box->x1));
    }
}

/* Distance from the middle line to the deciding point of row y: its centre, nearest or farthest point. */
static double row_distance(enum mask_rule rule, double y, double middle) {
    switch (rule) {
    case MASK_CENTRE:
        break;
    case MASK_TOUCHED:
        return max_double(0, max_double(y - middle, middle - (y + 1)));
    case MASK_WITHIN:
        return max_double(middle - y, y + 1 - middle);
    }
    return fabs(y + 0.5 - middle);
}

static void draw_ellipse(struct canvas *canvas, const struct region_box *box) {
    double middle_x = (box->x0 + box->x1) / 2, radius_x = (box->x1 - box->x0) / 2;
    double middle_y = (box->y0 + box->y1) / 2, radius_y = (box->y1 - box->y0) / 2;
    struct range rows = range_cut(range_of(canvas->rule, box->y0, box->y1), canvas->height);
    for (double y = rows.lo; y < rows.hi; y++) {
        double distance = row_distance(canvas->rule, y, middle_y);
        double part = radius_y > 0 ? distance / radius_y : 0;
        if (part >= 1 && canvas->rule != MASK_TOUCHED) {
            continue;
        }
        double half = radius_x * sqrt(max_double(0, 1 - part * part));
        if (canvas->rule == MASK_TOUCHED) {
            half = min_double(half + margin, radius_x);
        } else if (canvas->rule == MASK_WITHIN) {
            half -= margin;
        }
        fill(canvas, y, range_of(canvas->rule, middle_x - half, middle_x + half));
    }
}

/* Edges run from the upper end to the lower, so that polygons with a common edge get the same crossings. */
struct mask_edge {
    double x0, y0, x1, y1;
    int winding; /* 1 downward, -1 upward */
};

struct crossing {
    double x;
    int winding;
};

/* Edges in the order of their crossings with the last row, from the left. Two straight edges cross once, so
 * the next row has nearly the same order and sorting costs little. */
struct order {
    uint8_t edge[REGION_POINTS_MAX];
};

struct outline {
    unsigned count;
    struct mask_edge edge[REGION_POINTS_MAX];
    struct order crossed, touched;
};

static void outline_init(struct outline *outline, const struct region_set *set, uint32_t index,
                         const struct canvas *canvas) {
    struct region_point point[REGION_POINTS_MAX];
    outline->count = region_points(set, index, canvas->width, canvas->height, point);
    for (unsigned i = 0; i < outline->count; i++) {
        struct region_point a = point[i], b = point[(i + 1) % outline->count];
        outline->edge[i] = a.y <= b.y ? (struct mask_edge){a.x, a.y, b.x, b.y, 1}
                                      : (struct mask_edge){b.x, b.y, a.x, a.y, -1};
        outline->crossed.edge[i] = outline->touched.edge[i] = (uint8_t)i;
    }
}

static double edge_at(const struct mask_edge *edge, double y) {
    return edge->x0 + (y - edge->y0) * (edge->x1 - edge->x0) / (edge->y1 - edge->y0);
}

/* Moves the edges that the row meets to the front. */
static void reorder(struct order *order, const uint8_t *met, unsigned count, const uint8_t *others,
                    unsigned other_count) {
    memcpy(order->edge, met, count);
    memcpy(order->edge + count, others, other_count);
}

/* Finds the crossings with the horizontal line at y, sorted by x. */
static unsigned find_crossings(struct outline *outline, double y,
                               struct crossing crossing[REGION_POINTS_MAX]) {
    uint8_t met[REGION_POINTS_MAX], others[REGION_POINTS_MAX];
    unsigned count = 0, other_count = 0;
    for (unsigned i = 0; i < outline->count; i++) {
        uint8_t number = outline->crossed.edge[i];
        const struct mask_edge *edge = &outline->edge[number];
        if (y < edge->y0 || y >= edge->y1) {
            others[other_count++] = number;
            continue;
        }
        struct crossing found = {edge_at(edge, y), edge->winding};
        unsigned at = count++;
        for (; at > 0 && crossing[at - 1].x > found.x; at--) {
            crossing[at] = crossing[at - 1];
            met[at] = met[at - 1];
        }
        crossing[at] = found;
        met[at] = number;
    }
    reorder(&outline->crossed, met, count, others, other_count);
    return count;
}

/* The columns in which an edge passes through row y; false for none. An edge along a border of rows or
 * columns passes through neither of them. */
static bool edge_columns(const struct mask_edge *edge, double y, struct range *columns) {
    if (edge->y1 <= y || edge->y0 >= y + 1) {
        return false;
    }
    double left = min_double(edge->x0, edge->x1), right = max_double(edge->x0, edge->x1);
    if (edge->y0 < edge->y1) {
        double a = edge_at(edge, max_double(edge->y0, y)), b = edge_at(edge, min_double(edge->y1, y + 1));
        left = max_double(left, min_double(a, b) - margin);
        right = min_double(right, max_double(a, b) + margin);
    }
    *columns = (struct range){floor_of(left), ceil_of(right)};
    return columns->lo < columns->hi;
}

/* The columns that edges pass through in row y, sorted by their first. */
static unsigned find_touched(struct outline *outline, double y, struct range touched[REGION_POINTS_MAX]) {
    uint8_t met[REGION_POINTS_MAX], others[REGION_POINTS_MAX];
    unsigned count = 0, other_count = 0;
    for (unsigned i = 0; i < outline->count; i++) {
        uint8_t number = outline->touched.edge[i];
        struct range found;
        if (!edge_columns(&outline->edge[number], y, &found)) {
            others[other_count++] = number;
            continue;
        }
        unsigned at = count++;
        for (; at > 0 && touched[at - 1].lo > found.lo; at--) {
            touched[at] = touched[at - 1];
            met[at] = met[at - 1];
        }
        touched[at] = found;
        met[at] = number;
    }
    reorder(&outline->touched, met, count, others, other_count);
    return count;
}

/* Fills `inside` without the columns of edges. */
static void fill_within(struct canvas *canvas, double y, struct range inside, const struct range *touched,
                        unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        fill(canvas, y, (struct range){inside.lo, min_double(inside.hi, touched[i].lo)});
        inside.lo = max_double(inside.lo, touched[i].hi);
    }
    fill(canvas, y, inside);
}

/* Fills the columns of edges, merged first: many edges may pass through few pixels. */
static void fill_touched(struct canvas *canvas, double y, const struct range *touched, unsigned count) {
    for (unsigned i = 0; i < count;) {
        struct range all = touched[i++];
        for (; i < count && touched[i].lo <= all.hi; i++) {
            all.hi = max_double(all.hi, touched[i].hi);
        }
        fill(canvas, y, all);
    }
}

static void draw_polygon_row(struct canvas *canvas, struct outline *outline, double y) {
    struct crossing crossing[REGION_POINTS_MAX];
    struct range touched[REGION_POINTS_MAX];
    unsigned crossings = find_crossings(outline, y + 0.5, crossing);
    unsigned edges = canvas->rule == MASK_CENTRE ? 0 : find_touched(outline, y, touched);
    int winding = 0;
    double from = 0;
    for (unsigned i = 0; i < crossings; i++) {
        from = winding == 0 ? crossing[i].x : from;
        winding += crossing[i].winding;
        if (winding == 0) {
            struct range inside = range_of(MASK_CENTRE, from, crossing[i].x);
            fill_within(canvas, y, inside, touched, canvas->rule == MASK_WITHIN ? edges : 0);
        }
    }
    if (canvas->rule == MASK_TOUCHED) {
        fill_touched(canvas, y, touched, edges);
    }
}

static void draw_polygon(struct canvas *canvas, const struct region_set *set, uint32_t index,
                         const struct region_box *box) {
    struct outline outline;
    outline_init(&outline, set, index, canvas);
    struct range rows = range_cut(range_of(MASK_TOUCHED, box->y0, box->y1), canvas->height);
    for (double y = rows.lo; y < rows.hi; y++) {
        draw_polygon_row(canvas, &outline, y);
    }
}

static void draw(struct canvas *canvas, const struct region_set *set, uint32_t index) {
    struct region_box box = region_box(set, index, canvas->width, canvas->height);
    switch ((enum region_form)region_get(set, index)->form) {
    case REGION_RECTANGLE:
        draw_rectangle(canvas, &box);
        break;
    case REGION_ELLIPSE:
        draw_ellipse(canvas, &box);
        break;
    case REGION_POLYGON:
        draw_polygon(canvas, set, index, &box);
        break;
    }
}

struct mask_rect mask_shape_spans(const struct mask_shape_size *size, const struct region_set *set,
                                  uint32_t index, enum mask_rule rule, mask_shape_span *span, void *context) {
    struct canvas canvas = {
        .width = size->width, .height = size->height, .rule = rule, .span = span, .context = context};
    draw(&canvas, set, index);
    return canvas.drawn;
}

static void fill_span(void *context, uint32_t y, uint32_t from, uint32_t to) {
    const struct image *mask = context;
    memset(plane_row(&mask->plane[0], y) + from, 255, to - from);
}

struct mask_rect mask_shape(const struct image *mask, const struct region_set *set, uint32_t index,
                            enum mask_rule rule) {
    const struct mask_shape_size size = {mask->width, mask->height};
    struct image drawn = *mask;
    return mask_shape_spans(&size, set, index, rule, fill_span, &drawn);
}
