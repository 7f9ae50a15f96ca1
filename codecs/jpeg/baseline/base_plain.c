/* SPDX-License-Identifier: MIT
 * Without vector instructions, for other processors and for comparison in tests. */
#define LEVEL base_level_plain
#define LEVEL_NAME "plain"
#include "codecs/jpeg/baseline/base_transform_plain.h"
/* this needs the function above */
#include "codecs/jpeg/baseline/base_find.h"
/* find_tokens() */
#include "codecs/jpeg/baseline/base_write.h"
