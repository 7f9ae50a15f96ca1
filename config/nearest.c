/* SPDX-License-Identifier: MIT
 * Optimal string alignment distance, in a table; words are short and typing errors rare. */
#include "config/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "core/numbers.h"

enum { WORD_MAX = 40 };

static int letter(char c) {
    return c == '-' ? '_' : tolower((unsigned char)c);
}

size_t nearest_distance(const char *a, const char *b) {
    size_t rows = strnlen(a, WORD_MAX);
    size_t columns = strnlen(b, WORD_MAX);
    size_t cost[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= rows; i++) {
        cost[i][0] = i;
    }
    for (size_t j = 0; j <= columns; j++) {
        cost[0][j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            bool same = letter(a[i - 1]) == letter(b[j - 1]);
            size_t best = cost[i - 1][j - 1] + !same;
            best = min_size(best, cost[i - 1][j] + 1);
            best = min_size(best, cost[i][j - 1] + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
                letter(a[i - 2]) == letter(b[j - 1])) {
                best = min_size(best, cost[i - 2][j - 2] + 1);
            }
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

size_t nearest_word(const char *given, const char *const *words, size_t count) {
    size_t found = 0;
    size_t least = (size_t)-1;
    for (size_t i = 0; i < count; i++) {
        size_t apart = nearest_distance(given, words[i]);
        if (apart < least) {
            least = apart;
            found = i;
        }
    }
    return found;
}
