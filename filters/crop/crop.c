/* SPDX-License-Identifier: MIT */
#include "filters/crop/crop.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/argument/region.h"
#include "filters/argument/value.h"

#define AT(member) offsetof(struct crop_arguments, member)

static const char *const begin_names[CROP_AXES] = {"x", "y"};
static const char *const size_names[CROP_AXES] = {"width", "height"};

/* The number that is the whole side; for pixels the largest allowed one. */
static const double unit_most[] = {[REGION_PX] = CROP_PIXELS_MAX, [REGION_PERCENT] = 100, [REGION_RATIO] = 1};

static enum status parse_length(const struct argument *row, const char *text, void *field,
                                struct error *err) {
    struct crop_length *length = field;
    char number[64], buffer[VALUE_QUOTE_MAX];
    size_t count = strlen(text);
    bool percent = count > 0 && text[count - 1] == '%', size = row->least > 0;
    double value = 0, most = percent ? 100 : CROP_PIXELS_MAX;
    snprintf(number, sizeof number, "%.*s", (int)(count - percent), text);
    if (count >= sizeof number || !value_number(number, true, &value) || value < 0 || value > most ||
        (size && value <= 0)) {
        return fail_argument(err, row->name,
                             "%s is %s, it must be a number %s 0 to 1000000, or to 100%% with a %% behind",
                             row->name, value_quote(text, buffer), size ? "above" : "from");
    }
    *length = (struct crop_length){.given = true, .percent = percent, .value = value};
    return ST_OK;
}

static enum status parse_aspect(const struct argument *row, const char *text, void *field,
                                struct error *err) {
    struct crop_arguments *crop = (struct crop_arguments *)(void *)((char *)field - AT(aspect));
    char copy[64], buffer[VALUE_QUOTE_MAX];
    snprintf(copy, sizeof copy, "%s", text);
    char *sign = strpbrk(copy, ":/");
    double width = 0, height = 0;
    if (sign) {
        *sign = '\0';
    }
    if (!sign || strlen(text) >= sizeof copy || !value_number(copy, true, &width) ||
        !value_number(sign + 1, true, &height) || width < 1 || height < 1 || width > CROP_PIXELS_MAX ||
        height > CROP_PIXELS_MAX) {
        return fail_argument(err, row->name,
                             "%s is %s, it must be two numbers from 1 to 1000000, as in 16:9 or 16/9",
                             row->name, value_quote(text, buffer));
    }
    crop->aspect.given = true;
    crop->aspect.side[0] = width;
    crop->aspect.side[1] = height;
    return ST_OK;
}

static enum status parse_gravity(const struct argument *row, const char *text, void *field,
                                 struct error *err) {
    struct crop_arguments *crop = (struct crop_arguments *)(void *)((char *)field - AT(gravity));
    crop->gravity.given = true;
    return gravity_parse(row, text, &crop->gravity.place, err);
}

static const struct argument crop_table[] = {
    {.name = "x",
     .type = ARGUMENT_PARSED,
     .offset = AT(begin[0]),
     .parse = parse_length,
     .form = "a number",
     .example = "10%",
     .without = "0",
     .help = "Left edge of the rectangle, in the unit that `unit` sets, or in percent of the width if a `%` "
             "follows the number."},
    {.name = "y",
     .type = ARGUMENT_PARSED,
     .offset = AT(begin[1]),
     .parse = parse_length,
     .form = "a number",
     .example = "10%",
     .without = "0",
     .help = "Top edge of the rectangle; a percentage counts from the height."},
    {.name = "width",
     .type = ARGUMENT_PARSED,
     .offset = AT(size[0]),
     .least = 1,
     .parse = parse_length,
     .form = "a number",
     .example = "80%",
     .without = "up to the right border",
     .help = "Width of the rectangle."},
    {.name = "height",
     .type = ARGUMENT_PARSED,
     .offset = AT(size[1]),
     .least = 1,
     .parse = parse_length,
     .form = "a number",
     .example = "80%",
     .without = "down to the bottom border",
     .help = "Height of the rectangle."},
    {.name = "unit",
     .type = ARGUMENT_CHOICE,
     .offset = AT(unit),
     .choices = region_unit_names,
     .help = "Unit of the numbers: pixels, percent (0 to 100) or ratios (0 to 1) of the width and height. "
             "With `mode=redact` it is also that of the regions."},
    {.name = "aspect",
     .type = ARGUMENT_PARSED,
     .offset = AT(aspect),
     .parse = parse_aspect,
     .form = "two numbers",
     .example = "16:9",
     .without = "",
     .help = "The largest rectangle of this shape, in place of `width` and `height`: `16:9`, in the steps of "
             "a pipeline `16/9`."},
    {.name = "gravity",
     .type = ARGUMENT_PARSED,
     .offset = AT(gravity),
     .parse = parse_gravity,
     .form = "a place",
     .example = "north",
     .without = "with `aspect` the middle",
     .help = "Places the rectangle, instead of `x` and `y`: `center`, `north`, `northeast`, `east`, "
             "`southeast`, `south`, `southwest`, `west`, `northwest`, or a point as parts of width and "
             "height, `0.3,0.7`. For `faces` or `persons` the picture is searched, to place it where it "
             "shows most "
             "of them; it lies in the middle if none is found."},
    {.name = NULL},
};

