/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)
#define LEVEL jpeg_dec_level_neon
#define LEVEL_NAME "neon"
#include "codecs/jpeg/sequential/lanes_neon.h"
/* each needs what precedes it */
#include "codecs/jpeg/sequential/lanes_natural.h"
/* the loads */
#include "codecs/jpeg/sequential/jpeg_dec_transform_lanes.h"
/* transform() */
#include "codecs/jpeg/sequential/jpeg_dec_mcus.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
