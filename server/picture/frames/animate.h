/* SPDX-License-Identifier: MIT
 * An animation: each frame is read, searched, drawn on, filtered and written as a picture by itself. */
#ifndef BLURD_SERVER_PICTURE_FRAMES_ANIMATE_H
#define BLURD_SERVER_PICTURE_FRAMES_ANIMATE_H

#include "server/picture/cores.h"

/* Like cores_run, for a plan that animates. Where a GPU fails, the next call goes on with the same frame. */
enum status animate_run(struct cores *run);

/* Frees what animate_run took. */
void animate_finish(struct cores *run);

#endif
