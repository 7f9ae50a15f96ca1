/* SPDX-License-Identifier: MIT
 * The interface of every fuzz target. A target is one file of this folder's parent with
 * LLVMFuzzerTestOneInput; it is built twice:
 *
 *     CONFIG=fuzz or afl      with the engine, which looks for inputs (tests/fuzz/run.sh)
 *     any other CONFIG        with replay.c, which runs the files and folders that it is given:
 *                             tests/fuzz/regressions/<target>/ in every `make test`
 *
 * A target promises more than not to crash: it states its conditions with fuzz_require. */
#ifndef BLURD_TESTS_FUZZ_H
#define BLURD_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/codec.h"
#include "core/bytes.h"
#include "core/image.h"

/* Tries one input; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Optional: called once before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Ends the process with the sentence when `true_thing` is false. */
void fuzz_require(bool true_thing, const char *sentence);

/* Takes numbers from the front of *input, 0 when it is empty; and from its end. */
uint8_t fuzz_byte(struct bytes *input);
uint16_t fuzz_short(struct bytes *input);
uint8_t fuzz_last_byte(struct bytes *input);

/* Takes the front of *input up to `separator`, which is skipped; all of it when there is none. */
struct bytes fuzz_until(struct bytes *input, uint8_t separator);

/* The bytes as a zero-terminated text, cut at the first zero byte; to be freed. */
char *fuzz_text(struct bytes input);

/* Limits that keep one input below a few milliseconds. */
struct codec_limits fuzz_limits(void);

/* A picture of that shape whose memory, padding included, holds `fill`; to be freed. */
struct image fuzz_image(const struct image_shape *shape, uint8_t fill);
void fuzz_image_free(struct image *image);

/* Whether the pixels that count are the same. */
bool fuzz_same_pixels(const struct image *a, const struct image *b);

/* A picture of noise that is the same every time. */
void fuzz_paint(const struct image *image, uint32_t seed);

#endif
