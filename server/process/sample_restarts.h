/* SPDX-License-Identifier: MIT
 * A JPEG with restart markers, for the self-test of GPUs. */
#ifndef BLURD_SERVER_PROCESS_SAMPLE_RESTARTS_H
#define BLURD_SERVER_PROCESS_SAMPLE_RESTARTS_H

#include "codecs/codec.h"

/* Appends to *made a 4:2:0 picture with a restart marker after each row of MCUs. These rows are files of
 * their own first, since a scan begins as after a restart. Not with optimal tables. Status as of
 * codec_encode. */
enum status sample_restarts(const struct image *image, const struct encode_options *options, struct buf *made,
                            struct error *err);

#endif
