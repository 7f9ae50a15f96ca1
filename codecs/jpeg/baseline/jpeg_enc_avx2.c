/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("bmi,bmi2") /* in addition to the flags of the build; core/processor.c checks for it      \
                                */
#endif
#define LEVEL jpeg_enc_level_avx2
#define LEVEL_NAME "avx2"
#include "codecs/jpeg/baseline/jpeg_enc_lanes_avx2.h"
/* each needs what precedes it */
#include "codecs/jpeg/baseline/jpeg_enc_transform_lanes.h"
/* transform() */
#include "codecs/jpeg/baseline/jpeg_enc_find.h"
/* find_tokens() */
#include "codecs/jpeg/baseline/jpeg_enc_write.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
