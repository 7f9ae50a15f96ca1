/* SPDX-License-Identifier: MIT */
#include "codecs/png/deflate/deflate_lz.h"

#include <stdbool.h>
#include <stddef.h>

#include "codecs/png/deflate/deflate_tokens.h"

enum {
    HASH_BITS = 14,
    WAYS = 4,           /* positions for each hash of a few bytes: the last ones */
    TOKENS_MAX = 20000, /* of a block */
    WORD = 8,
    HASHED = 16, /* bytes of which a position's hashes are made at most */
    NICE = 96,   /* a match so long is taken without a further look */
    LONG = 128,  /* of longer ones each sixteenth pixel is remembered, ... */
    SOME = 48,   /* ... of longer ones each fourth */
    RUN_END = 2, /* last pixels of a run of one pixel that are remembered: the others are as the first */
};

#define EACH_WAY UINT64_C(0x0001000100010001)

/* The low 16 bits of positions: there is one position of these bits within reach at most, and it is only
 * followed to bytes that match. */
struct deflate_lz {
    uint64_t near[1 << HASH_BITS]; /* WAYS positions of `reach` bytes, the newest lowest */
    uint16_t far[1 << HASH_BITS];  /* of twice as many */
    struct deflate_token token[TOKENS_MAX];
};

size_t deflate_lz_bytes(void) {
    return sizeof(struct deflate_lz);
}

struct match {
    unsigned length, distance; /* length 0: none */
};

struct lz_search {
    struct deflate_lz *memory;
    const uint8_t *data;
    size_t size, line;
    unsigned pixel; /* bytes */
    unsigned reach; /* bytes that a match by hashes has at least */
};

