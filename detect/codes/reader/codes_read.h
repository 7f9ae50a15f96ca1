/* SPDX-License-Identifier: MIT
 * Reads codes with zxing-cpp, and keeps nothing but where they are. The library counts no memory and knows no
 * deadline: it runs in a process of its own (codecs/process/). */
#ifndef BLURD_DETECT_CODES_READER_CODES_READ_H
#define BLURD_DETECT_CODES_READER_CODES_READ_H

#include "core/image.h"
#include "detect/codes/symbols.h"

/* Opens the library once for all calls. ST_UNSUPPORTED without it. One thread at a time. */
enum status codes_read_open(const char *path, struct error *err);

/* Finds codes in a grey picture of 8 bits, dark on light and light on dark, and appends a struct codes_symbol
 * for each; the picture is inverted afterwards. ST_UNSUPPORTED without the library, ST_BUSY without memory,
 * ST_LIMIT with more than CODES_SYMBOLS_MAX. One thread at a time. */
enum status codes_read(const struct image *grey, struct buf *found, struct error *err);

/* Bytes that the library takes for a picture. */
size_t codes_read_memory(uint32_t width, uint32_t height);

#endif
