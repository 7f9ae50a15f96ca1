/* SPDX-License-Identifier: MIT */
#include "codecs/png/deflate/deflate_rle.h"

#include "codecs/png/deflate/deflate_bits.h"
#include "codecs/png/deflate/deflate_symbols.h"
#include "codecs/png/deflate/huffman.h"
#include "core/processor.h"

enum {
    DISTANCE_SYMBOLS = 1, /* only distance 1, in one bit */
    CODE_MAX = 14,        /* bits: four codes and seven bits before them fit in a word */
    META_SYMBOLS = 16,    /* lengths of codes; none of the symbols that repeat lengths */
    META_CODE_MAX = 7,
    META_SENT = 19,
    HEADER_MAX = 512, /* upper bound of a block's header and end, in bytes */
    SAMPLE = 1024,    /* consecutive bytes whose symbols are counted, ... */
    SAMPLE_STEP = 4,  /* ... in one of so many */
    RUN_MIN = 12,
    WORD = 8,     /* bytes compared at once, and the shortest run */
    COUNTERS = 4, /* for each literal: adding to one counter twice in a row waits for the first addition */
};

struct code {
    uint32_t bits;
    uint32_t length;
};

struct codes {
    struct code literal[DEFLATE_LITERALS];
    struct code end;
    struct code run[DEFLATE_MATCH_MAX + 1]; /* includes the distance */
};

DEFLATE_INLINE uint64_t word_at(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

/* Length of the run of zeros at `p`; 0 if shorter than a word. */
DEFLATE_INLINE size_t count_zeros(const uint8_t *p, const uint8_t *end) {
    const uint8_t *start = p;
    if (word_at(p) != 0) {
        return 0;
    }
    for (p += WORD; end - p >= WORD; p += WORD) {
        uint64_t word = word_at(p);
        if (word != 0) {
            return (size_t)(p - start) + (unsigned)__builtin_ctzll(word) / 8;
        }
    }
    while (p < end && *p == 0) {
        p++;
    }
    return (size_t)(p - start);
}

/* Length of the next match in a run of `left` zeros; 0 when too few are left. */
static unsigned match_size(size_t left) {
    return left > DEFLATE_MATCH_MAX ? DEFLATE_MATCH_MAX : left >= DEFLATE_MATCH_MIN ? (unsigned)left : 0;
}

static void count_run(uint32_t *counts, size_t size) {
    counts[0]++;
    size_t left = size - 1;
    unsigned match, extra_bits, extra;
    while ((match = match_size(left)) > 0) {
        counts[deflate_length_symbol(match, &extra_bits, &extra)]++;
        left -= match;
    }
    counts[0] += (uint32_t)left;
}

struct counts {
    uint32_t symbol[DEFLATE_SYMBOLS];
    uint32_t literal[COUNTERS][DEFLATE_LITERALS];
};

static void count_part(struct counts *counts, const uint8_t *p, const uint8_t *end) {
    while (end - p >= WORD) {
        size_t zeros = count_zeros(p, end);
        if (zeros >= RUN_MIN) {
            count_run(counts->symbol, zeros);
            p += zeros;
        } else {
            for (unsigned i = 0; i < WORD; i++) {
                counts->literal[i % COUNTERS][p[i]]++;
            }
            p += WORD;
        }
    }
}

/* The largest distance of any byte from 0; 255 is at 1. */
static unsigned find_reach(const uint8_t *data, size_t size) {
    uint8_t reach = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t negative = (uint8_t)-data[i];
        uint8_t distance = data[i] < negative ? data[i] : negative;
        reach = distance > reach ? distance : reach;
    }
    return reach;
}

/* Only a sample is counted, so every symbol that may occur gets a code. Other symbols get none, as unused
 * codes lengthen all others. */
static void make_codes(const uint8_t *data, size_t size, struct huffman_code *made) {
    unsigned reach = find_reach(data, size);
    struct counts counts = {0};
    for (size_t at = 0; at < size; at += (size_t)SAMPLE * SAMPLE_STEP) {
        count_part(&counts, data + at, data + (size - at > SAMPLE ? at + SAMPLE : size));
    }
    for (unsigned i = 0; i < DEFLATE_SYMBOLS; i++) {
        counts.symbol[i] += i <= reach || i >= DEFLATE_LITERALS - reach;
        for (unsigned k = 0; i < DEFLATE_LITERALS && k < COUNTERS; k++) {
            counts.symbol[i] += counts.literal[k][i];
        }
    }
    huffman_make(counts.symbol, DEFLATE_SYMBOLS, CODE_MAX, made);
}

static void make_tables(const struct huffman_code *made, struct codes *codes) {
    for (unsigned i = 0; i < DEFLATE_LITERALS; i++) {
        codes->literal[i] = (struct code){made[i].bits, made[i].length};
    }
    codes->end = (struct code){made[DEFLATE_END].bits, made[DEFLATE_END].length};
    for (unsigned length = DEFLATE_MATCH_MIN; length <= DEFLATE_MATCH_MAX; length++) {
        unsigned extra_bits, extra;
        const struct huffman_code *code = &made[deflate_length_symbol(length, &extra_bits, &extra)];
        codes->run[length] = (struct code){code->bits | extra << code->length, /* the distance is a 0 */
                                           code->length + extra_bits + DISTANCE_SYMBOLS};
    }
}

