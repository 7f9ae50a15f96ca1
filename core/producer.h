/* SPDX-License-Identifier: MIT
 * A picture that is read from the top while it is still being made. The producer reports its progress;
 * readers do not wait for rows, but begin work that has become possible (core/crew.h). */
#ifndef BLURD_CORE_PRODUCER_H
#define BLURD_CORE_PRODUCER_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Called on the producing thread: the first `rows` rows are final. Never decreases. Reduced planes have
 * the rows that these cover. */
struct progress {
    void (*rows)(void *context, uint32_t rows);
    void *context;
};

/* Makes the picture on the calling thread. When `make` returns ST_OK all rows are final, even without a
 * report to `progress` (may be NULL). A second call does nothing. */
struct producer {
    enum status (*make)(void *context, const struct progress *progress, struct error *err);
    void *context;
};

/* Reports rows; does nothing when `progress` is NULL. */
static inline void progress_tell(const struct progress *progress, uint32_t rows) {
    if (progress) {
        progress->rows(progress->context, rows);
    }
}

/* Makes the picture without reports. NULL means that the picture is complete. */
static inline enum status producer_make(const struct producer *producer, struct error *err) {
    return producer ? producer->make(producer->context, NULL, err) : ST_OK;
}

#endif
