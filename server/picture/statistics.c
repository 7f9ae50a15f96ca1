/* SPDX-License-Identifier: MIT */
#include "server/picture/statistics.h"

#include <inttypes.h>
#include <math.h>

static const char *channel_name(enum pixel_model model, unsigned channel) {
    static const char *const colours[] = {"red", "green", "blue"};
    if (image_pixel_has_alpha(model) && channel + 1 == image_pixel_channels(model)) {
        return "alpha";
    }
    return image_pixel_channels(model) < 3 ? "gray" : colours[channel];
}

static enum status write_moments(const struct stats_channel *channel, uint64_t pixels, struct buf *body,
                                 struct error *err) {
    if (pixels == 0) {
        return buf_printf(body, err, "\"mean\":null,\"standard_deviation\":null");
    }
    /* The squares of 2^32 samples of 16 bits have 64 bits, which long double holds exactly. */
    long double mean = (long double)channel->sum / (long double)pixels;
    long double variance = (long double)channel->squares / (long double)pixels - mean * mean;
    return buf_printf(body, err, "\"mean\":%.6Lf,\"standard_deviation\":%.6Lf", mean,
                      variance > 0 ? sqrtl(variance) : 0.0L);
}

static enum status write_histogram(const struct stats_channel *channel, struct buf *body, struct error *err) {
    enum status status = buf_printf(body, err, ",\"histogram\":[");
    for (unsigned i = 0; i < STATS_BINS && status == ST_OK; i++) {
        status = buf_printf(body, err, "%s%" PRIu64, i ? "," : "", channel->histogram[i]);
    }
    return status == ST_OK ? buf_printf(body, err, "]}") : status;
}

enum status statistics_write(const struct work_plan *plan, const struct image *result, struct buf *body,
                             struct error *err) {
    const struct stats *stats = (const struct stats *)(const void *)result->plane[0].data;
    const struct image_shape *shape = &plan->filtered;
    enum status status = buf_printf(
        body, err, "{\"width\":%u,\"height\":%u,\"depth\":%u,\"pixels\":%" PRIu64 ",\"channels\":[",
        shape->width, shape->height, shape->depth, stats->pixels);
    for (unsigned c = 0; c < image_pixel_channels(shape->model) && status == ST_OK; c++) {
        const struct stats_channel *channel = &stats->channel[c];
        status = buf_printf(body, err, "%s{\"name\":\"%s\",\"minimum\":%" PRIu64 ",\"maximum\":%" PRIu64 ",",
                            c ? "," : "", channel_name(shape->model, c), channel->minimum, channel->maximum);
        status = status == ST_OK ? write_moments(channel, stats->pixels, body, err) : status;
        status = status == ST_OK ? write_histogram(channel, body, err) : status;
    }
    return status == ST_OK ? buf_printf(body, err, "]}\n") : status;
}
