/* SPDX-License-Identifier: MIT
 * What EXCITE layers (detect/network.h) multiply by: the sums of channels become factors. */
#ifndef BLURD_CPU_DETECT_DETECT_EXCITE_H
#define BLURD_CPU_DETECT_DETECT_EXCITE_H

#include "cpu/detect/detect_job.h"

/* Bytes of the sums and factors of all EXCITE layers. Lays them over memory, aligned like a picture, if it is
 * not NULL; the sums are 0 then. */
size_t detect_excite_place(struct detect_job *job, uint8_t *memory);

/* Makes the factors of an EXCITE layer of the sums of all rows that it reads. */
void detect_excite_factors(const struct detect_job *job, int layer);

#endif
