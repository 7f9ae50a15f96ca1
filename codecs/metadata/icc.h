/* SPDX-License-Identifier: MIT
 * The ICC profile on its way from one file to another. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_H
#define BLURD_CODECS_METADATA_ICC_H

#include "codecs/definition.h"

/* Puts the profile that `metadata` carries into *profile, an all-zero struct that the
 * caller ends with buf_finish. It stays empty when there is none, when it is damaged or
 * over METADATA_ICC_MAX, or when it is for another colour space than `model`: a CMYK
 * profile must not stand beside RGB pixels. What lies behind the length that the profile
 * gives itself is cut off. ST_BUSY without memory. */
enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err);

/* Whether a file of `target` lacks what `metadata` says about colours: the profile, of which icc_read made
 * `profile`, or the code of a PNG's cICP chunk. */
bool icc_is_lost(const struct metadata *metadata, enum codec_id target, const struct buf *profile);

#endif
