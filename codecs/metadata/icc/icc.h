/* SPDX-License-Identifier: MIT
 * Reads ICC profiles. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_H
#define BLURD_CODECS_METADATA_ICC_H

#include "codecs/definition.h"

/* Puts the profile of `metadata`, written anew by icc_sanitize, into *profile, an all-zero struct that the
 * caller ends with buf_finish. It stays empty when the profile is missing, damaged, over METADATA_ICC_MAX, or
 * for another colour space than `model`: a CMYK profile must not stand beside RGB pixels. ST_BUSY without
 * memory. */
enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err);

/* Whether a `target` file loses colour information of `metadata`: the profile, from which icc_read made
 * `profile`, or the code of a PNG's cICP chunk. */
bool icc_is_lost(const struct metadata *metadata, enum codec_id target, const struct buf *profile);

#endif
