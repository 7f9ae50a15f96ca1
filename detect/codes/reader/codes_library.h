/* SPDX-License-Identifier: MIT
 * zxing-cpp, in the version that detect/codes/fetch.sh pins. It is opened by its path when it is first
 * needed, and its headers are not: the build goes on without it. Internal to detect/codes/reader/. */
#ifndef BLURD_DETECT_CODES_READER_CODES_LIBRARY_H
#define BLURD_DETECT_CODES_READER_CODES_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { ZXING_GREY = 0x01000000 }; /* a format of pixels */

struct zxing_view;
struct zxing_options;
struct zxing_codes;
struct zxing_code;

/* The corners in the order around the code. */
struct zxing_position {
    struct {
        int x, y;
    } corner[4];
};

struct codes_library {
#define CODES_FUNCTION(result, name, arguments) result(*name) arguments;
#include "detect/codes/reader/codes_library.def"
#undef CODES_FUNCTION
};

/* Opens the library, which is never closed. ST_UNSUPPORTED where it cannot be used. One thread at a time. */
enum status codes_library_open(const char *path, struct codes_library *library, struct error *err);

#endif
