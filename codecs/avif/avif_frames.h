/* SPDX-License-Identifier: MIT
 * The frames of an AVIF sequence. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_FRAMES_H
#define BLURD_CODECS_AVIF_AVIF_FRAMES_H

#include "codecs/avif/avif_reader.h"

/* Sets how many frames there are, and how often they are played: for ever where libavif, before version 1.0,
 * does not tell. */
void avif_frames_count(const struct avif_reader *reader, struct picture *picture);

#endif
