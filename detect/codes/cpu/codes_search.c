/* SPDX-License-Identifier: MIT */
#include "detect/codes/cpu/codes_search.h"

#include "detect/codes/codes.h"
#include "detect/codes/cpu/codes_features.h"

enum { SYMBOL_SIDE = 400 }; /* symbols with longer sides are grown at a level where they are shorter */

uint32_t codes_search_side(uint32_t side) {
    return side < CODES_SIDE_LEAST ? CODES_SIDE_LEAST : (side + CODES_CELL - 1) / CODES_CELL * CODES_CELL;
}

size_t codes_search_bytes(uint32_t width, uint32_t height) {
    size_t size = 0;
    width = codes_search_side(width);
    height = codes_search_side(height);
    for (unsigned i = 0; i < CODES_LEVELS_MAX; i++) {
        size += codes_level_bytes(width >> i, height >> i);
    }
    return size;
}

void codes_search_place(struct codes_pyramid *pyramid, uint32_t width, uint32_t height, uint8_t *memory) {
    pyramid->count = 0;
    width = codes_search_side(width);
    height = codes_search_side(height);
    for (size_t size; pyramid->count < CODES_LEVELS_MAX; memory += size) {
        const unsigned shift = pyramid->count;
        size = codes_level_bytes(width >> shift, height >> shift);
        if (size == 0) {
            return;
        }
        codes_level_place(&pyramid->level[pyramid->count++], width >> shift, height >> shift, memory);
    }
}

struct level_search {
    const struct codes_level *level;
    unsigned shift; /* of the level */
    enum codes_texture texture;
    int32_t least;
    int64_t deadline_ns;
    enum status status; /* not ST_OK: the time is over, and what follows is left out */
    struct error *err;
    struct candidates *candidates;
};

static void append(const struct level_search *search, const struct codes_place *place, int32_t score) {
    struct candidates *candidates = search->candidates;
    const uint32_t at = candidates->count++;
    int32_t corner[4][2];
    if (at >= CANDIDATES_MAX) {
        return;
    }
    codes_place_corners(place, corner);
    struct candidate *candidate = &candidates->candidate[at];
    *candidate = (struct candidate){.sum = {[CODES_SUM_SCORE] = score}};
    for (unsigned i = 0; i < 8; i++) {
        candidate->sum[CODES_SUM_CORNERS + i] = corner[i / 2][i % 2] * (1 << search->shift);
    }
}

static void judge(void *context, const uint32_t *cells, uint32_t count) {
    struct level_search *search = context;
    struct codes_place place;
    int32_t feature[CODES_FEATURES];
    search->status =
        search->status == ST_OK ? deadline_check(search->deadline_ns, search->err) : search->status;
    if (search->status != ST_OK) {
        return;
    }
    codes_place_measure(search->level, cells, count, &place);
    codes_features_measure(&place, search->texture, feature);
    if (codes_features_suffice(feature)) {
        int32_t score = codes_features_judge(feature);
        if (score >= search->least) {
            append(search, &place, score);
        }
    }
}

static void add_symbol(const struct codes_pyramid *pyramid, const struct codes_symbol *symbol,
                       struct candidates *candidates) {
    int32_t corner[4][2], longest = 0;
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 2; axis++) {
            int32_t side = symbol->corner[i][axis] - symbol->corner[(i + 1) % 4][axis];
            longest = side > longest ? side : -side > longest ? -side : longest;
        }
    }
    unsigned shift = 0;
    while (longest >> shift > SYMBOL_SIDE && shift + 1 < pyramid->count) {
        shift++;
    }
    for (int i = 0; i < 8; i++) {
        corner[i / 2][i % 2] = symbol->corner[i / 2][i % 2] >> shift;
    }
    struct level_search search = {.level = &pyramid->level[shift], .shift = shift, .candidates = candidates};
    struct codes_place place;
    codes_place_grow(search.level, (const int32_t(*)[2])corner, &place);
    append(&search, &place, CODES_SURE);
}

enum status codes_search_run(const struct codes_pyramid *pyramid, const struct codes_symbols *symbols,
                             int32_t least, int64_t deadline_ns, struct candidates *candidates,
                             struct error *err) {
    candidates->count = 0;
    for (unsigned i = 0; i < pyramid->count; i++) {
        struct level_search search = {.level = &pyramid->level[i],
                                      .shift = i,
                                      .least = least,
                                      .deadline_ns = deadline_ns,
                                      .err = err,
                                      .candidates = candidates};
        if (i > 0) {
            codes_level_halve(&pyramid->level[i - 1], search.level);
        }
        codes_level_look(search.level);
        for (unsigned texture = 0; texture < CODES_TEXTURES; texture++) {
            search.texture = (enum codes_texture)texture;
            codes_parts_find(search.level, search.texture, judge, &search);
            enum status status = search.status == ST_OK ? deadline_check(deadline_ns, err) : search.status;
            if (status != ST_OK) {
                return status;
            }
        }
    }
    enum status status = ST_OK;
    for (uint32_t i = 0; i < symbols->count && status == ST_OK; i++) {
        add_symbol(pyramid, &symbols->symbol[i], candidates);
        status = deadline_check(deadline_ns, err);
    }
    return status;
}
