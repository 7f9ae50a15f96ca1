/* SPDX-License-Identifier: MIT
 * The tables of the parameters of searches. */
#ifndef BLURD_SERVER_MESSAGE_PARAMETERS_DETECT_H
#define BLURD_SERVER_MESSAGE_PARAMETERS_DETECT_H

#include "server/message/parameters.h"

extern const struct argument parameters_of_detect[]; /* of searches that give regions */
extern const struct argument parameters_of_search[]; /* how any search is done */

#endif
