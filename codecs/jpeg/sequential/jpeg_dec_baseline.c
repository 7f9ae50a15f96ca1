/* SPDX-License-Identifier: MIT
 * SSE2, which every x86-64 has, or plain C. */
#define LEVEL jpeg_dec_level_baseline
#define LEVEL_NAME "baseline"
#if defined(__SSE2__)
#include "codecs/jpeg/sequential/lanes_sse2.h"
/* each needs what precedes it */
#include "codecs/jpeg/sequential/lanes_natural.h"
/* the loads */
#include "codecs/jpeg/sequential/jpeg_dec_transform_lanes.h"
#else
#include "codecs/jpeg/sequential/jpeg_dec_transform_plain.h"
#endif
/* this needs transform() */
#include "codecs/jpeg/sequential/jpeg_dec_mcus.h"
