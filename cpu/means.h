/* SPDX-License-Identifier: MIT
 * What a filter works with. */
#ifndef BLURD_CPU_MEANS_H
#define BLURD_CPU_MEANS_H

#include "core/crew.h"
#include "core/feed.h"
#include "cpu/rows/rows.h"
#include "cpu/scratch.h"

struct means {
    const struct row_set *rows;
    struct scratch *scratch;
    struct crew *crew;       /* NULL: the caller alone */
    int64_t deadline_ns;     /* core/deadline.h */
    const struct feed *feed; /* what makes the source, to be called before rows are read; NULL: it is there */
    const struct progress *progress; /* may be told of rows of the target; NULL: nobody wants to know */
};

#endif
