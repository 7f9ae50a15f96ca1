/* SPDX-License-Identifier: MIT
 * The manual page blurd(8), made from the tables of options, actions and the options of `blurd run`. */
#ifndef BLURD_CONFIG_MANUAL_H
#define BLURD_CONFIG_MANUAL_H

#include <stdio.h>

/* Prints the manual page for man(7). */
void manual_print(FILE *out);

#endif
