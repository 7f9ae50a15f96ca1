/* SPDX-License-Identifier: MIT
 * Runs the network of a detector over a picture. */
#ifndef BLURD_CPU_DETECT_DETECT_SEARCH_H
#define BLURD_CPU_DETECT_DETECT_SEARCH_H

#include "cpu/cpu_context.h"
#include "cpu/detect/detect_pack.h"
#include "detect/candidates.h"
#include "detect/detector.h"

struct detect_search {
    const struct detector *detector;
    const struct detect_network *network;
    const struct image *source;
    uint32_t width, height;        /* of the padded picture: multiples of the network's unit */
    int32_t least;                 /* first sum of a candidate, or byte of the map */
    struct candidates *candidates; /* NULL: the map itself is wanted */
    const struct image *map;       /* NULL, or width x height bytes */
};

/* The working memory of a search of a padded picture of that size. */
struct scratch_need detect_search_need(const struct detector *detector, uint32_t width, uint32_t height);

/* Writes the candidates or the map. ST_BUSY without memory, ST_LIMIT at the deadline; then they are
 * undefined. */
enum status detect_search_run(const struct cpu_context *context, const struct detect_search *search,
                              struct error *err);

#endif
