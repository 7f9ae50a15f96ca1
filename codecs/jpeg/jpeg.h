/* SPDX-License-Identifier: MIT
 * Shared by the JPEG files of this folder. libjpeg reports errors by calling a function that must not return;
 * struct jpeg_guard turns that into a status.
 *
 * Each entry point calls setjmp once, in a function that only calls the guarded function and destroys the
 * libjpeg objects, which frees all that was allocated in between. An encoding in pieces calls it for each
 * piece and destroys the objects at its end. Guarded code owns no other memory. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_H
#define BLURD_CODECS_JPEG_JPEG_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h> /* jpeglib.h needs FILE */

#include <jpeglib.h>

#include "codecs/definition.h"

extern const struct codec codec_jpeg;

struct jpeg_guard {
    struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
    jmp_buf jump;
    enum status otherwise; /* for messages without a status */
    enum status status;    /* what the jump reports; the sentence is in *err */
    struct error *err;
};

/* Prepares *guard. The caller then calls setjmp(guard->jump), before it creates libjpeg objects; one guard
 * serves any number of them, with cinfo->err = &guard->manager. */
void jpeg_guard_init(struct jpeg_guard *guard, enum status otherwise, struct error *err);

/* Leaves guarded code with a status that fail() has recorded. Does not return. */
_Noreturn void jpeg_guard_leave(j_common_ptr cinfo, enum status status);

enum status jpeg_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err);
enum status jpeg_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err);

/* As codec_decode_bytes and codec_encode_bytes. */
size_t jpeg_decode_bytes(const struct picture *picture, size_t input);
size_t jpeg_encode_bytes(const struct image_shape *shape, const struct encode_options *options);

/* Guarded, between start and finish of a compressor that was set up for the model of `image`: continues
 * with the first `rows` rows. The padding of planes may be overwritten. */
void jpeg_write_pixels(struct jpeg_compress_struct *cinfo, const struct image *image, uint32_t rows);

enum status jpeg_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err);
struct encode_cost jpeg_encode_cost(const struct encode_extent *extent, const struct encode_options *options);
enum status jpeg_encode_begin(const struct image *image, const struct encode_options *options,
                              const struct metadata *metadata, struct buf *output, struct encoding **encoding,
                              struct error *err);
void jpeg_encode_rows(struct encoding *encoding, uint32_t rows);
enum status jpeg_encode_end(struct encoding *encoding, bool complete, struct error *err);

#endif
