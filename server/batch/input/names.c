/* SPDX-License-Identifier: MIT
 * Open addressing; at most four fifths of the places are in use. */
#include "server/batch/input/names.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

enum { KEY_BYTES = 16, FIRST_PLACES = 1024, NAME_MAX_BYTES = 32 << 10 /* six times PATH_MAX, as JSON */ };

#define TAKEN (UINT64_C(1) << 63)

struct names {
    uint8_t key[KEY_BYTES];
    uint64_t *digest; /* 0: free. With TAKEN where the name is */
    uint32_t *state;  /* NULL: nothing is known of any */
    size_t places, used;
};

enum status names_create(struct names **names, struct error *err) {
    struct names *made = calloc(1, sizeof *made);
    *names = made;
    if (made) {
        made->places = FIRST_PLACES;
        made->digest = calloc(made->places, sizeof *made->digest);
    }
    return made && made->digest && getrandom(made->key, sizeof made->key, 0) == sizeof made->key
               ? ST_OK
               : fail(err, ST_BUSY, "out of memory");
}

void names_destroy(struct names *names) {
    if (names) {
        free(names->digest);
        free(names->state);
        free(names);
    }
}

uint64_t names_digest(const struct names *names, struct bytes data) {
    uint8_t keyed[KEY_BYTES + NAME_MAX_BYTES], digest[32] = {0};
    const size_t size = data.size < NAME_MAX_BYTES ? data.size : NAME_MAX_BYTES;
    uint64_t value;
    memcpy(keyed, names->key, KEY_BYTES);
    if (size > 0) { /* data may be NULL */
        memcpy(keyed + KEY_BYTES, data.data, size);
    }
    gnutls_hash_fast(GNUTLS_DIG_SHA256, keyed, KEY_BYTES + size, digest);
    memcpy(&value, digest, sizeof value);
    value &= ~TAKEN;
    return value ? value : 1;
}

/* The place of a digest, or the free one where it would be. */
static size_t find(const struct names *names, uint64_t digest) {
    size_t at = digest & (names->places - 1);
    while (names->digest[at] && (names->digest[at] & ~TAKEN) != digest) {
        at = (at + 1) & (names->places - 1);
    }
    return at;
}

static bool resize(struct names *names, size_t places) {
    struct names other = {.places = places, .digest = calloc(places, sizeof *other.digest)};
    other.state = names->state ? calloc(places, sizeof *other.state) : NULL;
    if (!other.digest || (names->state && !other.state)) {
        free(other.digest);
        free(other.state);
        return false;
    }
    for (size_t i = 0; i < names->places; i++) {
        if (names->digest[i]) {
            const size_t at = find(&other, names->digest[i] & ~TAKEN);
            other.digest[at] = names->digest[i];
            if (other.state) {
                other.state[at] = names->state[i];
            }
        }
    }
    free(names->digest);
    free(names->state);
    names->digest = other.digest;
    names->state = other.state;
    names->places = places;
    return true;
}

enum status names_reserve(struct names *names, uint64_t count, struct error *err) {
    size_t places = names->places;
    while (places / 5 * 4 < count && places < SIZE_MAX / 32) {
        places *= 2;
    }
    return places == names->places || resize(names, places) ? ST_OK : fail(err, ST_BUSY, "out of memory");
}

/* The place of a name that is put into the map, if it is not there. False: out of memory. */
static bool put(struct names *names, uint64_t digest, size_t *at) {
    *at = find(names, digest);
    if (names->digest[*at]) {
        return true;
    }
    if ((names->used + 1) * 5 > names->places * 4) {
        if (!resize(names, 2 * names->places)) {
            return false;
        }
        *at = find(names, digest);
    }
    names->used++;
    names->digest[*at] = digest;
    return true;
}

enum status names_set(struct names *names, uint64_t digest, uint32_t state, struct error *err) {
    size_t at;
    if (!names->state) {
        names->state = calloc(names->places, sizeof *names->state);
    }
    if (!names->state || !put(names, digest, &at)) {
        return fail(err, ST_BUSY, "out of memory");
    }
    names->state[at] = state;
    return ST_OK;
}

uint32_t names_get(const struct names *names, uint64_t digest) {
    return names->state ? names->state[find(names, digest)] : 0;
}

enum status names_take(struct names *names, uint64_t digest, bool *taken, struct error *err) {
    size_t at;
    if (!put(names, digest, &at)) {
        return fail(err, ST_BUSY, "out of memory");
    }
    *taken = names->digest[at] & TAKEN;
    names->digest[at] |= TAKEN;
    return ST_OK;
}
