/* SPDX-License-Identifier: MIT
 * SSE2, which every x86-64 has, or plain C. */
#define LEVEL jpeg_enc_level_baseline
#define LEVEL_NAME "baseline"
#if defined(__SSE2__)
#include "codecs/jpeg/baseline/jpeg_enc_lanes_sse2.h"
/* each needs what precedes it */
#include "codecs/jpeg/baseline/jpeg_enc_transform_lanes.h"
#else
#include "codecs/jpeg/baseline/jpeg_enc_transform_plain.h"
#endif
/* this needs transform() */
#include "codecs/jpeg/baseline/jpeg_enc_find.h"
/* find_tokens() */
#include "codecs/jpeg/baseline/jpeg_enc_write.h"
