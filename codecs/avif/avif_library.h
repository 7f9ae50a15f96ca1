/* SPDX-License-Identifier: MIT
 * libavif, opened at run time as a struct of function pointers with the types of its header. The library
 * allocates all its structs itself, except avifRGBImage, whose defaults it fills in. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_LIBRARY_H
#define BLURD_CODECS_AVIF_AVIF_LIBRARY_H

#include <avif/avif.h>

#include "core/status.h"

struct avif_library {
#define AVIF_FUNCTION(name) __typeof__(name) *name;
#include "codecs/avif/avif_library.def"
#undef AVIF_FUNCTION
};

/* The library, which is opened by the first call and never closed. ST_UNSUPPORTED when it or one of its
 * functions is missing. Thread-safe. */
enum status avif_library_open(const struct avif_library **library, struct error *err);

/* Records a failure of the library: *err gets its name for `result`, and `details` unless that is empty or
 * NULL. ST_UNSUPPORTED for features that it lacks, ST_BUSY without memory, else `otherwise`. */
enum status avif_library_fail(const struct avif_library *library, avifResult result, const char *details,
                              enum status otherwise, struct error *err);

#endif
