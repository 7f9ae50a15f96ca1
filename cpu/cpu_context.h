/* SPDX-License-Identifier: MIT
 * What the filters of a run share: tables of row functions, memory, helpers, deadline. */
#ifndef BLURD_CPU_CPU_CONTEXT_H
#define BLURD_CPU_CPU_CONTEXT_H

#include "core/crew.h"
#include "core/producer.h"
#include "cpu/rows/rows.h"
#include "cpu/scratch.h"

/* Told of each row of the target right after it is made, while the cache has it. Called on several threads.
 */
struct cpu_row_done {
    void (*row)(const void *context, unsigned plane, uint32_t y);
    const void *context;
};

struct codes_reader; /* detect/codes/symbols.h */
struct cpu_networks;

struct cpu_context {
    const struct row_set *rows;
    struct scratch *scratch;
    struct crew *crew;                 /* NULL: the caller alone */
    int64_t deadline_ns;               /* core/deadline.h */
    const struct producer *producer;   /* called before rows are read; NULL: the source is complete */
    const struct progress *progress;   /* may be told of rows of the target; NULL: not told */
    const struct cpu_row_done *done;   /* for filters that report rows (cpu/filter.h); NULL: not told */
    const struct image *mask;          /* for statistics; NULL: none */
    struct cpu_networks *networks;     /* for searches */
    const struct codes_reader *reader; /* for a search that reads; NULL: none */
};

#endif
