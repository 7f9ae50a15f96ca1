/* SPDX-License-Identifier: MIT
 * A decoder for baseline and extended sequential JPEGs of 8 bits, with Huffman coding, to planes. The samples
 * are those of libjpeg-turbo's islow transform on x86. What it does not know, or finds damaged, is left to
 * libjpeg-turbo, whose judgement then holds. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_SEQUENTIAL_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_SEQUENTIAL_H

#include "codecs/definition.h"
#include "codecs/jpeg/sequential/jpeg_dec_header.h"

/* Bytes of heap memory that decoding takes. They do not depend on the picture. */
size_t sequential_bytes(void);

/* Bytes that it takes besides when idle threads of limits->crew help with planes of this shape: they
 * transform blocks while the caller's thread reads the next ones. 0 for a small picture, which gets no help.
 * No thread helps when limits->max_memory is less than both. */
size_t sequential_help_bytes(const struct image_shape *shape);

/* The samples of grey or YCbCr planes: the work that crew_seats (core/crew.h) asks for. */
uint64_t sequential_samples(const struct image_shape *shape);

/* Decodes to an image of grey or YCbCr planes by the instruction set `level`, one of sequential_levels(), a
 * file whose header is read up to its first scan. It must not be progressive.
 * With `strip` the planes have memory for one row of MCUs, which limits->progress takes before the next one
 * overwrites it, so that the samples of earlier ones are gone; no thread helps, and files of several scans
 * are declined. *declined is true when another decoder has to decode the file instead; the first
 * *rows_reported rows, which limits->progress has received, remain valid. ST_LIMIT: the deadline has passed;
 * ST_BUSY: no memory. */
struct jpeg_dec_level;
enum status sequential_decode(const struct jpeg_dec_level *level, const struct jpeg_dec_header *header,
                              const struct codec_limits *limits, const struct image *image, bool strip,
                              bool *declined, uint32_t *rows_reported, struct error *err);

/* The instruction sets that this process may use (core/processor.h), best first; NULL ends them. */
enum { SEQUENTIAL_LEVELS_MAX = 5 };
void sequential_levels(const struct jpeg_dec_level *level[static SEQUENTIAL_LEVELS_MAX + 1]);

#endif
