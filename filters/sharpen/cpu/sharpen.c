/* SPDX-License-Identifier: MIT
 * Sharpening is the blur in floating point with another way to store its rows. */
#include "filters/blur/cpu/blur.h"

struct sharpen {
    const struct row_set *rows;
    const struct sharpen_plan *plan;
};

/* The spare row holds the picture's row, colour not multiplied. */
static void sharpen_row(const void *context, void *to, const void *from, float *blurred, float *picture,
                        const struct row_format *format, size_t pixels) {
    const struct sharpen *sharpen = context;
    const struct filter_rows *ops = &sharpen->rows->filter;
    struct row_format plain = {format->channels, format->depth, false};
    size_t n = pixels * format->channels;
    sharpen->rows->floating.load(picture, from, &plain, pixels);
    if (format->alpha) {
        ops->colour(blurred, blurred, 0, format->channels, pixels);
        for (size_t i = format->channels - 1; i < n; i += format->channels) {
            blurred[i] = picture[i]; /* alpha stays */
        }
    }
    ops->sharpen(blurred, picture, sharpen->plan->amount, sharpen->plan->threshold, n);
    ops->store(to, blurred, format->depth, n);
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct sharpen_plan *plan = planned;
    struct sharpen sharpen = {context->rows, plan};
    struct blur_finish finish = {sharpen_row, &sharpen};
    return cpu_blur_finish(context, &plan->blur, source, target, &finish, err);
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    return cpu_blur_need(rows, &((const struct sharpen_plan *)planned)->blur, source, true);
}

static bool reports(const void *planned) {
    (void)planned;
    return true;
}

const struct cpu_filter cpu_filter_sharpen = {.run = run, .need = need, .reports = reports};