static enum status check_unit(const struct crop_arguments *crop, const struct crop_length *length,
                              const char *name, struct error *err) {
    double most = unit_most[length->percent ? REGION_PERCENT : crop->unit];
    return !length->given || length->value <= most
               ? ST_OK
               : fail_argument(err, name, "%s is %.10g, but with unit=%s it must be at most %g", name,
                               length->value, region_unit_names[crop->unit], most);
}

/* Contradictions along one axis. */
static enum status check_axis(const struct crop_arguments *crop, unsigned axis, struct error *err) {
    const struct crop_length *begin = &crop->begin[axis], *size = &crop->size[axis];
    if (crop->aspect.given && size->given) {
        return fail_argument(err, "aspect", "aspect and %s cannot be given together", size_names[axis]);
    }
    if ((crop->aspect.given || crop->gravity.given) && begin->given) {
        return fail_argument(err, begin_names[axis], "%s and %s cannot be given together", begin_names[axis],
                             crop->gravity.given ? "gravity" : "aspect");
    }
    enum status status = check_unit(crop, begin, begin_names[axis], err);
    return status == ST_OK ? check_unit(crop, size, size_names[axis], err) : status;
}

static enum status check(const void *arguments, struct error *err) {
    const struct crop_arguments *crop = arguments;
    if (crop->gravity.given && !crop->aspect.given && !crop->size[0].given && !crop->size[1].given) {
        return fail_argument(err, "gravity", "gravity needs aspect, width or height");
    }
    enum status status = check_axis(crop, 0, err);
    return status == ST_OK ? check_axis(crop, 1, err) : status;
}

/* In pixels, rounded to 1/65536, so that edges that are equal on paper (0.1 + 0.2 and 0.3) are equal. */
static double in_pixels(const struct crop_arguments *crop, const struct crop_length *length, uint32_t side) {
    enum region_unit unit = length->percent ? REGION_PERCENT : (enum region_unit)crop->unit;
    double pixels = unit == REGION_PX ? length->value : length->value * side / unit_most[unit];
    return floor(pixels * 65536 + 0.5) / 65536;
}

static double to_edge(double pixels) {
    return floor(pixels + 0.5);
}

/* Pixels begin to begin + size - 1 of an axis. */
struct crop_span {
    uint32_t begin, size;
};

static enum status refuse(const char *name, const char *sum, double value, const struct image_shape *shape,
                          struct error *err) {
    return fail_argument(err, name,
                         "%s%s is %.10g pixels, which is not within the picture of %" PRIu32 " x %" PRIu32
                         " pixels",
                         sum, name, value, shape->width, shape->height);
}

/* The rectangle's edges, each rounded, with at least one pixel between them. */
static enum status span_by_edges(const struct crop_arguments *crop, unsigned axis,
                                 const struct image_shape *shape, struct crop_span *span, struct error *err) {
    uint32_t side = axis ? shape->height : shape->width;
    double from = in_pixels(crop, &crop->begin[axis], side);
    if (from >= side) {
        return refuse(begin_names[axis], "", from, shape, err);
    }
    double to = crop->size[axis].given ? from + in_pixels(crop, &crop->size[axis], side) : side;
    double begin = fmin(to_edge(from), side - 1.0), end = fmax(to_edge(to), begin + 1);
    if (end > side) {
        return refuse(size_names[axis], axis ? "y + " : "x + ", to, shape, err);
    }
    *span = (struct crop_span){(uint32_t)begin, (uint32_t)(end - begin)};
    return ST_OK;
}

static uint32_t place(uint32_t size, uint32_t side, double gravity) {
    return (uint32_t)floor((double)(side - size) * (gravity + 0.5));
}

/* A rectangle of the given size at the place that gravity says. */
static enum status span_by_gravity(const struct crop_arguments *crop, unsigned axis,
                                   const struct image_shape *shape, struct crop_span *span,
                                   struct error *err) {
    uint32_t side = axis ? shape->height : shape->width;
    double size = crop->size[axis].given ? in_pixels(crop, &crop->size[axis], side) : side;
    double whole = fmax(to_edge(size), 1);
    if (whole > side) {
        return refuse(size_names[axis], "", size, shape, err);
    }
    span->size = (uint32_t)whole;
    span->begin = place(span->size, side, axis ? crop->gravity.place.y : crop->gravity.place.x);
    return ST_OK;
}

