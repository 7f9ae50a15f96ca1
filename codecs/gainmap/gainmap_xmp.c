/* SPDX-License-Identifier: MIT
 * Properties are found by name alone, wherever they stand: a packet of a map describes nothing else. */
#include "codecs/gainmap/gainmap_xmp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/xml.h"
#include "codecs/metadata/xmp.h"

#define ANDROID_SPACE "http://ns.adobe.com/hdr-gain-map/1.0/"
#define APPLE_SPACE "http://ns.apple.com/HDRGainMap/1.0/"
#define APPLE_NAME "urn:com:apple:photo:2020:aux:hdrgainmap"

enum {
    PREFIXES_MAX = 8,
    NUMBER_MAX = 40, /* characters of a number */
};

enum property {
    VERSION,
    BASE_IS_HDR,
    GAIN_MIN,
    GAIN_MAX,
    GAMMA,
    OFFSET_SDR,
    OFFSET_HDR,
    CAPACITY_MIN,
    CAPACITY_MAX,
    NUMBERS, /* how many belong to Android's maps */
    APPLE_HEADROOM = NUMBERS,
    PROPERTIES,
};

/* Whether it is needed, or else what holds without it. */
static const struct {
    const char *name;
    bool needed;
    double usual;
} properties[PROPERTIES] = {
    [VERSION] = {"Version", true, 1},
    [BASE_IS_HDR] = {"BaseRenditionIsHDR", false, 0},
    [GAIN_MIN] = {"GainMapMin", false, 0},
    [GAIN_MAX] = {"GainMapMax", true, 0},
    [GAMMA] = {"Gamma", false, 1},
    [OFFSET_SDR] = {"OffsetSDR", false, 1 / 64.0},
    [OFFSET_HDR] = {"OffsetHDR", false, 1 / 64.0},
    [CAPACITY_MIN] = {"HDRCapacityMin", false, 0},
    [CAPACITY_MAX] = {"HDRCapacityMax", true, 0},
    [APPLE_HEADROOM] = {"HDRGainMapHeadroom", false, 1}, /* a factor, no logarithm */
};

struct prefix {
    struct bytes name;
    bool apple; /* bound to the namespace of Apple's maps, not to that of Android's */
};

struct packet {
    struct prefix prefix[PREFIXES_MAX];
    unsigned prefixes;
    unsigned inside; /* the property whose element is open; PROPERTIES: none */
    struct bytes element;
    uint8_t count[PROPERTIES];
    double value[PROPERTIES][GAINMAP_CHANNELS];
    bool apple, damaged;
};

static bool holds(struct bytes text, const char *word) {
    return text.size > 0 && memmem(text.data, text.size, word, strlen(word)) != NULL;
}

bool gainmap_xmp_announces(struct bytes packet) {
    return packet.size <= XMP_INPUT_MAX && (holds(packet, ANDROID_SPACE) || holds(packet, APPLE_SPACE));
}

static struct bytes trim(struct bytes text) {
    while (text.size > 0 && text.data[0] <= ' ') {
        text.data++, text.size--;
    }
    while (text.size > 0 && text.data[text.size - 1] <= ' ') {
        text.size--;
    }
    return text;
}

/* A decimal number, perhaps with an exponent. The daemon keeps the locale "C", whose point it has. */
static bool read_number(struct bytes text, double *value) {
    char copy[NUMBER_MAX + 1];
    char *end;
    if (text.size == 0 || text.size > NUMBER_MAX) {
        return false;
    }
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *value = strtod(copy, &end);
    return strspn(copy, "+-.0123456789eE") == text.size && end == copy + text.size;
}

static void add_value(struct packet *packet, unsigned property, struct bytes untrimmed) {
    struct bytes text = trim(untrimmed);
    double value = 0;
    bool truth = property == BASE_IS_HDR;
    bool read =
        truth ? plain_text_is(text, "True") || plain_text_is(text, "False") : read_number(text, &value);
    if (!read || packet->count[property] == GAINMAP_CHANNELS) {
        packet->damaged = true;
        return;
    }
    packet->value[property][packet->count[property]++] = truth ? plain_text_is(text, "True") : value;
}

static bool split(struct bytes name, struct bytes *prefix, struct bytes *local) {
    const uint8_t *colon = name.size > 0 ? memchr(name.data, ':', name.size) : NULL;
    size_t size = colon ? (size_t)(colon - name.data) : 0;
    *prefix = (struct bytes){name.data, size};
    *local = colon ? (struct bytes){colon + 1, name.size - size - 1} : name;
    return colon != NULL;
}

static void bind(struct packet *packet, const struct xml_attribute *attribute) {
    struct bytes prefix, local;
    if (!split(attribute->name, &prefix, &local) || !plain_text_is(prefix, "xmlns")) {
        return;
    }
    bool apple = plain_text_is(attribute->value, APPLE_SPACE);
    if (apple || plain_text_is(attribute->value, ANDROID_SPACE)) {
        packet->damaged = packet->damaged || packet->prefixes == PREFIXES_MAX;
        if (packet->prefixes < PREFIXES_MAX) {
            packet->prefix[packet->prefixes++] = (struct prefix){local, apple};
        }
    }
}

