/* SPDX-License-Identifier: MIT
 * The known word that is nearest to a misspelt one. */
#ifndef BLURD_CONFIG_NEAREST_H
#define BLURD_CONFIG_NEAREST_H

#include <stddef.h>

/* The index of the word with the fewest letters to insert, remove, replace or swap; the
 * first of equals. Case, `-` and `_` make no difference, and only the first 40 letters
 * count. `count` must not be 0. */
size_t nearest_word(const char *given, const char *const *words, size_t count);

/* That number of letters. */
size_t nearest_distance(const char *given, const char *word);

#endif