DEFLATE_INLINE uint64_t word_at(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

DEFLATE_INLINE unsigned match_length(const uint8_t *a, const uint8_t *b, unsigned most) {
    for (unsigned length = 0; length < most; length += WORD) {
        const uint64_t different = word_at(a + length) ^ word_at(b + length);
        if (different) {
            length += (unsigned)__builtin_ctzll(different) / 8;
            return length < most ? length : most;
        }
    }
    return most;
}

DEFLATE_INLINE uint32_t hash(uint64_t value) {
    return (uint32_t)(value * 0x9E3779B185EBCA87 >> (64 - HASH_BITS)); /* by 2^64 over the golden ratio */
}

/* The positions before with the same hashes, and `at` remembered in their place. What lies behind the data
 * has no part in hashes, and so no effect. */
DEFLATE_INLINE uint64_t visit(const struct lz_search *s, size_t at, uint16_t *far) {
    const uint8_t *p = s->data + at;
    const uint16_t here = (uint16_t)at;
    if (s->size - at < HASHED) {
        *far = here;
        return here * EACH_WAY;
    }
    const uint64_t first = word_at(p);
    uint64_t *a = &s->memory->near[hash(first << (64 - 8 * s->reach))];
    uint16_t *b = &s->memory->far[hash(first * 0x9E3779B185EBCA87 ^ word_at(p + 2 * s->reach - WORD))];
    const uint64_t near = *a;
    *far = *b;
    *a = near << 16 | here;
    *b = here;
    return near;
}

/* Whether the last of so many bytes are equal, up to a word: most matches that are too short end here. */
DEFLATE_INLINE bool may_match(const uint8_t *a, const uint8_t *b, unsigned length) {
    if (length < WORD) {
        return (word_at(a) ^ word_at(b)) << (8 * WORD - 8 * length) == 0;
    }
    return word_at(a + length - WORD) == word_at(b + length - WORD);
}

/* Takes the match of a distance if it has `least` bytes and is longer than the best. */
DEFLATE_INLINE void take(struct match *best, const struct lz_search *s, size_t at, size_t distance,
                         unsigned most, unsigned least) {
    const uint8_t *p = s->data + at;
    const unsigned wanted = best->length < least ? least : best->length + 1;
    if (wanted <= most && may_match(p, p - distance, wanted)) {
        const unsigned length = match_length(p, p - distance, most);
        if (length >= wanted) {
            *best = (struct match){length, (unsigned)distance};
        }
    }
}

/* Takes the best of the positions in the tables. A distance of 0 is none, and stands for no position. */
DEFLATE_INLINE void take_known(struct match *best, const struct lz_search *s, size_t at, uint64_t near,
                               uint16_t far, unsigned most) {
    const size_t reachable = at < DEFLATE_DISTANCE_MAX ? at : DEFLATE_DISTANCE_MAX;
    size_t distance = (uint16_t)(at - far);
    if (distance - 1 < reachable) {
        take(best, s, at, distance, most, s->reach);
    }
    for (unsigned i = 0; i < WAYS; i++, near >>= 16) {
        distance = (uint16_t)(at - near);
        if (distance - 1 >= reachable) {
            return;
        }
        take(best, s, at, distance, most, s->reach);
    }
}

/* The pixel before costs least, and the row above more than what is near: it has to be longer by two. */
DEFLATE_INLINE struct match find(const struct lz_search *s, size_t at) {
    const size_t left = s->size - at;
    const unsigned most = left < DEFLATE_MATCH_MAX ? (unsigned)left : DEFLATE_MATCH_MAX;
    struct match best = {0, 0};
    uint16_t far;
    const uint64_t near = visit(s, at, &far);
    if (at >= s->pixel) {
        take(&best, s, at, s->pixel, most, s->pixel > DEFLATE_MATCH_MIN ? s->pixel : DEFLATE_MATCH_MIN);
    }
    if (best.length >= NICE) {
        return best;
    }
    take_known(&best, s, at, near, far, most);
    if (at >= s->line && s->line <= DEFLATE_DISTANCE_MAX && best.length < NICE) {
        struct match above = {best.length + 1, 0};
        take(&above, s, at, s->line, most, s->reach);
        best = above.distance > 0 ? above : best;
    }
    return best;
}

struct lz_output {
    struct deflate_writer writer;
    size_t block;    /* where the block begins */
    size_t literals; /* where literals begin that no token has */
    size_t tokens;
};

static void end_block(struct lz_output *p, const struct lz_search *s, size_t end) {
    deflate_put_tokens(&p->writer, s->data + p->block, s->memory->token, p->tokens, end - p->literals);
    p->block = p->literals = end;
    p->tokens = 0;
}

/* Pixels behind `at`, of long matches a few, and of runs the last ones. */
DEFLATE_INLINE void remember(const struct lz_search *s, size_t at, const struct match *match) {
    const size_t end = at + match->length, run = match->length / s->pixel;
    const size_t step = (match->length >= LONG ? 16 : match->length >= SOME ? 4 : 1) * s->pixel;
    uint16_t far;
    if (match->distance == s->pixel && run > RUN_END + 1) {
        at += (run - RUN_END) * s->pixel;
    }
    for (at += s->pixel; at < end; at += step) {
        visit(s, at, &far);
    }
}

/* The row of a position, and the beginning of the next pixel from the position on. The filter byte of a row
 * is a pixel of its own. */
DEFLATE_INLINE size_t align(const struct lz_search *s, size_t *row, size_t at) {
    while (at - *row >= s->line) {
        *row += s->line;
    }
    const size_t column = at - *row, rest = column > 1 ? (column - 1) % s->pixel : 0;
    at += rest > 0 ? s->pixel - rest : 0;
    *row += at - *row >= s->line ? s->line : 0;
    return at;
}

DEFLATE_INLINE void search_rows(struct lz_output *p, const struct lz_search *s, size_t start) {
    size_t at = start, row = start;
    while (at < s->size) {
        const struct match match = find(s, at);
        if (match.length > 0) {
            const size_t end = at + match.length;
            s->memory->token[p->tokens++] = (struct deflate_token){
                (uint32_t)(at - p->literals), (uint16_t)match.length, (uint16_t)match.distance};
            remember(s, at, &match);
            p->literals = at = end;
            if (p->tokens == TOKENS_MAX) {
                end_block(p, s, at);
            }
        } else {
            at += at == row ? 1 : s->pixel;
        }
        at = align(s, &row, at);
    }
}

/* With fewer bytes more matches are found that cost as much as their bytes; with more fewer are found. */
DEFLATE_INLINE unsigned reach_of(unsigned pixel) {
    return pixel <= 4 ? pixel == 3 ? 6 : 4 : pixel;
}

/* Constants make faster code for the usual pixels. */
static void search_pixels(struct lz_output *p, struct lz_search s, size_t start) {
    switch (s.pixel) {
    case 1:
        s.pixel = 1, s.reach = reach_of(1);
        return search_rows(p, &s, start);
    case 3:
        s.pixel = 3, s.reach = reach_of(3);
        return search_rows(p, &s, start);
    case 4:
        s.pixel = 4, s.reach = reach_of(4);
        return search_rows(p, &s, start);
    default:
        return search_rows(p, &s, start);
    }
}

/* But for runs of one pixel. */
static void remember_history(const struct lz_search *s, size_t size) {
    uint16_t far;
    for (size_t row = 0; row < size; row += s->line) {
        visit(s, row, &far);
        for (size_t at = row + 1; at < row + s->line; at += s->pixel) {
            if (at < s->pixel || word_at(s->data + at) != word_at(s->data + at - s->pixel)) {
                visit(s, at, &far);
            }
        }
    }
}

size_t deflate_lz_most(size_t size) {
    return 2 * size + (size / (TOKENS_MAX * DEFLATE_MATCH_MIN) + 2) * DEFLATE_HEADER_MAX;
}

enum status deflate_lz_block(struct deflate_lz *memory, const struct deflate_lines *lines, struct buf *output,
                             struct error *err) {
    const struct lz_search search = {.memory = memory,
                                     .data = lines->data,
                                     .size = lines->size,
                                     .line = lines->line,
                                     .pixel = lines->pixel,
                                     .reach = reach_of(lines->pixel)};
    const size_t history = lines->history;
    enum status status = buf_reserve(output, deflate_lz_most(lines->size - history), err);
    if (status != ST_OK) {
        return status;
    }
    struct lz_output packed = {
        .writer = {.to = output->data + output->size}, .block = history, .literals = history};
    memset(memory, 0, offsetof(struct deflate_lz, token));
    remember_history(&search, history);
    search_pixels(&packed, search, history);
    end_block(&packed, &search, lines->size);
    deflate_put_filler(&packed.writer);
    output->size = (size_t)(packed.writer.to - output->data);
    return ST_OK;
}
