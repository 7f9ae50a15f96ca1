/* SPDX-License-Identifier: MIT
 * Names of formats that are not supported, so that a refusal can say what was sent. */
#ifndef BLURD_CODECS_OTHER_FORMATS_H
#define BLURD_CODECS_OTHER_FORMATS_H

#include "core/bytes.h"

/* "a GIF picture", "a PDF document" ...: the format that the first bytes of `input` suggest, or NULL. For
 * error messages, not for decisions. */
const char *other_formats_name(struct bytes input);

#endif
