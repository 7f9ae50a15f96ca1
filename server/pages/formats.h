/* SPDX-License-Identifier: MIT
 * The formats that this build reads and writes, and its detectors, for people and programs. */
#ifndef BLURD_SERVER_PAGES_FORMATS_H
#define BLURD_SERVER_PAGES_FORMATS_H

#include "codecs/codec.h"
#include "detect/model.h"

enum {
    FORMATS_TEXT_MAX = 2 * CODEC_TITLES_MAX + 16,
    FORMATS_NAMES_MAX = 16 * CODEC_COUNT,
    FORMATS_JSON_MAX = 2 * FORMATS_NAMES_MAX + 24,
    FORMATS_DETECTORS_MAX = 32 * DETECTORS,
    FORMATS_VERSION_MAX = FORMATS_TEXT_MAX + 512 + DETECTORS * (32 + MODEL_PATH_MAX),
};

/* Writes "reads JPEG, PNG and HEIC; writes JPEG and PNG". */
void formats_text(char text[static FORMATS_TEXT_MAX]);

/* Writes ["jpeg","png"]: the names of those for which `has` is true. */
void formats_names(bool (*has)(enum codec_id id), char text[static FORMATS_NAMES_MAX]);

/* Writes {"reads":["jpeg","png","heic"],"writes":["jpeg","png"]}. */
void formats_json(char text[static FORMATS_JSON_MAX]);

/* Writes "faces":true, with a member for each detector: whether its bit is set. */
void formats_detectors(uint32_t usable, char text[static FORMATS_DETECTORS_MAX]);

/* Writes the answer to --version: the program, the GPUs that it supports, its formats, the models that
 * came with it, and where the project is at home. */
void formats_version(char text[static FORMATS_VERSION_MAX]);

#endif
