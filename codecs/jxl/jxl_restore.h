/* SPDX-License-Identifier: MIT
 * JPEGs that were repacked as JPEG XL: a box `jbrd` has what is not in the codestream, and both make the JPEG
 * again, byte for byte. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_RESTORE_H
#define BLURD_CODECS_JXL_JXL_RESTORE_H

#include "codecs/definition.h"

/* Whether the file says that it holds a JPEG. */
bool jxl_restore_possible(struct bytes input);

/* Appends the JPEG to *jpeg, an initialised buffer. ST_CORRUPT when it cannot be made, ST_LIMIT over the
 * buffer's maximum, ST_BUSY without memory. */
enum status jxl_restore(struct bytes input, struct buf *jpeg, struct error *err);

#endif
