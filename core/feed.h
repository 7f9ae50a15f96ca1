/* SPDX-License-Identifier: MIT
 * A picture that is read while it is still being made, from the top. Whoever makes it tells how far it is;
 * whoever reads it does not wait for rows, but begins with what has become possible (core/crew.h). */
#ifndef BLURD_CORE_FEED_H
#define BLURD_CORE_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Is told, by the thread that makes the picture, that its first `rows` rows are there and will not change any
 * more: all of them in planes of full size, as many as they cover in reduced ones. The number never falls. */
struct progress {
    void (*rows)(void *context, uint32_t rows);
    void *context;
};

/* What makes the picture, on the thread that calls it: all rows are there when it returns ST_OK, also those
 * that `progress` (NULL: nobody wants to know) was not told of. Called again it does nothing. */
struct feed {
    enum status (*make)(void *context, const struct progress *progress, struct error *err);
    void *context;
};

static inline void progress_tell(const struct progress *progress, uint32_t rows) {
    if (progress) {
        progress->rows(progress->context, rows);
    }
}

/* Without somebody who follows; NULL is a picture that is there. */
static inline enum status feed_make(const struct feed *feed, struct error *err) {
    return feed ? feed->make(feed->context, NULL, err) : ST_OK;
}

#endif
