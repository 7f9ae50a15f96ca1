/* SPDX-License-Identifier: MIT */
#include "server/message/suggest.h"

#include <string.h>
#include <strings.h>

#include "config/nearest.h"

static const struct {
    const char *other, *meant;
} names[] = {
#define OTHER(other, meant) {other, meant},
#include "server/message/other_names.def"
};

static const char *find(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0) {
            return words[i];
        }
    }
    return NULL;
}

const char *suggest_word(const char *given, const char *const *words, size_t count) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *meant =
            strcasecmp(given, names[i].other) == 0 ? find(names[i].meant, words, count) : NULL;
        if (meant) {
            return meant;
        }
    }
    const char *word = count > 0 ? words[nearest_word(given, words, count)] : NULL;
    return word && nearest_distance(given, word) * 3 <= strlen(given) ? word : NULL;
}
