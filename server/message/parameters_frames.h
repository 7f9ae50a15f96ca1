/* SPDX-License-Identifier: MIT
 * The table of the parameters of answers that may be animations. */
#ifndef BLURD_SERVER_MESSAGE_PARAMETERS_FRAMES_H
#define BLURD_SERVER_MESSAGE_PARAMETERS_FRAMES_H

#include "server/message/parameters.h"

enum { FRAME_LAST = 65535 }; /* the largest number of a frame, from 0 */

extern const struct argument parameters_frames[];

#endif
