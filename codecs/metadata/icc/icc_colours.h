/* SPDX-License-Identifier: MIT
 * The colours that a file describes without an ICC profile: by the code points of cICP and nclx, by gAMA and
 * cHRM of PNG, or by Adobe RGB in EXIF. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_COLOURS_H
#define BLURD_CODECS_METADATA_ICC_COLOURS_H

#include "codecs/definition.h"

/* Writes a profile that says the same into *profile, an initialised buffer, if that is empty and a file of
 * `target` has no other way to say it. It stays empty for sRGB, and for BT.709, which is shown as sRGB. A
 * profile from a PNG whose cICP says something else is replaced, as cICP goes first. False in *complete when
 * something that defines colours is lost: a profile that could not be read, code points without a formula, PQ
 * and HLG of a grey picture beyond the reference white, or the light levels of mDCV and cLLI, for which only
 * PNG has a place. ST_BUSY without memory. Thread-safe. */
enum status icc_colours_describe(const struct metadata *metadata, const struct codec *target,
                                 enum pixel_model model, struct buf *profile, bool *complete,
                                 struct error *err);

#endif
