/* SPDX-License-Identifier: MIT
 * libjxl, opened at run time as a struct of function pointers with the types of its header. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_LIBRARY_H
#define BLURD_CODECS_JXL_JXL_LIBRARY_H

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

#include "core/bytes.h"
#include "core/status.h"

struct jxl_library {
#define JXL_FUNCTION(name) __typeof__(name) *name;
#include "codecs/jxl/jxl_library.def"
#undef JXL_FUNCTION
};

/* Version 0.9 took a parameter away that no version uses, a pixel format, which is NULL here. */
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define JXL_NO_FORMAT NULL,
#else
#define JXL_NO_FORMAT
#endif

/* The open library, which is never closed; NULL, with ST_UNSUPPORTED in *err, when it or one of its functions
 * is missing. Thread-safe. */
const struct jxl_library *jxl_library_open(struct error *err);

/* Closes the input of an encoder and appends the file to *output. ST_LIMIT over the buffer's maximum, ST_BUSY
 * without memory; else the library's own answer is in *result. */
enum status jxl_library_write(const struct jxl_library *jxl, JxlEncoder *encoder, struct buf *output,
                              JxlEncoderStatus *result, struct error *err);

#endif
