/* SPDX-License-Identifier: MIT
 * lossless=true for a JPEG that is only turned and cropped: its blocks are moved without a new encoding, and
 * perhaps repacked as JPEG XL. A JPEG that is repacked so already is restored before. */
#ifndef BLURD_SERVER_PLANNER_LOSSLESS_H
#define BLURD_SERVER_PLANNER_LOSSLESS_H

#include "codecs/codec.h"
#include "codecs/jpeg/jpeg_turn.h"
#include "filters/chain.h"
#include "server/message/parameters.h"

/* A request whose chain is planned. */
struct lossless {
    const struct picture *picture;
    const struct parameters *parameters;
    const struct chain *chain;
    uint8_t orientation; /* EXIF orientation to undo; 1: none */
    enum codec_id output;
};

/* Fills *turn, all zero before, if the blocks are to be moved; that of a JPEG that has to be restored is only
 * known, and checked, once this is called for it. ST_ARGUMENT: it is asked for and not possible;
 * the sentence says why. */
enum status lossless_plan(const struct lossless *request, struct jpeg_turn *turn, struct error *err);

/* Returns ST_ARGUMENT with a sentence about the parameter. */
enum status lossless_refuse(const char *reason, struct error *err);

#endif
