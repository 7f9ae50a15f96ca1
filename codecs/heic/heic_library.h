/* SPDX-License-Identifier: MIT
 * libheif's functions, found at run time: the program starts without the library. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_LIBRARY_H
#define BLURD_CODECS_HEIC_HEIC_LIBRARY_H

#include <libheif/heif.h>

#include "core/status.h"

struct heic_library {
#define HEIF_FUNCTION(name) __typeof__(name) *name;
#include "codecs/heic/heic_library.def"
#undef HEIF_FUNCTION
};

/* Opens libheif and its plug-ins once in the life of the process, and never closes them. ST_UNSUPPORTED when
 * the library, one of its functions or a decoder of HEVC is missing. Thread-safe. */
enum status heic_library_open(const struct heic_library **library, struct error *err);

#endif
