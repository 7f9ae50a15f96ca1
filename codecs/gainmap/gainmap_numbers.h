/* SPDX-License-Identifier: MIT
 * What a gain map says about its samples (ISO 21496-1:2025, and Ultra HDR Image Format 1.1 of Android, whose
 * names are in brackets). All numbers are whole millionths, so that both forms in which they are written hold
 * the same. Thread-safe. Internal to codecs/.
 *
 * With a sample s of 0 to 1, and SDR the linear base, the HDR picture at full headroom is
 *
 *     (SDR + base_offset) * 2 ^ (min + (max - min) * s ^ (1 / gamma)) - offset */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_NUMBERS_H
#define BLURD_CODECS_GAINMAP_GAINMAP_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GAINMAP_ONE = 1000000,           /* the unit */
    GAINMAP_MOST = 64 * GAINMAP_ONE, /* of each number: a gain of 2^64 is beyond any screen */
    GAINMAP_CHANNELS = 3,
};

struct gainmap_channel {
    int32_t min, max;    /* log2 of the gain (GainMapMin, GainMapMax) */
    int32_t gamma;       /* (Gamma) */
    int32_t base_offset; /* (OffsetSDR) */
    int32_t offset;      /* (OffsetHDR) */
};

struct gainmap_numbers {
    uint8_t channels;      /* 1: one for all; 3: red, green and blue */
    bool other_colours;    /* the gain is for the colours of the map's profile, not the base's */
    int32_t base_headroom; /* log2; up to it the base is shown as it is (HDRCapacityMin) */
    int32_t headroom;      /* log2; from it on the HDR picture is shown in full (HDRCapacityMax) */
    struct gainmap_channel channel[GAINMAP_CHANNELS]; /* all three are set */
};

/* Rounds to millionths. False: it is no number, or over GAINMAP_MOST. */
bool gainmap_number(double value, int32_t *number);

/* Whether a picture can be made with these: gammas above 0, no maximum below its minimum, and a headroom
 * above that of the base, which is not HDR itself. */
bool gainmap_numbers_fit(const struct gainmap_numbers *numbers);

/* Whether all three channels have the same, so that one number says it. */
bool gainmap_numbers_are_grey(const struct gainmap_numbers *numbers);

/* The sample, 0 to 255, that changes the base's channel least: that of the gain nearest to 1. */
uint8_t gainmap_neutral(const struct gainmap_channel *channel);

#endif
