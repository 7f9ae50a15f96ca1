/* SPDX-License-Identifier: MIT
 * libwebp is opened when it is first needed, so that the program starts without it. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_LIBRARY_H
#define BLURD_CODECS_WEBP_WEBP_LIBRARY_H

#include <webp/decode.h>
#include <webp/encode.h>

#include "core/status.h"

/* A pointer for each function of webp_library.def, with the type that the library's header gives it. */
struct webp_library {
#define WEBP_FUNCTION(name) __typeof__(name) *name;
#include "codecs/webp/webp_library.def"
#undef WEBP_FUNCTION
};

/* The open library, which is never closed; NULL, with ST_UNSUPPORTED in *err, when it cannot be used.
 * Thread-safe. */
const struct webp_library *webp_library_open(struct error *err);

#endif
