/* SPDX-License-Identifier: MIT
 * The formats that this build reads and writes, for people and programs. */
#ifndef BLURD_SERVER_PAGES_FORMATS_H
#define BLURD_SERVER_PAGES_FORMATS_H

#include "codecs/codec.h"

enum {
    FORMATS_TEXT_MAX = 2 * CODEC_TITLES_MAX + 16,
    FORMATS_NAMES_MAX = 16 * CODEC_COUNT,
    FORMATS_JSON_MAX = 2 * FORMATS_NAMES_MAX + 24,
    FORMATS_VERSION_MAX = FORMATS_TEXT_MAX + 480,
};

/* Writes "reads JPEG, PNG and HEIC; writes JPEG and PNG". */
void formats_text(char text[static FORMATS_TEXT_MAX]);

/* Writes ["jpeg","png"]: the names of those for which `has` is true. */
void formats_names(bool (*has)(enum codec_id id), char text[static FORMATS_NAMES_MAX]);

/* Writes {"reads":["jpeg","png","heic"],"writes":["jpeg","png"]}. */
void formats_json(char text[static FORMATS_JSON_MAX]);

/* Writes the answer to --version: the program, the GPUs that it supports, its formats, and the model that
 * finds faces. */
void formats_version(char text[static FORMATS_VERSION_MAX]);

#endif
