/* SPDX-License-Identifier: MIT
 * What a system's own tools show of the options, made from the tables: blurd(8), and completions of the
 * shell. */
#ifndef BLURD_CONFIG_MANUAL_H
#define BLURD_CONFIG_MANUAL_H

#include <stdio.h>

/* Prints the manual page for man(7). */
void manual_print(FILE *out);

/* Prints a script that bash reads: it completes flags, words, and files for options that name one. */
void manual_print_completion(FILE *out);

#endif
