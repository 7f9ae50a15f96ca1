/* SPDX-License-Identifier: MIT
 * Without vector instructions, for other processors and for comparison in tests. */
#define LEVEL jpeg_dec_level_plain
#define LEVEL_NAME "plain"
#include "codecs/jpeg/sequential/jpeg_dec_transform_plain.h"
/* this needs the function above */
#include "codecs/jpeg/sequential/jpeg_dec_mcus.h"
