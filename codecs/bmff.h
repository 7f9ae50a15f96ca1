/* SPDX-License-Identifier: MIT
 * The beginning of files in the ISO base media file format (ISO/IEC 14496-12), of which AVIF and HEIC are.
 * Internal to codecs/. */
#ifndef BLURD_CODECS_BMFF_H
#define BLURD_CODECS_BMFF_H

#include <stdbool.h>

#include "core/bytes.h"

/* Whether the file begins with a box `ftyp` that lists the brand of four letters, as major or compatible. */
bool bmff_has_brand(struct bytes input, const char brand[static 4]);

#endif
