/* SPDX-License-Identifier: MIT
 * The ways on which a GPU only decodes or only encodes a JPEG, and a worker does the other format. Both set
 * run->complete when the answer's body is complete. Where the GPU fails, they return ST_OK and leave
 * run->complete false; the next way goes on. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_PART_H
#define BLURD_SERVER_PICTURE_TRANSCODE_PART_H

#include "core/status.h"

struct cores;

/* Lets a device decode the picture and run the chain, and writes the answer. Fails like cores_write. */
enum status transcode_part_decode(struct cores *run);

/* Decodes the picture, and lets a device run the chain and encode the result. Fails like cores_decode. */
enum status transcode_part_encode(struct cores *run);

#endif