/* The largest rectangle of the aspect. */
static void span_by_aspect(const struct crop_arguments *crop, const struct image_shape *shape,
                           struct crop_span span[CROP_AXES]) {
    double width = shape->width, height = shape->height;
    double ratio = crop->aspect.side[0] / crop->aspect.side[1];
    if (height * ratio < width) {
        width = fmax(to_edge(height * ratio), 1);
    } else {
        height = fmin(fmax(to_edge(width / ratio), 1), height);
    }
    const struct gravity *at = &crop->gravity.place;
    span[0] = (struct crop_span){place((uint32_t)width, shape->width, at->x), (uint32_t)width};
    span[1] = (struct crop_span){place((uint32_t)height, shape->height, at->y), (uint32_t)height};
}

/* Planes with fewer samples of colour are cut between these, where no argument says the place to the pixel.
 */
static void align(struct crop_span *span, unsigned axis, const struct image_shape *shape) {
    const unsigned shift = axis ? shape->chroma_shift_y : shape->chroma_shift_x;
    span->begin = shape->model == PIXEL_YCBCR ? span->begin >> shift << shift : span->begin;
}

static unsigned follows(const void *arguments) {
    return ((const struct crop_arguments *)arguments)->gravity.place.detector;
}

static void window_size(const void *planned, double size[2]) {
    const struct crop_plan *crop = planned;
    size[0] = crop->width;
    size[1] = crop->height;
}

static void window_move(void *planned, const struct image_shape *shape, const double begin[2]) {
    struct crop_plan *crop = planned;
    struct crop_span span[CROP_AXES] = {{0, crop->width}, {0, crop->height}};
    for (unsigned axis = 0; axis < CROP_AXES; axis++) {
        const uint32_t room = (axis ? shape->height : shape->width) - span[axis].size;
        span[axis].begin = (uint32_t)fmin(fmax(to_edge(begin[axis]), 0), room);
        align(&span[axis], axis, shape);
    }
    crop->x = span[0].begin;
    crop->y = span[1].begin;
}

static const struct filter_window window = {follows, window_size, window_move};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    const struct crop_arguments *crop = arguments;
    struct crop_span span[CROP_AXES] = {{0, 0}};
    enum status status = check(arguments, err);
    if (status == ST_OK && crop->aspect.given) {
        span_by_aspect(crop, shape, span);
    }
    for (unsigned axis = 0; axis < CROP_AXES && status == ST_OK && !crop->aspect.given; axis++) {
        status = (crop->gravity.given ? span_by_gravity : span_by_edges)(crop, axis, shape, &span[axis], err);
    }
    for (unsigned axis = 0; axis < CROP_AXES && follows(crop); axis++) {
        align(&span[axis], axis, shape);
    }
    *(struct crop_plan *)planned =
        (struct crop_plan){span[0].begin, span[1].begin, span[0].size, span[1].size};
    return status;
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct crop_plan *crop = planned;
    uint32_t grid_x = 1, grid_y = 1;
    if (shape->model == PIXEL_YCBCR) {
        grid_x <<= shape->chroma_shift_x;
        grid_y <<= shape->chroma_shift_y;
    }
    return crop->width > 0 && crop->height > 0 && crop->x < shape->width && crop->y < shape->height &&
           crop->width <= shape->width - crop->x && crop->height <= shape->height - crop->y &&
           crop->x % grid_x == 0 && crop->y % grid_y == 0;
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    struct crop_plan crop;
    return plan(arguments, shape, &crop, NULL) == ST_OK && valid(&crop, shape);
}

static void result(const void *planned, struct image_shape *shape) {
    const struct crop_plan *crop = planned;
    shape->width = crop->width;
    shape->height = crop->height;
}

struct image crop_view(const struct crop_plan *plan, const struct image *image) {
    struct image_shape shape = image_shape(image);
    struct image part;
    result(plan, &shape);
    image_layout(&part, &shape);
    for (unsigned i = 0; i < part.plane_count; i++) {
        const struct plane *whole = &image->plane[i];
        size_t pixel = (size_t)whole->channels * (image->depth / 8);
        part.plane[i].stride = whole->stride;
        part.plane[i].data =
            plane_row(whole, plan->y >> whole->shift_y) + (plan->x >> whole->shift_x) * pixel;
    }
    return part;
}

const struct filter filter_crop = {
    .name = "crop",
    .help = "A rectangle of the picture.",
    .example = "width=50%25&height=50%25",
    .arguments = crop_table,
    .plan = plan,
    .check = check,
    .planar = planar,
    .result = result,
    .moves = true,
    .valid = valid,
    .window = &window,
    .moves_blocks = true,
    .copies = true,
    .sample_ns = {0.1F, 0.1F},
};
