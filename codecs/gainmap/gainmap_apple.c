/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_apple.h"

#include <math.h>
#include <string.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/tiff.h"

/* With its final zero, this begins the maker note. Two bytes of a version and the byte order follow, then the
 * directory, whose offsets count from the beginning of the note. */
#define NOTE_NAME "Apple iOS"

enum { ORDER_AT = sizeof NOTE_NAME + 2, DIRECTORY_AT = ORDER_AT + 2, TAG_HEADROOM = 33, TAG_GAIN = 48 };

static bool find_ratio(const struct tiff *note, uint16_t tag, double *value) {
    struct tiff_entry entry;
    if (!tiff_find(note, DIRECTORY_AT, tag, &entry) || entry.count != 1 ||
        (entry.type != TIFF_SIGNED_RATIO && entry.type != TIFF_RATIO)) {
        return false;
    }
    struct bytes ratio = tiff_value(note, &entry);
    if (ratio.size == 0) {
        return false;
    }
    uint32_t above = tiff_get32(note, ratio.data), below = tiff_get32(note, ratio.data + 4);
    bool is_signed = entry.type == TIFF_SIGNED_RATIO;
    *value = (is_signed ? (double)(int32_t)above : above) / (is_signed ? (double)(int32_t)below : below);
    return below != 0;
}

bool gainmap_apple_stops(struct bytes exif, double *stops) {
    struct tiff note = {.bytes = exif_maker_note(exif)};
    double a, b;
    if (note.bytes.size < DIRECTORY_AT || memcmp(note.bytes.data, NOTE_NAME, sizeof NOTE_NAME) != 0) {
        return false;
    }
    note.little = note.bytes.data[ORDER_AT] == 'I';
    if (!find_ratio(&note, TAG_HEADROOM, &a) || !find_ratio(&note, TAG_GAIN, &b)) {
        return false;
    }
    bool low = b <= 0.01;
    *stops = a < 1 ? (low ? 1.8 - 20 * b : 1.601 - 0.101 * b) : (low ? 3 - 70 * b : 2.303 - 0.303 * b);
    *stops = fmax(*stops, 0);
    return true;
}

bool gainmap_apple_numbers(double stops, struct gainmap_numbers *numbers) {
    *numbers = (struct gainmap_numbers){.channels = 1};
    bool fits = gainmap_number(stops, &numbers->headroom);
    for (unsigned i = 0; i < GAINMAP_CHANNELS; i++) {
        numbers->channel[i] = (struct gainmap_channel){.max = numbers->headroom, .gamma = GAINMAP_ONE};
    }
    return fits && gainmap_numbers_fit(numbers);
}

bool gainmap_apple_read(double stops, struct bytes exif, struct gainmap_numbers *numbers) {
    bool known = stops > 0 || gainmap_apple_stops(exif, &stops);
    return known && gainmap_apple_numbers(stops, numbers);
}

/* The light of a coded sample (ITU-R BT.709, item 1.2, inverted). */
static double light_of(double sample) {
    return sample < 4.5 * 0.018 ? sample / 4.5 : pow((sample + 0.099) / 1.099, 1 / 0.45);
}

void gainmap_apple_levels(const struct gainmap_numbers *numbers, uint8_t level[static GAINMAP_LEVELS]) {
    const double stops = (double)numbers->headroom / GAINMAP_ONE;
    for (unsigned i = 0; i < GAINMAP_LEVELS; i++) {
        double gain = log2(1 + (exp2(stops) - 1) * light_of(i / 255.0));
        level[i] = (uint8_t)lrint(255 * fmin(gain / stops, 1));
    }
}
