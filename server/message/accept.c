/* SPDX-License-Identifier: MIT */
#include "server/message/accept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How specifically a range matches the name: 3 in full, 2 by its type ("image" in "image/png"), 1 as a
 * wildcard, 0 not at all. */
static int match(const char *range, size_t size, const char *name) {
    size_t kind = strcspn(name, "/");
    if (size == strlen(name) && strncasecmp(range, name, size) == 0) {
        return 3;
    }
    if (name[kind] == '\0') { /* a coding */
        return size == 1 && *range == '*' ? 1 : 0;
    }
    if (size == kind + 2 && strncasecmp(range, name, kind + 1) == 0 && range[kind + 1] == '*') {
        return 2;
    }
    return size == 3 && memcmp(range, "*/*", size) == 0 ? 1 : 0;
}

/* The q of a range's parameters, 1 when absent. */
static double weight(const char *parameters, const char *end) {
    for (const char *p = parameters; p < end; p++) {
        if (*p == ';') {
            p++;
            while (p < end && (*p == ' ' || *p == '\t')) {
                p++;
            }
            if (end - p > 2 && (p[0] == 'q' || p[0] == 'Q') && p[1] == '=') {
                double q = strtod(p + 2, NULL);
                return q > 1 ? 1 : q >= 0 ? q : 0; /* also infinite and NaN */
            }
        }
    }
    return 1.0;
}

double accept_quality(const char *list, const char *name) {
    double best = -1.0;
    int exactness = 0;
    for (const char *p = list; *p;) {
        const char *end = p + strcspn(p, ",");
        while (*p == ' ' || *p == '\t') {
            p++;
        }
        int found = match(p, strcspn(p, ",; \t"), name);
        if (found > exactness) {
            exactness = found;
            best = weight(p, end);
        }
        p = *end ? end + 1 : end;
    }
    return best;
}

enum codec_id accept_choose(const char *accept, enum codec_id input) {
    if (!accept) {
        return input;
    }
    enum codec_id other = input == CODEC_JPEG ? CODEC_PNG : CODEC_JPEG;
    double same = accept_quality(accept, codec_get(input)->mime);
    double different = accept_quality(accept, codec_get(other)->mime);
    return different > same && different > 0 ? other : input;
}
