/* SPDX-License-Identifier: MIT */
#include "server/batch/tar/tar_number.h"

#include <inttypes.h>
#include <stdio.h>

enum { NS_OF_SECOND = 1000000000, NS_DIGITS = 9 };

static bool read_octal(const uint8_t *field, size_t size, int64_t *value) {
    size_t at = 0;
    int64_t sum = 0;
    while (at < size && field[at] == ' ') {
        at++;
    }
    for (; at < size && field[at] >= '0' && field[at] <= '7'; at++) {
        sum = sum * 8 + (field[at] - '0'); /* 12 digits are 36 bits */
    }
    *value = sum;
    return at == size || field[at] == ' ' || field[at] == '\0';
}

/* The first bit says that it is base 256, the second is the sign. */
static bool read_base256(const uint8_t *field, size_t size, int64_t *value) {
    bool negative = field[0] & 0x40;
    uint64_t sign = negative ? 0xFF : 0, bits = negative ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t byte = i > 0 ? field[i] : (field[0] & 0x3Fu) | (sign & 0xC0u);
        if (bits >> 56 != sign) {
            return false;
        }
        bits = bits << 8 | byte;
    }
    *value = (int64_t)bits;
    return (*value < 0) == negative && *value != INT64_MIN; /* whose amount has no int64_t */
}

bool tar_number_read(const uint8_t *field, size_t size, int64_t *value) {
    return field[0] & 0x80 ? read_base256(field, size, value) : read_octal(field, size, value);
}

bool tar_number_write(uint8_t *field, size_t size, uint64_t value) {
    bool fits = value >> 3 * (size - 1) == 0;
    field[size - 1] = '\0';
    for (size_t i = size - 1; i-- > 0; value >>= 3) {
        field[i] = (uint8_t)(fits ? '0' + (value & 7) : '0');
    }
    return fits;
}

void tar_number_write_any(uint8_t *field, size_t size, uint32_t value) {
    if (!tar_number_write(field, size, value)) {
        memset(field, 0, size);
        field[0] = 0x80;
        bytes_put_be32(field + size - 4, value);
    }
}

bool tar_number_decimal(struct bytes text, uint64_t *value) {
    uint64_t sum = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = text.data[i] - (unsigned)'0';
        if (digit > 9 || sum > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return text.size > 0;
}

/* The nanoseconds of the digits after a point. */
static bool read_fraction(struct bytes text, uint32_t *nanoseconds) {
    *nanoseconds = 0;
    for (size_t i = 0; i < text.size || i < NS_DIGITS; i++) {
        unsigned digit = i < text.size ? text.data[i] - (unsigned)'0' : 0;
        if (digit > 9) {
            return false;
        }
        *nanoseconds = i < NS_DIGITS ? *nanoseconds * 10 + digit : *nanoseconds;
    }
    return true;
}

bool tar_number_time(struct bytes text, int64_t *seconds, uint32_t *nanoseconds) {
    bool negative = text.size > 0 && text.data[0] == '-';
    text = (struct bytes){text.data + negative, text.size - negative};
    const uint8_t *point = text.size > 0 ? memchr(text.data, '.', text.size) : NULL;
    size_t whole = point ? (size_t)(point - text.data) : text.size;
    struct bytes fraction = {point ? point + 1 : NULL, point ? text.size - whole - 1 : 0};
    uint64_t value = 0;
    if (!read_fraction(fraction, nanoseconds) ||
        !tar_number_decimal((struct bytes){text.data, whole}, &value)) {
        return false;
    }
    *seconds = negative ? -(int64_t)value : (int64_t)value;
    if (negative && *nanoseconds > 0) { /* -1.25 is 0.75 after -2 */
        *seconds -= 1;
        *nanoseconds = NS_OF_SECOND - *nanoseconds;
    }
    return true;
}

void tar_number_print_time(char out[TAR_NUMBER_TIME_SIZE], int64_t seconds, uint32_t nanoseconds) {
    if (nanoseconds == 0) {
        snprintf(out, TAR_NUMBER_TIME_SIZE, "%" PRId64, seconds);
    } else if (seconds >= 0) {
        snprintf(out, TAR_NUMBER_TIME_SIZE, "%" PRId64 ".%09" PRIu32, seconds, nanoseconds);
    } else { /* -2 and 0.75 are -1.25 */
        snprintf(out, TAR_NUMBER_TIME_SIZE, "-%" PRId64 ".%09" PRIu32, -(seconds + 1),
                 NS_OF_SECOND - nanoseconds);
    }
}
