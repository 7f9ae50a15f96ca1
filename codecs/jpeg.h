/* SPDX-License-Identifier: MIT
 * What the JPEG files of this folder share. libjpeg reports errors by calling a function
 * that must not return; struct jpeg_guard turns that into a status.
 *
 * The rule of setjmp here: each entry point sets it once, in a function that does nothing
 * else but call the guarded one and destroy the libjpeg object, which frees everything
 * that was allocated in between. Guarded code owns no other memory. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_H
#define BLURD_CODECS_JPEG_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h> /* jpeglib.h needs FILE */

#include <jpeglib.h>

#include "codecs/codec.h"

extern const struct codec codec_jpeg;

struct jpeg_guard {
    struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
    jmp_buf jump;
    bool in_header;        /* garbage between markers costs no pixels here */
    enum status otherwise; /* for messages that have no status of their own */
    enum status status;    /* what the jump reports; the sentence is in *err */
    struct error *err;
};

/* Prepares *guard and returns its error manager for cinfo->err. The caller then calls
 * setjmp(guard->jump), before it creates the libjpeg object. */
struct jpeg_error_mgr *jpeg_guard_init(struct jpeg_guard *guard, enum status otherwise, struct error *err);

/* Leaves guarded code with a status that fail() has recorded. Does not return. */
_Noreturn void jpeg_guard_leave(j_common_ptr cinfo, enum status status);

enum status jpeg_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err);
enum status jpeg_decode(struct bytes input, const struct codec_limits *limits, const struct image *image,
                        struct error *err);
enum status jpeg_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err);

#endif
