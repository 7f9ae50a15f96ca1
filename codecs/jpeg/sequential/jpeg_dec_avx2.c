/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("bmi,bmi2") /* in addition to the flags of the build; core/processor.c checks for it */
#endif
#define LEVEL jpeg_dec_level_avx2
#define LEVEL_NAME "avx2"
#include "codecs/jpeg/sequential/lanes_avx2.h"
/* each needs what precedes it */
#include "codecs/jpeg/sequential/lanes_natural.h"
/* the loads */
#include "codecs/jpeg/sequential/jpeg_dec_transform_lanes.h"
/* transform() */
#include "codecs/jpeg/sequential/jpeg_dec_mcus.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
