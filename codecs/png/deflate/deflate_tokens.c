/* SPDX-License-Identifier: MIT */
#include "codecs/png/deflate/deflate_tokens.h"

#include <stdbool.h>

#include "codecs/png/deflate/huffman.h"
#include "core/processor.h"

enum {
    DISTANCES = 30,
    CODE_MAX = 14, /* bits: four literals, or a match, and seven bits before them fit in a word */
    COUNTERS = 4,  /* for each literal: adding to one counter twice in a row waits for the first addition */
    LENGTHS = DEFLATE_SYMBOLS + DISTANCES,
    META_SYMBOLS = 19,
    META_CODE_MAX = 7,
    REPEAT = 16, /* the length before, 3 to 6 times */
    ZEROS = 17,  /* 3 to 10 */
    MANY_ZEROS = 18,
};

struct token_code {
    uint32_t bits;
    uint32_t length;
};

struct token_codes {
    struct token_code literal[DEFLATE_LITERALS];
    struct token_code match[DEFLATE_MATCH_MAX + 1]; /* by length, with the extra bits */
    struct huffman_code distance[DISTANCES];
    struct huffman_code made[DEFLATE_SYMBOLS];
};

/* Four distances of one each, then pairs of symbols for distances in steps of 2, 4 and so on. */
DEFLATE_INLINE unsigned distance_symbol(unsigned distance, unsigned *extra_bits, unsigned *extra) {
    unsigned rest = distance - 1;
    unsigned bits = rest < 4 ? 0 : 30u - (unsigned)__builtin_clz(rest);
    *extra_bits = bits;
    *extra = rest & ((1u << bits) - 1);
    return 2 * bits + (rest >> bits);
}

struct token_counts {
    uint32_t symbol[DEFLATE_SYMBOLS];
    uint32_t distance[DISTANCES];
    uint32_t literal[COUNTERS][DEFLATE_LITERALS];
    uint32_t length[DEFLATE_MATCH_MAX + 1];
};

DEFLATE_INLINE const uint8_t *count_literals(struct token_counts *counts, const uint8_t *p, size_t size) {
    for (; size >= COUNTERS; size -= COUNTERS, p += COUNTERS) {
        for (unsigned i = 0; i < COUNTERS; i++) {
            counts->literal[i][p[i]]++;
        }
    }
    for (; size > 0; size--) {
        counts->literal[0][*p++]++;
    }
    return p;
}

static void count(struct token_counts *counts, const uint8_t *p, const struct deflate_token *tokens,
                  size_t token_count, size_t tail) {
    unsigned extra_bits, extra;
    for (size_t i = 0; i < token_count; i++) {
        p = count_literals(counts, p, tokens[i].literals) + tokens[i].length;
        counts->length[tokens[i].length]++;
        counts->distance[distance_symbol(tokens[i].distance, &extra_bits, &extra)]++;
    }
    count_literals(counts, p, tail);
    for (unsigned i = 0; i < DEFLATE_LITERALS; i++) {
        for (unsigned k = 0; k < COUNTERS; k++) {
            counts->symbol[i] += counts->literal[k][i];
        }
    }
    for (unsigned length = DEFLATE_MATCH_MIN; length <= DEFLATE_MATCH_MAX; length++) {
        counts->symbol[deflate_length_symbol(length, &extra_bits, &extra)] += counts->length[length];
    }
    counts->symbol[DEFLATE_END] = 1;
}

/* huffman_make needs two. */
static void have_two(uint32_t *counts, unsigned size) {
    unsigned used = 0;
    for (unsigned i = 0; i < size; i++) {
        used += counts[i] > 0;
    }
    for (unsigned i = 0; used < 2; i++) {
        used += counts[i] == 0;
        counts[i] += counts[i] == 0;
    }
}

static void make_codes(struct token_counts *counts, struct token_codes *codes) {
    have_two(counts->symbol, DEFLATE_SYMBOLS);
    have_two(counts->distance, DISTANCES);
    huffman_make(counts->symbol, DEFLATE_SYMBOLS, CODE_MAX, codes->made);
    huffman_make(counts->distance, DISTANCES, CODE_MAX, codes->distance);
    for (unsigned i = 0; i < DEFLATE_LITERALS; i++) {
        codes->literal[i] = (struct token_code){codes->made[i].bits, codes->made[i].length};
    }
    for (unsigned length = DEFLATE_MATCH_MIN; length <= DEFLATE_MATCH_MAX; length++) {
        unsigned extra_bits, extra;
        const struct huffman_code *code = &codes->made[deflate_length_symbol(length, &extra_bits, &extra)];
        codes->match[length] =
            (struct token_code){code->bits | extra << code->length, code->length + extra_bits};
    }
}

/* The lengths of all codes as symbols, of which some stand for repetitions. */
struct meta {
    uint8_t symbol[LENGTHS], extra[LENGTHS];
    unsigned size;
};

static void put_meta(struct meta *meta, unsigned symbol, unsigned extra) {
    meta->symbol[meta->size] = (uint8_t)symbol;
    meta->extra[meta->size++] = (uint8_t)extra;
}

static void make_meta(struct meta *meta, const uint8_t *lengths, unsigned size) {
    for (unsigned at = 0, run; at < size; at += run) {
        for (run = 1; at + run < size && lengths[at + run] == lengths[at] && run < 138; run++) {
        }
        if (lengths[at] == 0 && run >= 3) {
            put_meta(meta, run > 10 ? MANY_ZEROS : ZEROS, run - (run > 10 ? 11 : 3));
            continue;
        }
        run = run > 7 ? 7 : run; /* one, and six repetitions */
        put_meta(meta, lengths[at], 0);
        if (run >= 4) {
            put_meta(meta, REPEAT, run - 4);
        } else {
            run = 1;
        }
    }
}

