/* SPDX-License-Identifier: MIT
 * Without vector instructions, for other processors and for comparison in tests. */
#define LEVEL jpeg_enc_level_plain
#define LEVEL_NAME "plain"
#include "codecs/jpeg/baseline/jpeg_enc_transform_plain.h"
/* this needs the function above */
#include "codecs/jpeg/baseline/jpeg_enc_find.h"
/* find_tokens() */
#include "codecs/jpeg/baseline/jpeg_enc_write.h"
