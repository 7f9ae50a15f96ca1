/* SPDX-License-Identifier: MIT */
#include "codecs/versions.h"

#include <stdio.h>

#include <jpeglib.h>
#include <libdeflate.h>
#include <png.h>
#include <zlib.h>

#define TEXT_OF(value) #value
#define TEXT(macro) TEXT_OF(macro)

const char *versions_of_codecs(void) {
    return "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION) ", libpng " PNG_LIBPNG_VER_STRING
                                                        ", zlib " ZLIB_VERSION
                                                        ", libdeflate " LIBDEFLATE_VERSION_STRING;
}
