/* SPDX-License-Identifier: MIT */
#include "server/message/accept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "codecs/frames.h"

/* How specifically a range matches the name; 0: not at all. */
enum { WILDCARD = 1, TYPE /* "image" in "image/png" */, NAMED };

static int match(const char *range, size_t size, const char *name) {
    size_t kind = strcspn(name, "/");
    if (size == strlen(name) && strncasecmp(range, name, size) == 0) {
        return NAMED;
    }
    if (name[kind] == '\0') { /* a coding */
        return size == 1 && *range == '*' ? WILDCARD : 0;
    }
    if (size == kind + 2 && strncasecmp(range, name, kind + 1) == 0 && range[kind + 1] == '*') {
        return TYPE;
    }
    return size == 3 && memcmp(range, "*/*", size) == 0 ? WILDCARD : 0;
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

/* The weight of the most specific range that matches the name, and how specific it is. */
static double weigh(const char *list, const char *name, int *exactness) {
    double best = -1.0;
    *exactness = 0;
    for (const char *p = list; *p;) {
        const char *end = p + strcspn(p, ",");
        while (*p == ' ' || *p == '\t') {
            p++;
        }
        int found = match(p, strcspn(p, ",; \t"), name);
        if (found > *exactness) {
            *exactness = found;
            best = weight(p, end);
        }
        p = *end ? end + 1 : end;
    }
    return best;
}

double accept_quality(const char *list, const char *name) {
    int exactness;
    return weigh(list, name, &exactness);
}

bool accept_names(const char *list, const char *name) {
    int exactness;
    return weigh(list, name, &exactness) > 0 && exactness == NAMED;
}

/* Clients of a wildcard may not know newer formats, so that these must be named. */
static double quality_of(const char *accept, const struct codec *codec) {
    int exactness;
    double quality = weigh(accept, codec->mime, &exactness);
    return codec->encode && (codec->familiar || exactness == NAMED) ? quality : -1.0;
}

enum codec_id accept_choose(const char *accept, enum codec_id input, bool animated) {
    bool (*const writes)(enum codec_id) = animated ? frames_writes : codec_encodes;
    enum codec_id best = writes(input) ? input : animated ? CODEC_PNG : CODEC_JPEG;
    double most = accept ? accept_quality(accept, codec_get(best)->mime) : 1;
    unsigned rank = 0; /* the input's goes first */
    for (unsigned i = 0; i < CODEC_COUNT && accept; i++) {
        const struct codec *codec = codec_get((enum codec_id)i);
        double quality = codec->rank && writes((enum codec_id)i) ? quality_of(accept, codec) : -1.0;
        if (quality > 0 && (quality > most || (quality == most && codec->rank < rank))) {
            best = (enum codec_id)i;
            most = quality;
            rank = codec->rank;
        }
    }
    return best;
}
