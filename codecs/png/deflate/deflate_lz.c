/* SPDX-License-Identifier: MIT */
#include "codecs/png/deflate/deflate_lz.h"

#include <stddef.h>

#include "codecs/png/deflate/deflate_tokens.h"

enum {
    HASH_BITS = 14,
    WAYS = 4,           /* positions for each hash of a few bytes: the last ones */
    TOKENS_MAX = 20000, /* of a block */
    WORD = 8,
    HASHED = 16, /* bytes of which a position's hashes are made at most */
    NICE = 96,   /* a match so long is taken without a further look */
    LONG = 128,  /* of longer ones each eighth pixel is remembered, ... */
    SOME = 48,   /* ... of longer ones each fourth */
};

/* Positions plus one; 0: none. */
struct deflate_lz {
    uint32_t near[1 << HASH_BITS][WAYS]; /* of `reach` bytes, the newest first */
    uint32_t far[1 << HASH_BITS];        /* of twice as many */
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
DEFLATE_INLINE void visit(const struct lz_search *s, size_t at, uint32_t *near, uint32_t *far) {
    const uint8_t *p = s->data + at;
    *far = 0;
    if (s->size - at < HASHED) {
        memset(near, 0, WAYS * sizeof(*near));
        return;
    }
    const uint64_t first = word_at(p);
    uint32_t *a = s->memory->near[hash(first << (64 - 8 * s->reach))];
    uint32_t *b = &s->memory->far[hash(first * 0x9E3779B185EBCA87 ^ word_at(p + 2 * s->reach - WORD))];
    *far = *b;
    for (unsigned i = WAYS; i-- > 0;) {
        near[i] = a[i];
        a[i] = i > 0 ? a[i - 1] : (uint32_t)at + 1;
    }
    *b = (uint32_t)at + 1;
}

/* Takes the match at `from` if it has `least` bytes and is longer than the best. */
DEFLATE_INLINE void take(struct match *best, const struct lz_search *s, size_t at, size_t from, unsigned most,
                         unsigned least) {
    if (at - from - 1 >= DEFLATE_DISTANCE_MAX) {
        return;
    }
    const unsigned length = match_length(s->data + at, s->data + from, most);
    if (length > best->length && length >= least) {
        *best = (struct match){length, (unsigned)(at - from)};
    }
}

/* The pixel before costs least, and the row above more than what is near: it has to be longer by two. */
DEFLATE_INLINE struct match find(const struct lz_search *s, size_t at) {
    const size_t left = s->size - at;
    const unsigned most = left < DEFLATE_MATCH_MAX ? (unsigned)left : DEFLATE_MATCH_MAX;
    struct match best = {0, 0};
    uint32_t near[WAYS], far;
    visit(s, at, near, &far);
    if (at >= s->pixel) {
        take(&best, s, at, at - s->pixel, most, s->pixel > DEFLATE_MATCH_MIN ? s->pixel : DEFLATE_MATCH_MIN);
    }
    if (best.length >= NICE) {
        return best;
    }
    if (far > 0) {
        take(&best, s, at, far - 1, most, s->reach);
    }
    for (unsigned i = 0; i < WAYS && near[i] > 0; i++) {
        take(&best, s, at, near[i] - 1, most, s->reach);
    }
    if (at >= s->line && best.length < NICE) {
        struct match above = {best.length + 1, 0};
        take(&above, s, at, at - s->line, most, s->reach);
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

/* Pixels behind `at`, of long matches a few. */
DEFLATE_INLINE void remember(const struct lz_search *s, size_t at, size_t end) {
    const size_t step = (end - at >= LONG ? 8 : end - at >= SOME ? 4 : 1) * s->pixel;
    uint32_t near[WAYS], far;
    for (at += s->pixel; at < end; at += step) {
        visit(s, at, near, &far);
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
            remember(s, at, end);
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

static void remember_history(const struct lz_search *s, size_t size) {
    uint32_t near[WAYS], far;
    for (size_t row = 0; row < size; row += s->line) {
        for (size_t column = 0; column < s->line; column += column == 0 ? 1 : s->pixel) {
            visit(s, row + column, near, &far);
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
