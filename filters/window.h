/* SPDX-License-Identifier: MIT
 * The part of a picture that has to be filtered where a mask keeps the rest as it is. */
#ifndef BLURD_FILTERS_WINDOW_H
#define BLURD_FILTERS_WINDOW_H

#include "filters/chain.h"
#include "filters/crop/crop.h"

/* The least part of a picture of this shape such that the masked steps of the chain (chain_masked), run over
 * it as if it were a picture, give the pixels in `covered` that they give in the whole picture, to the bit.
 * `covered` lies in the picture and is not empty. Rows of the part begin at multiples of IMAGE_ALIGNMENT in
 * each plane. It is the whole picture where a step has no reach (filters/definition.h). No step takes more
 * working memory for the part than for the picture. */
struct crop_plan window_of(const struct chain *chain, const struct image_shape *shape,
                           const struct crop_plan *covered);

#endif