static unsigned used_of(const struct huffman_code *codes, unsigned size, unsigned least) {
    while (size > least && codes[size - 1].length == 0) {
        size--;
    }
    return size;
}

static void put_header(struct deflate_writer *writer, const struct token_codes *codes) {
    static const uint8_t order[META_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    static const uint8_t extra_bits[META_SYMBOLS] = {[REPEAT] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7};
    const unsigned symbols = used_of(codes->made, DEFLATE_SYMBOLS, DEFLATE_LENGTHS),
                   distances = used_of(codes->distance, DISTANCES, 1);
    uint8_t lengths[LENGTHS];
    struct meta meta = {.size = 0};
    uint32_t counts[META_SYMBOLS] = {0};
    struct huffman_code made[META_SYMBOLS];
    unsigned sent = META_SYMBOLS;
    for (unsigned i = 0; i < symbols + distances; i++) {
        lengths[i] = (uint8_t)(i < symbols ? codes->made[i].length : codes->distance[i - symbols].length);
    }
    make_meta(&meta, lengths, symbols + distances);
    for (unsigned i = 0; i < meta.size; i++) {
        counts[meta.symbol[i]]++;
    }
    have_two(counts, META_SYMBOLS);
    huffman_make(counts, META_SYMBOLS, META_CODE_MAX, made);
    while (sent > 4 && made[order[sent - 1]].length == 0) {
        sent--;
    }
    deflate_put(writer, 0 | 2 << 1, 3); /* not the last block, dynamic codes */
    deflate_put(writer, symbols - DEFLATE_LENGTHS, 5);
    deflate_put(writer, distances - 1, 5);
    deflate_put(writer, sent - 4, 4);
    deflate_flush(writer);
    for (unsigned i = 0; i < sent; i++) {
        deflate_put(writer, made[order[i]].length, 3);
        deflate_flush(writer);
    }
    for (unsigned i = 0; i < meta.size; i++) {
        const struct huffman_code *code = &made[meta.symbol[i]];
        deflate_put(writer, code->bits | (uint64_t)meta.extra[i] << code->length,
                    code->length + extra_bits[meta.symbol[i]]);
        deflate_flush(writer);
    }
}

/* Joins four codes in pairs, which shortens the dependency chain. */
DEFLATE_INLINE const uint8_t *put_literals(struct deflate_writer *writer, const struct token_code *literal,
                                           const uint8_t *p, size_t size) {
    for (; size >= 4; size -= 4, p += 4) {
        const struct token_code *a = &literal[p[0]], *b = &literal[p[1]], *c = &literal[p[2]],
                                *d = &literal[p[3]];
        const uint64_t low = a->bits | b->bits << a->length, high = c->bits | d->bits << c->length;
        const unsigned low_length = a->length + b->length;
        deflate_put(writer, low | high << low_length, low_length + c->length + d->length);
        deflate_flush(writer);
    }
    for (; size > 0; size--, p++) {
        deflate_put(writer, literal[*p].bits, literal[*p].length);
    }
    deflate_flush(writer);
    return p;
}

DEFLATE_INLINE void put_match(struct deflate_writer *writer, const struct token_codes *codes,
                              const struct deflate_token *token) {
    unsigned extra_bits, extra;
    const struct token_code *length = &codes->match[token->length];
    const struct huffman_code *code = &codes->distance[distance_symbol(token->distance, &extra_bits, &extra)];
    deflate_put(writer, length->bits, length->length);
    deflate_put(writer, code->bits | (uint64_t)extra << code->length, code->length + extra_bits);
    deflate_flush(writer);
}

DEFLATE_INLINE void put_data(struct deflate_writer *to, const struct token_codes *codes, const uint8_t *p,
                             const struct deflate_token *tokens, size_t token_count, size_t tail) {
    struct deflate_writer writer = *to;
    for (size_t i = 0; i < token_count; i++) {
        p = put_literals(&writer, codes->literal, p, tokens[i].literals) + tokens[i].length;
        put_match(&writer, codes, &tokens[i]);
    }
    put_literals(&writer, codes->literal, p, tail);
    deflate_put(&writer, codes->made[DEFLATE_END].bits, codes->made[DEFLATE_END].length);
    deflate_flush(&writer);
    *to = writer;
}

/* The same with shifts by any register. */
#if defined(__x86_64__)
__attribute__((target("bmi,bmi2"))) static void
put_data_bmi2(struct deflate_writer *to, const struct token_codes *codes, const uint8_t *p,
              const struct deflate_token *tokens, size_t token_count, size_t tail) {
    put_data(to, codes, p, tokens, token_count, tail);
}
#else
#define put_data_bmi2 put_data
#endif

void deflate_put_tokens(struct deflate_writer *writer, const uint8_t *data,
                        const struct deflate_token *tokens, size_t token_count, size_t tail) {
    struct token_counts counts = {0};
    struct token_codes codes;
    count(&counts, data, tokens, token_count, tail);
    make_codes(&counts, &codes);
    put_header(writer, &codes);
    if (processor_allows(PROCESSOR_AVX2)) {
        put_data_bmi2(writer, &codes, data, tokens, token_count, tail);
    } else {
        put_data(writer, &codes, data, tokens, token_count, tail);
    }
}
