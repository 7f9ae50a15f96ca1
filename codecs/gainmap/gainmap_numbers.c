/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_numbers.h"

#include <math.h>
#include <string.h>

bool gainmap_number(double value, int32_t *number) {
    double millionths = rint(value * GAINMAP_ONE);
    bool fits = millionths >= -GAINMAP_MOST && millionths <= GAINMAP_MOST; /* false for NaN */
    *number = fits ? (int32_t)millionths : 0;
    return fits;
}

bool gainmap_numbers_fit(const struct gainmap_numbers *numbers) {
    bool fit = (numbers->channels == 1 || numbers->channels == GAINMAP_CHANNELS) &&
               numbers->base_headroom >= 0 && numbers->headroom > numbers->base_headroom;
    for (unsigned i = 0; i < GAINMAP_CHANNELS; i++) {
        const struct gainmap_channel *channel = &numbers->channel[i];
        fit = fit && channel->gamma > 0 && channel->max >= channel->min;
    }
    return fit;
}

bool gainmap_numbers_are_grey(const struct gainmap_numbers *numbers) {
    const struct gainmap_channel *channel = numbers->channel;
    return memcmp(&channel[0], &channel[1], sizeof *channel) == 0 &&
           memcmp(&channel[0], &channel[2], sizeof *channel) == 0;
}

uint8_t gainmap_neutral(const struct gainmap_channel *channel) {
    double range = (double)channel->max - channel->min;
    if (channel->min >= 0 || range <= 0) {
        return 0;
    }
    double part = channel->max <= 0 ? 1 : -(double)channel->min / range;
    return (uint8_t)lrint(255 * pow(part, (double)channel->gamma / GAINMAP_ONE));
}
