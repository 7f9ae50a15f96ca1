/* SPDX-License-Identifier: MIT
 * Open addressing; at most four fifths of the places are in use. */
#include "server/batch/input/names.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <sys/random.h>

enum { KEY_BYTES = 16, FIRST_PLACES = 1024, NAME_MAX_BYTES = 32 << 10 /* six times PATH_MAX, as JSON */ };

#define TAKEN (UINT64_C(1) << 63)

struct names_place {
    uint64_t digest, state; /* digest 0: free. The state's highest bit: the name is taken */
};

struct names {
    uint8_t key[KEY_BYTES];
    struct names_place *place;
    size_t places, used;
};

enum status names_create(struct names **names, struct error *err) {
    struct names *made = calloc(1, sizeof *made);
    *names = made;
    if (made) {
        made->places = FIRST_PLACES;
        made->place = calloc(made->places, sizeof *made->place);
    }
    return made && made->place && getrandom(made->key, sizeof made->key, 0) == sizeof made->key
               ? ST_OK
               : fail(err, ST_BUSY, "out of memory");
}

void names_destroy(struct names *names) {
    if (names) {
        free(names->place);
        free(names);
    }
}

uint64_t names_digest(const struct names *names, struct bytes data) {
    uint8_t keyed[KEY_BYTES + NAME_MAX_BYTES], digest[32] = {0};
    const size_t size = data.size < NAME_MAX_BYTES ? data.size : NAME_MAX_BYTES;
    uint64_t value;
    memcpy(keyed, names->key, KEY_BYTES);
    memcpy(keyed + KEY_BYTES, data.data, size);
    gnutls_hash_fast(GNUTLS_DIG_SHA256, keyed, KEY_BYTES + size, digest);
    memcpy(&value, digest, sizeof value);
    value &= ~TAKEN;
    return value ? value : 1;
}

/* The place of a digest, or the free one where it would be. */
static struct names_place *find(const struct names *names, uint64_t digest) {
    size_t at = digest & (names->places - 1);
    while (names->place[at].digest && names->place[at].digest != digest) {
        at = (at + 1) & (names->places - 1);
    }
    return &names->place[at];
}

static bool grow(struct names *names) {
    struct names larger = {.places = 2 * names->places};
    larger.place = calloc(larger.places, sizeof *larger.place);
    if (!larger.place) {
        return false;
    }
    for (size_t i = 0; i < names->places; i++) {
        if (names->place[i].digest) {
            *find(&larger, names->place[i].digest) = names->place[i];
        }
    }
    free(names->place);
    names->place = larger.place;
    names->places = larger.places;
    return true;
}

/* The place of a name that is put into the map, if it is not there. NULL: out of memory. */
static struct names_place *put(struct names *names, uint64_t digest) {
    struct names_place *place = find(names, digest);
    if (place->digest) {
        return place;
    }
    if ((names->used + 1) * 5 > names->places * 4) {
        if (!grow(names)) {
            return NULL;
        }
        place = find(names, digest);
    }
    names->used++;
    *place = (struct names_place){.digest = digest};
    return place;
}

enum status names_set(struct names *names, uint64_t digest, uint64_t state, struct error *err) {
    struct names_place *place = put(names, digest);
    if (!place) {
        return fail(err, ST_BUSY, "out of memory");
    }
    place->state = (place->state & TAKEN) | state;
    return ST_OK;
}

uint64_t names_get(const struct names *names, uint64_t digest) {
    return find(names, digest)->state & ~TAKEN;
}

enum status names_take(struct names *names, uint64_t digest, bool *taken, struct error *err) {
    struct names_place *place = put(names, digest);
    if (!place) {
        return fail(err, ST_BUSY, "out of memory");
    }
    *taken = place->state & TAKEN;
    place->state |= TAKEN;
    return ST_OK;
}
