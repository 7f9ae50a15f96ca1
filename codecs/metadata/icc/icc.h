/* SPDX-License-Identifier: MIT
 * Reads ICC profiles. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_H
#define BLURD_CODECS_METADATA_ICC_H

#include "codecs/definition.h"

/* Puts the profile of `metadata`, written anew by icc_sanitize, into *profile, an all-zero struct that the
 * caller ends with buf_finish. Where the profile is for grey and `model` is colour, or the reverse, it
 * becomes a profile for `model` with the same curve. It stays empty when the profile is missing, damaged,
 * over METADATA_ICC_MAX, for another colour space (one for CMYK must not stand beside RGB pixels), or has
 * tables where the curve is needed. ST_BUSY without memory. */
enum status icc_read(const struct metadata *metadata, enum pixel_model model, struct buf *profile,
                     struct error *err);

#endif
