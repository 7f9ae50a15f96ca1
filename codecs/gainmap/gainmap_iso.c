/* SPDX-License-Identifier: MIT */
#include "codecs/gainmap/gainmap_iso.h"

#include <string.h>

enum {
    MULTICHANNEL = 0x80,
    BASE_COLOURS = 0x40,
    COMMON = 0x08,   /* libultrahdr: one denominator for all */
    BACKWARD = 0x04, /* libultrahdr: the base is the HDR picture */
};

bool gainmap_iso_is(struct bytes data) {
    return data.size >= sizeof GAINMAP_ISO_NAME &&
           memcmp(data.data, GAINMAP_ISO_NAME, sizeof GAINMAP_ISO_NAME) == 0;
}

struct reader {
    struct bytes rest;
    bool damaged;
    uint32_t common; /* the denominator of all numbers; 0: each has its own */
};

static uint32_t take(struct reader *reader, unsigned size) {
    uint32_t value = 0;
    if (reader->rest.size < size) {
        reader->damaged = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) {
        value = value << 8 | reader->rest.data[i];
    }
    reader->rest.data += size;
    reader->rest.size -= size;
    return value;
}

static int32_t divide(struct reader *reader, double numerator) {
    uint32_t denominator = reader->common ? reader->common : take(reader, 4);
    int32_t number = 0;
    reader->damaged =
        reader->damaged || denominator == 0 || !gainmap_number(numerator / denominator, &number);
    return number;
}

static int32_t take_unsigned(struct reader *reader) {
    return divide(reader, take(reader, 4));
}

static int32_t take_signed(struct reader *reader) {
    return divide(reader, (int32_t)take(reader, 4));
}

static void take_channel(struct reader *reader, struct gainmap_channel *channel) {
    channel->min = take_signed(reader);
    channel->max = take_signed(reader);
    channel->gamma = take_unsigned(reader);
    channel->base_offset = take_signed(reader);
    channel->offset = take_signed(reader);
}

bool gainmap_iso_read(struct bytes data, struct gainmap_numbers *numbers) {
    struct reader reader = {.rest = data};
    uint32_t least = take(&reader, 2);
    take(&reader, 2); /* the writer's version, which may be later */
    uint32_t flags = take(&reader, 1);
    if (reader.damaged || least > 0 || flags & BACKWARD) {
        return false;
    }
    if (flags & COMMON) {
        reader.common = take(&reader, 4);
        reader.damaged = reader.damaged || reader.common == 0;
    }
    *numbers = (struct gainmap_numbers){.channels = flags & MULTICHANNEL ? GAINMAP_CHANNELS : 1,
                                        .other_colours = !(flags & BASE_COLOURS)};
    numbers->base_headroom = take_unsigned(&reader);
    numbers->headroom = take_unsigned(&reader);
    for (unsigned i = 0; i < numbers->channels; i++) {
        take_channel(&reader, &numbers->channel[i]);
    }
    for (unsigned i = numbers->channels; i < GAINMAP_CHANNELS; i++) {
        numbers->channel[i] = numbers->channel[0];
    }
    return !reader.damaged && gainmap_numbers_fit(numbers);
}

static uint8_t *put(uint8_t *to, int32_t number) {
    bytes_put_be32(to, (uint32_t)number);
    bytes_put_be32(to + 4, GAINMAP_ONE);
    return to + 8;
}

size_t gainmap_iso_write(const struct gainmap_numbers *numbers, uint8_t bytes[static GAINMAP_ISO_MAX]) {
    uint8_t *to = bytes + GAINMAP_ISO_VERSIONS + 1;
    memset(bytes, 0, GAINMAP_ISO_VERSIONS);
    bytes[GAINMAP_ISO_VERSIONS] =
        (uint8_t)((numbers->channels > 1 ? MULTICHANNEL : 0) | (numbers->other_colours ? 0 : BASE_COLOURS));
    to = put(put(to, numbers->base_headroom), numbers->headroom);
    for (unsigned i = 0; i < numbers->channels; i++) {
        const struct gainmap_channel *channel = &numbers->channel[i];
        to = put(put(put(to, channel->min), channel->max), channel->gamma);
        to = put(put(to, channel->base_offset), channel->offset);
    }
    return (size_t)(to - bytes);
}
