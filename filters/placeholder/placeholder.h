/* SPDX-License-Identifier: MIT
 * The thumbnail of a placeholder. Hashes and colours of it are the server's part (server/placeholder/). */
#ifndef BLURD_FILTERS_PLACEHOLDER_PLACEHOLDER_H
#define BLURD_FILTERS_PLACEHOLDER_PLACEHOLDER_H

#include "filters/resize/resize.h"

enum { PLACEHOLDER_SIDE = 100, PLACEHOLDER_COMPONENTS_MAX = 9 };

struct placeholder_arguments {
    int components_x, components_y; /* of the BlurHash, 1 to PLACEHOLDER_COMPONENTS_MAX */
};

struct placeholder_plan {
    struct resize_plan resize; /* to at most PLACEHOLDER_SIDE pixels a side */
};

extern const struct filter filter_placeholder;

#endif
