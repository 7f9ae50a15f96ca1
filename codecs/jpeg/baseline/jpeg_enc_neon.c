/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)
#define LEVEL jpeg_enc_level_neon
#define LEVEL_NAME "neon"
#include "codecs/jpeg/baseline/jpeg_enc_lanes_neon.h"
/* each needs what precedes it */
#include "codecs/jpeg/baseline/jpeg_enc_transform_lanes.h"
/* transform() */
#include "codecs/jpeg/baseline/jpeg_enc_find.h"
/* find_tokens() */
#include "codecs/jpeg/baseline/jpeg_enc_write.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
