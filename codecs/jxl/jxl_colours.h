/* SPDX-License-Identifier: MIT
 * The colours of the pixels that libjxl writes. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_COLOURS_H
#define BLURD_CODECS_JXL_JXL_COLOURS_H

#include "codecs/definition.h"
#include "codecs/jxl/jxl_library.h"

enum { JXL_CODE_SIZE = 4 };

/* Where they come from. */
struct jxl_source {
    const struct jxl_library *library;
    JxlDecoder *decoder; /* at or behind the event JXL_DEC_COLOR_ENCODING */
    const JxlBasicInfo *info;
};

/* Chooses them: those of the file, where libjxl can write them. A file with losses and an ICC profile that
 * libjxl cannot express would come as linear sRGB, too coarse for 8 bits: it comes as Display P3, grey with
 * the curve of sRGB. To be called at the event. */
enum status jxl_colours_choose(const struct jxl_source *source, struct error *err);

/* What says them: a chunk cICP in `code`, or an ICC profile of *icc bytes; neither for sRGB. */
enum jxl_colours { JXL_COLOURS_SRGB, JXL_COLOURS_CODE, JXL_COLOURS_ICC };
enum jxl_colours jxl_colours_read(const struct jxl_source *source, uint8_t code[static JXL_CODE_SIZE],
                                  size_t *icc);

/* The body of the chunk cICP, of JXL_CODE_SIZE bytes; NULL without one. `metadata` may be NULL. */
const uint8_t *jxl_colours_code(const struct metadata *metadata);

/* The words of libjxl for a code; those of sRGB for NULL. False when it has none. */
bool jxl_colours_encoding(const uint8_t *code, bool gray, JxlColorEncoding *encoding);

#endif
