/* SPDX-License-Identifier: MIT
 * libtiff's functions, found at run time: the program starts without the library. Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_LIBRARY_H
#define BLURD_CODECS_TIFF_TIFF_LIBRARY_H

#include <tiffio.h>

#include "core/status.h"

struct tiff_library {
#define TIFF_FUNCTION(name) __typeof__(name) *name;
#include "codecs/tiff/tiff_library.def"
#undef TIFF_FUNCTION
    /* Of version 4.7 and later; NULL before. Bytes of all memory that libtiff itself holds at a time. */
    void (*limit_memory)(TIFFOpenOptions *options, tmsize_t bytes);
};

/* Opens libtiff once in the life of the process, and never closes it. ST_UNSUPPORTED when the library or one
 * of its functions is missing; they are those of version 4.5. Thread-safe. */
enum status tiff_library_open(const struct tiff_library **library, struct error *err);

#endif
