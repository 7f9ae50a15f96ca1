/* SPDX-License-Identifier: MIT
 * Runs the network of a detector over a picture. */
#ifndef BLURD_CPU_DETECT_DETECT_SEARCH_H
#define BLURD_CPU_DETECT_DETECT_SEARCH_H

#include "cpu/cpu_context.h"
#include "cpu/detect/detect_pack.h"
#include "detect/candidates.h"
#include "detect/detector.h"

/* An output of the network that a search wants. */
struct detect_wanted {
    const struct detector *detector; /* NULL: nothing */
    int32_t least;                   /* first sum of a candidate, or byte of the map */
    const struct image *map;         /* NULL, or memory for the map or the cells, row by row */
};

struct detect_search {
    const struct detect_network *network; /* the same of all detectors */
    struct detect_wanted output[NETWORK_OUTPUTS_MAX];
    const struct image *source;
    uint32_t width, height;        /* of the padded picture: multiples of the network's unit */
    struct candidates *candidates; /* of all outputs; NULL: the maps themselves are wanted */
};

/* The working memory of a search by the detectors of these outputs in a padded picture of that size. */
struct scratch_need detect_search_need(const struct detect_wanted output[NETWORK_OUTPUTS_MAX], uint32_t width,
                                       uint32_t height);

/* Writes the candidates or the maps. ST_BUSY without memory, ST_LIMIT at the deadline; then they are
 * undefined. */
enum status detect_search_run(const struct cpu_context *context, const struct detect_search *search,
                              struct error *err);

#endif
