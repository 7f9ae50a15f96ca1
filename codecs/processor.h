/* SPDX-License-Identifier: MIT
 * Which instructions the processor has, beyond those that every one of its kind has. */
#ifndef BLURD_CODECS_PROCESSOR_H
#define BLURD_CODECS_PROCESSOR_H

#include <stdbool.h>

enum {
    PROCESSOR_AVX2 = 1 << 0,   /* with BMI1 and BMI2 */
    PROCESSOR_AVX512 = 1 << 1, /* F, BW, VL, DQ and VNNI, beside AVX2 */
    PROCESSOR_VBMI2 = 1 << 2,  /* AVX-512 VBMI2 and CD */
};

/* Whether the processor has all that `needs` names; 0 names nothing. */
bool processor_has(unsigned needs);

#endif
