/* SPDX-License-Identifier: MIT
 * A filter matrix as text: rows separated by `;` and numbers by `,`, "0,-1,0;-1,5,-1;0,-1,0", or a JSON
 * array, of rows or flat. */
#ifndef BLURD_FILTERS_ARGUMENT_MATRIX_H
#define BLURD_FILTERS_ARGUMENT_MATRIX_H

#include <stdint.h>

#include "filters/argument/argument.h"

enum { MATRIX_SIDE_MAX = 15, MATRIX_MAX = MATRIX_SIDE_MAX * MATRIX_SIDE_MAX };

struct matrix {
    uint16_t count; /* numbers; 0: no matrix */
    uint16_t rows;  /* 1 also for a flat list */
    double value[MATRIX_MAX];
};

/* Parses the value of argument `row` into a struct matrix. ST_ARGUMENT names the error: no number, not
 * finite, beyond 1e6, too many, rows of different length. The caller checks the sides. */
enum status matrix_parse(const struct argument *row, const char *text, void *target, struct error *err);

#endif