/* The property of that name; PROPERTIES for any other name. */
static unsigned find(const struct packet *packet, struct bytes name) {
    struct bytes prefix, local;
    bool android = false, apple = false;
    unsigned found = PROPERTIES;
    split(name, &prefix, &local);
    for (unsigned i = 0; i < packet->prefixes; i++) {
        bool bound = plain_text_same(packet->prefix[i].name, prefix);
        apple = apple || (bound && packet->prefix[i].apple);
        android = android || (bound && !packet->prefix[i].apple);
    }
    for (unsigned i = 0; i < PROPERTIES; i++) {
        bool here = i < NUMBERS ? android : apple;
        found = here && plain_text_is(local, properties[i].name) ? i : found;
    }
    return found;
}

/* False when the attributes are not well-formed. */
static bool each_attribute(struct packet *packet, struct bytes attributes,
                           void (*call)(struct packet *packet, const struct xml_attribute *attribute)) {
    struct xml_attribute attribute;
    enum xml_kind kind;
    while ((kind = xml_next_attribute(&attributes, &attribute)) == XML_TEXT) {
        call(packet, &attribute);
    }
    return kind == XML_DONE;
}

static void take_attribute(struct packet *packet, const struct xml_attribute *attribute) {
    unsigned property = find(packet, attribute->name);
    if (property < PROPERTIES) {
        add_value(packet, property, attribute->value);
    }
    packet->apple = packet->apple || plain_text_is(attribute->value, APPLE_NAME);
}

static void start(struct packet *packet, const struct xml_token *token) {
    bool whole = each_attribute(packet, token->attributes, bind) &&
                 each_attribute(packet, token->attributes, take_attribute);
    unsigned property = find(packet, token->name);
    packet->damaged = packet->damaged || !whole;
    if (property < PROPERTIES && !token->empty) {
        packet->inside = property;
        packet->element = token->name;
    }
}

/* Takes one token; false at the end. */
static bool step(struct packet *packet, struct bytes *rest) {
    const struct xml_token token = xml_next(rest);
    switch (token.kind) {
    case XML_START:
        start(packet, &token);
        break;
    case XML_END:
        packet->inside = plain_text_same(token.name, packet->element) ? PROPERTIES : packet->inside;
        break;
    case XML_TEXT:
        if (packet->inside < PROPERTIES && !xml_is_space(token.text)) {
            add_value(packet, packet->inside, token.text);
        }
        packet->apple = packet->apple || plain_text_is(trim(token.text), APPLE_NAME);
        break;
    case XML_ERROR:
        packet->damaged = true;
        return false;
    case XML_DONE:
        return false;
    }
    return true;
}

static bool set_number(const struct packet *packet, unsigned property, unsigned channel, int32_t *number) {
    const double *values = packet->value[property];
    unsigned count = packet->count[property];
    double value = count == 0 ? properties[property].usual : values[count == 1 ? 0 : channel];
    return (count > 0 || !properties[property].needed) && count != 2 && gainmap_number(value, number);
}

/* False when a number is missing or too large. Version and the headrooms have one. */
static bool set_numbers(const struct packet *packet, struct gainmap_numbers *numbers) {
    int32_t version;
    *numbers = (struct gainmap_numbers){.channels = 1};
    bool fits = set_number(packet, VERSION, 0, &version) && version == GAINMAP_ONE &&
                set_number(packet, CAPACITY_MIN, 0, &numbers->base_headroom) &&
                set_number(packet, CAPACITY_MAX, 0, &numbers->headroom) && packet->count[CAPACITY_MIN] <= 1 &&
                packet->count[CAPACITY_MAX] <= 1 && packet->count[BASE_IS_HDR] <= 1 &&
                packet->value[BASE_IS_HDR][0] == 0;
    for (unsigned i = 0; i < GAINMAP_CHANNELS && fits; i++) {
        struct gainmap_channel *channel = &numbers->channel[i];
        fits = set_number(packet, GAIN_MIN, i, &channel->min) &&
               set_number(packet, GAIN_MAX, i, &channel->max) &&
               set_number(packet, GAMMA, i, &channel->gamma) &&
               set_number(packet, OFFSET_SDR, i, &channel->base_offset) &&
               set_number(packet, OFFSET_HDR, i, &channel->offset);
    }
    numbers->channels = fits && !gainmap_numbers_are_grey(numbers) ? GAINMAP_CHANNELS : 1;
    return fits && gainmap_numbers_fit(numbers);
}

/* A headroom below 1 is no picture's. */
static enum gainmap_packet read_apple(const struct packet *packet, double *stops) {
    unsigned count = packet->count[APPLE_HEADROOM];
    double factor = count > 0 ? packet->value[APPLE_HEADROOM][0] : 1;
    *stops = factor > 1 ? log2(factor) : 0;
    return packet->damaged || count > 1 ? GAINMAP_PACKET_DAMAGED : GAINMAP_PACKET_APPLE;
}

enum gainmap_packet gainmap_xmp_read(struct bytes input, struct gainmap_numbers *numbers, double *stops) {
    struct packet packet = {.inside = PROPERTIES};
    unsigned found = 0;
    if (input.size == 0 || input.size > XMP_INPUT_MAX) {
        return GAINMAP_PACKET_NONE;
    }
    while (step(&packet, &input)) {
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        found += packet.count[i];
    }
    if (found == 0) {
        return packet.apple ? read_apple(&packet, stops) : GAINMAP_PACKET_NONE;
    }
    return !packet.damaged && set_numbers(&packet, numbers) ? GAINMAP_PACKET_NUMBERS : GAINMAP_PACKET_DAMAGED;
}
