/* SPDX-License-Identifier: MIT
 * The profile, the calibrated colours and the resolution of a BMP. Internal to codecs/bmp. */
#ifndef BLURD_CODECS_BMP_BMP_METADATA_H
#define BLURD_CODECS_BMP_BMP_METADATA_H

#include "codecs/bmp/bmp_header.h"

/* Fills *metadata. Colours that are calibrated become the chunks cHRM and gAMA of PNG. ST_BUSY without
 * memory. */
enum status bmp_metadata_read(const struct bmp_header *header, struct metadata *metadata, struct error *err);

#endif