/* Writes the block type and the coded lengths of its codes. */
static void put_header(struct deflate_writer *writer, const struct huffman_code *made) {
    static const uint8_t order[META_SENT] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t counts[META_SYMBOLS] = {[1] = 1}; /* the distance's */
    for (unsigned i = 0; i < DEFLATE_SYMBOLS; i++) {
        counts[made[i].length]++;
    }
    struct huffman_code meta[META_SYMBOLS];
    huffman_make(counts, META_SYMBOLS, META_CODE_MAX, meta);
    deflate_put(writer, 0 | 2 << 1, 3); /* not the last block, dynamic codes */
    deflate_put(writer, DEFLATE_SYMBOLS - DEFLATE_LENGTHS, 5);
    deflate_put(writer, DISTANCE_SYMBOLS - 1, 5);
    deflate_put(writer, META_SENT - 4, 4);
    deflate_flush(writer);
    for (unsigned i = 0; i < META_SENT; i++) {
        deflate_put(writer, order[i] < META_SYMBOLS ? meta[order[i]].length : 0, 3);
        deflate_flush(writer);
    }
    for (unsigned i = 0; i < DEFLATE_SYMBOLS; i++) {
        deflate_put(writer, meta[made[i].length].bits, meta[made[i].length].length);
        deflate_flush(writer);
    }
    deflate_put(writer, meta[1].bits, meta[1].length);
    deflate_flush(writer);
}

static void put_run(struct deflate_writer *writer, const struct codes *codes, size_t size) {
    deflate_put(writer, codes->literal[0].bits, codes->literal[0].length);
    deflate_flush(writer);
    size_t left = size - 1;
    unsigned match;
    while ((match = match_size(left)) > 0) {
        deflate_put(writer, codes->run[match].bits, codes->run[match].length);
        deflate_flush(writer);
        left -= match;
    }
    for (; left > 0; left--) {
        deflate_put(writer, codes->literal[0].bits, codes->literal[0].length);
    }
    deflate_flush(writer);
}

/* Joins four codes in pairs, which shortens the dependency chain. */
DEFLATE_INLINE void put_four(struct deflate_writer *writer, const struct codes *codes, const uint8_t *p) {
    const struct code *a = &codes->literal[p[0]], *b = &codes->literal[p[1]];
    const struct code *c = &codes->literal[p[2]], *d = &codes->literal[p[3]];
    uint64_t low = a->bits | b->bits << a->length, high = c->bits | d->bits << c->length;
    unsigned low_length = a->length + b->length;
    deflate_put(writer, low | high << low_length, low_length + c->length + d->length);
    deflate_flush(writer);
}

DEFLATE_INLINE void put_data(struct deflate_writer *to, const struct codes *codes, const uint8_t *p,
                             const uint8_t *end) {
    struct deflate_writer writer = *to;
    while (end - p >= WORD) {
        size_t zeros = count_zeros(p, end);
        if (zeros >= RUN_MIN) {
            put_run(&writer, codes, zeros);
            p += zeros;
        } else {
            put_four(&writer, codes, p);
            put_four(&writer, codes, p + 4);
            p += WORD;
        }
    }
    for (; p < end; p++) {
        deflate_put(&writer, codes->literal[*p].bits, codes->literal[*p].length);
        deflate_flush(&writer);
    }
    deflate_put(&writer, codes->end.bits, codes->end.length);
    deflate_flush(&writer);
    *to = writer;
}

/* The same with shifts by any register, of which there are five for four bytes. */
#if defined(__x86_64__)
__attribute__((target("bmi,bmi2"))) static void
put_data_bmi2(struct deflate_writer *to, const struct codes *codes, const uint8_t *p, const uint8_t *end) {
    put_data(to, codes, p, end);
}
#else
#define put_data_bmi2 put_data
#endif

enum status deflate_rle_block(const uint8_t *data, size_t size, struct buf *output, struct error *err) {
    enum status status = buf_reserve(output, size / 4 * 7 + HEADER_MAX, err);
    if (status != ST_OK) {
        return status;
    }
    struct huffman_code made[DEFLATE_SYMBOLS];
    struct codes codes;
    struct deflate_writer writer = {.to = output->data + output->size};
    make_codes(data, size, made);
    make_tables(made, &codes);
    put_header(&writer, made);
    if (processor_allows(PROCESSOR_AVX2)) {
        put_data_bmi2(&writer, &codes, data, data + size);
    } else {
        put_data(&writer, &codes, data, data + size);
    }
    deflate_put_filler(&writer);
    output->size = (size_t)(writer.to - output->data);
    return ST_OK;
}

enum status deflate_rle_end(struct buf *output, struct error *err) {
    /* An empty last block with fixed codes: seven zero bits end it. */
    static const uint8_t block[] = {1 | 1 << 1, 0};
    return buf_append(output, block, sizeof(block), err);
}
