/* SPDX-License-Identifier: MIT
 * Names of formats that are not supported, so that a refusal can say what was sent. */
#ifndef BLURD_CODECS_FOREIGN_H
#define BLURD_CODECS_FOREIGN_H

#include "core/bytes.h"

/* "a GIF picture", "a PDF document" ...: what `input` looks like by its first bytes,
 * or NULL when nothing is recognised. Meant for sentences, not for decisions. */
const char *foreign_name(struct bytes input);

#endif
