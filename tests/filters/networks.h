/* SPDX-License-Identifier: MIT
 * Made-up detectors, whose networks are no detector's: they show that backends run tables, not one network.
 * With a threshold of 0 all cells are candidates, above it none. */
#ifndef BLURD_TESTS_FILTERS_NETWORKS_H
#define BLURD_TESTS_FILTERS_NETWORKS_H

#include "detect/detector.h"

/* All kinds of layers, in an order of their own. */
extern const struct detector networks_mixed;

/* Layers of odd numbers of channels, one of which adds what it is beside. */
extern const struct detector networks_odd;

/* A network that makes a map, of all kinds of layers; and the detector of its other map, of cells of 2
 * pixels, whose layers come behind it and share the first ones. */
extern const struct detector networks_map, networks_head;

/* A network with anchors, three in a cell of 4 pixels and two in one of 8. */
extern const struct detector networks_anchors;

/* Three inverted residual blocks and one enlargement, of the forms that kernels of GPUs have. */
extern const struct detector networks_blocks;

#endif
