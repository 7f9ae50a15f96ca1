/* SPDX-License-Identifier: MIT
 * The ways on which a GPU does all of a JPEG (server/ways.def). */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_H
#define BLURD_SERVER_PICTURE_TRANSCODE_H

#include "core/status.h"

struct cores;

/* Runs a request on one of these ways, which is open to it, and sets run->complete when the answer's body is
 * complete. Searches come first, in the same decoded picture. After nearly any failure the CPU takes
 * the whole job, since its codecs give the better error messages: run->complete is false, and the plan and
 * the outcome are as before. ST_NOTHING: a request that requires a region has none. */
enum status transcode_run(struct cores *run);

#endif
