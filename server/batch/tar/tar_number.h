/* SPDX-License-Identifier: MIT
 * The numbers of tar headers: octal digits or base 256 in fields of a header, decimals in pax records.
 * Thread-safe. */
#ifndef BLURD_SERVER_BATCH_TAR_NUMBER_H
#define BLURD_SERVER_BATCH_TAR_NUMBER_H

#include "core/bytes.h"

/* Reads a field of at most 12 bytes: octal digits after spaces, up to a space, a zero byte or the field's
 * end, none of them being 0; or GNU's base 256, a big-endian two's complement below a set first bit. False
 * for all else and for values that do not fit. */
bool tar_number_read(const uint8_t *field, size_t size, int64_t *value);

/* Fills the field with octal digits and a zero byte; false, with zeros as digits, where they do not fit. */
bool tar_number_write(uint8_t *field, size_t size, uint64_t value);

/* As above, and in base 256 where octal digits do not fit. */
void tar_number_write_any(uint8_t *field, size_t size, uint32_t value);

/* Reads decimal digits up to INT64_MAX. */
bool tar_number_decimal(struct bytes text, uint64_t *value);

/* Reads a time of pax, "-1.25": seconds, rounded down, and nanoseconds after that. Further digits are cut. */
bool tar_number_time(struct bytes text, int64_t *seconds, uint32_t *nanoseconds);

enum { TAR_NUMBER_TIME_SIZE = 32 };

/* The same way back, with the zero; without a fraction where there are no nanoseconds. */
void tar_number_print_time(char out[TAR_NUMBER_TIME_SIZE], int64_t seconds, uint32_t nanoseconds);

#endif
