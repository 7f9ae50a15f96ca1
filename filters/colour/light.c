/* SPDX-License-Identifier: MIT */
#include "filters/colour/light.h"

#include <math.h>
#include <pthread.h>

static struct light_table table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

double light_of(double v) {
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

double light_sample(double light) {
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static unsigned sample_of(unsigned level) {
    return (unsigned)(255 * light_sample(level / 65535.0) + 0.5);
}

/* The curve rises, so halving the interval finds where a sample begins. */
static uint16_t least_of(unsigned sample) {
    unsigned below = 0, from = LIGHT_LEVELS - 1; /* the answer lies in [below, from] */
    while (below < from) {
        unsigned middle = (below + from) / 2;
        if (sample_of(middle) >= sample) {
            from = middle;
        } else {
            below = middle + 1;
        }
    }
    return (uint16_t)from;
}

static void make_table(void) {
    for (unsigned i = 0; i < LIGHT_SAMPLES; i++) {
        table.light[i] = (uint16_t)(65535 * light_of(i / 255.0) + 0.5);
        table.least[i] = least_of(i);
    }
}

const struct light_table *light_table(void) {
    pthread_once(&once, make_table);
    return &table;
}
