/* SPDX-License-Identifier: MIT
 * Functions that the targets of the codecs share. */
#ifndef BLURD_TESTS_FUZZ_DECODE_H
#define BLURD_TESTS_FUZZ_DECODE_H

#include "tests/fuzz/common/fuzz.h"

/* Probes, decodes and encodes a file of that codec, each twice over memory that held different
 * bytes: the outcomes must be the same, and the encoded file must be readable. The file's last
 * byte, which all formats ignore, chooses how. */
void fuzz_decode(struct bytes input, enum codec_id id);

#endif
