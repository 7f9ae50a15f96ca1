/* SPDX-License-Identifier: MIT
 * Reads the Huffman codes of a part of a JPEG's scan, from any state, out of what gpu/jpeg/huffman_clean.cuh
 * leaves of it. A state between two codes is the bit, the block in its MCU and the index in the block. It is
 * packed with its bit relative to the end of the part before: no code is longer than 27 bits. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_READ_CUH
#define BLURD_GPU_JPEG_HUFFMAN_READ_CUH

#include "gpu/jpeg/huffman_clean.cuh"

enum {
    SYNC_COEFFICIENTS = 64,
    SYNC_WORD = 32,
    SYNC_CODE = 16 /* bits */,
    SYNC_RARE = 1 << KERNEL_SYNC_STEP_SHIFT
};
enum {
    SYNC_K_SHIFT = 5,
    SYNC_BLOCK_SHIFT = 11,
    SYNC_WRONG = 1 << 15,
    SYNC_PLACE = SYNC_WRONG - 1,
    SYNC_BLOCKS_SHIFT = 16
};

/* The clean bytes, and tables for pairs of codes where they are used, and for single ones. */
struct sync_source {
    const struct sync_clean &clean;
    const struct sync_tables &tables, &singles;
};

struct sync_way {
    const uint32_t *next;   /* the word behind `low` */
    uint32_t high, low;     /* words; the bit is in the first one */
    uint32_t bit, refill;   /* position; that of the second word */
    uint32_t block, k;      /* the block in its MCU; the coefficient in its block */
    uint32_t blocks, over;  /* blocks that ended; the least number of coefficients too many, less 1 */
    bool wrong;             /* another error was met */
    uint32_t markers, last; /* as in struct sync_part; blocks that ended before the last marker */
};

/* Sets the position. */
static __device__ __forceinline__ void sync_seek(struct sync_way &way, const struct sync_clean &clean,
                                                 uint32_t bit) {
    uint32_t word = bit / SYNC_WORD, row = word % (KERNEL_SYNC_PIECE / 4),
             piece = word / (KERNEL_SYNC_PIECE / 4);
    const uint32_t *at =
        clean.words + min(row * KERNEL_SYNC_ROW + piece, (uint32_t)KERNEL_SYNC_WORDS - 3 * KERNEL_SYNC_ROW);
    way.bit = bit;
    way.refill = (word + 1) * SYNC_WORD;
    way.high = at[0];
    way.low = at[KERNEL_SYNC_ROW];
    way.next = at + 2 * KERNEL_SYNC_ROW;
}

/* Moves by less than a word; `next` is the next word. */
static __device__ __forceinline__ void sync_skip(struct sync_way &way, uint32_t bits, uint32_t next) {
    way.bit += bits;
    if (way.bit >= way.refill) {
        way.high = way.low;
        way.low = next;
        way.refill += SYNC_WORD;
        way.next += KERNEL_SYNC_ROW;
    }
}

/* The entry of a code that is longer than the look-up, or of none. */
static __device__ __forceinline__ uint32_t sync_long_code(const struct sync_codes &codes, uint32_t bits) {
    int longer = 0;
    for (int i = 0; i < KERNEL_SYNC_LONG; i++) { /* limits never decrease */
        longer += bits >= codes.limit[i] ? 1 : 0;
    }
    int at = (int)(bits >> max(KERNEL_SYNC_LONG - 1 - longer, 0)) + codes.first[longer];
    return longer < KERNEL_SYNC_LONG ? codes.code[at & 255] : (uint32_t)KERNEL_SYNC_NO_CODE;
}

struct sync_ignore {
    __device__ __forceinline__ void take(const struct sync_way &, uint32_t, uint32_t) {
    }
    __device__ __forceinline__ void pause() {
    }
};

/* The entry of a code that the look-up does not have, or of the first of a pair that ends its block. */
static __device__ __forceinline__ uint32_t sync_rare(struct sync_way &way, const struct sync_codes &codes,
                                                     const struct sync_codes &singles, uint32_t entry,
                                                     uint32_t window, uint32_t stop) {
    if (entry == 0) {
        entry = sync_long_code(codes, window >> (SYNC_WORD - SYNC_CODE));
    } else if (entry >= SYNC_RARE) {
        entry = singles.look[window >> (SYNC_WORD - KERNEL_SYNC_LOOK)];
    }
    if (entry == KERNEL_SYNC_NO_CODE && way.bit + KERNEL_SYNC_NO_CODE <= stop) {
        way.over = 0; /* the guessed state may be wrong: try the next bit */
        entry = 1;
    }
    return entry;
}

static __device__ __forceinline__ const struct sync_codes &sync_codes_at(const struct sync_tables &tables,
                                                                         uint32_t bytes) {
    return *(const struct sync_codes *)((const uint8_t *)tables.codes + bytes);
}

/* Reads codes up to a bit, one or two in a turn. If the stop may be near, it returns true when the next code
 * would end behind the stop. The taker receives the bits and the entry of each code. Its time is that of a
 * chain of dependent instructions, so what the next turn may need is loaded before. */
template <bool Near, bool Pairs, class Taker>
static __device__ __forceinline__ bool sync_turns(struct sync_way &way, const struct sync_source &source,
                                                  uint32_t end, uint32_t stop, Taker &taker) {
    const struct sync_tables &tables = source.tables;
    struct sync_block block = tables.block[way.block];
    uint32_t table = way.k == 0 ? block.dc : block.ac;
    while (way.bit < end) {
        const struct sync_block next_block = tables.block[block.next];
        uint32_t window = __funnelshift_l(way.low, way.high, way.bit), next = *way.next;
        const struct sync_codes &codes = sync_codes_at(Pairs ? tables : source.singles, table);
        uint32_t entry = codes.look[window >> (SYNC_WORD - KERNEL_SYNC_LOOK)];
        if (entry < SYNC_RARE ||
            (Pairs && way.k + (entry >> KERNEL_SYNC_VALUE_SHIFT & 15) >= SYNC_COEFFICIENTS)) {
            entry = sync_rare(way, codes, sync_codes_at(source.singles, table), entry, window, stop);
        }
        uint32_t bits = entry % (1u << KERNEL_SYNC_VALUE_SHIFT);
        if (Near && way.bit + bits > stop) {
            return true;
        }
        taker.take(way, window, entry);
        way.k += entry >> KERNEL_SYNC_STEP_SHIFT;
        way.over = min(way.over, way.k - SYNC_COEFFICIENTS - 1);
        bool ends = way.k >= SYNC_COEFFICIENTS;
        table = ends ? block.next_dc : block.ac;
        if (ends) {
            way.k = 0;
            way.blocks++;
            way.block = block.next;
            block = next_block;
        }
        sync_skip(way, bits, next);
    }
    return false;
}

/* Reads on where one word repeats up to `end` and beyond, as in flat areas: a state that comes again a number
 * of words later will come again and again, so the rest is counted. Looks for it as R. Brent's method does.
 * Stops before the end. */
static __device__ __forceinline__ void sync_repeat(struct sync_way &way, const struct sync_source &source,
                                                   uint32_t end) {
    struct sync_ignore ignore;
    uint32_t bit = way.bit, k = way.k, block = way.block, blocks = way.blocks;
    for (uint32_t count = 0, most = 1; way.bit + SYNC_WORD < end;) {
        sync_turns<false, true>(way, source, way.bit + SYNC_WORD, KERNEL_SYNC_NEVER, ignore);
        uint32_t period = way.bit - bit;
        if (period % SYNC_WORD == 0 && way.k == k && way.block == block) {
            uint32_t times = end > way.bit ? (end - way.bit) / period : 0;
            way.blocks += times * (way.blocks - blocks);
            sync_seek(way, source.clean, way.bit + times * period);
            return;
        }
        if (++count == most) {
            bit = way.bit, k = way.k, block = way.block, blocks = way.blocks;
            most *= 2;
            count = 0;
        }
    }
}

/* The first marker behind `after`, or the scan's end. Markers much behind `end` do not count. */
static __device__ __forceinline__ uint32_t sync_stop(const struct sync_clean &clean, uint32_t after,
                                                     uint32_t end) {
    uint32_t most = end / SYNC_BYTE + 2 * SYNC_WORD / SYNC_BYTE;
    for (uint32_t at = after / SYNC_BYTE + 1; at <= most; at = (at / 32 + 1) * 32) {
        uint32_t marks = clean.marks[at / 32] >> at % 32;
        if (marks) {
            return min((at + 31 - (uint32_t)__clz((int)(marks & (0 - marks)))) * SYNC_BYTE, clean.stop);
        }
    }
    return clean.stop;
}

/* Skips the padding before a marker or the end. Only bits of 1 pad, and only after a whole MCU. */
static __device__ __forceinline__ void sync_pause(struct sync_way &way, const struct sync_tables &tables,
                                                  uint32_t stop, bool end) {
    uint32_t rest = stop - way.bit, window = __funnelshift_l(way.low, way.high, way.bit);
    bool padding = rest < SYNC_BYTE && (rest == 0 || ~window >> (SYNC_WORD - rest) == 0);
    way.wrong = way.wrong || !padding || way.k != 0 || way.block != 0;
    way.k = way.block = 0;
    if (rest < SYNC_WORD) {
        sync_skip(way, rest, *way.next);
    }
    if (!end) {
        way.wrong = way.wrong || tables.interval == 0 ||
                    (way.markers > 0 && way.blocks - way.last != tables.interval);
        way.markers += way.markers == 0 ? 1u << 16 | way.blocks : 1u << 16;
        way.last = way.blocks;
    }
}

/* The bit with which a part begins, or the one before ends. */
static __device__ __forceinline__ uint32_t sync_edge(const struct sync_clean &clean, uint32_t part) {
    return min(max(part * KERNEL_SYNC_PART, clean.first), clean.end) * SYNC_BYTE;
}

/* Reads a part, which has the markers behind its first bit up to its end, and at most `more` bits behind it.
 * A second code of a pair may lie behind it, too. */
template <bool Pairs, class Taker>
static __device__ __forceinline__ struct sync_part sync_read(const struct sync_source &source, uint32_t part,
                                                             uint32_t from, uint32_t more, Taker &taker) {
    uint32_t begin = sync_edge(source.clean, part), end = sync_edge(source.clean, part + 1);
    struct sync_way way = {};
    way.over = KERNEL_SYNC_NEVER;
    way.k = from >> SYNC_K_SHIFT & (SYNC_COEFFICIENTS - 1);
    way.block = from >> SYNC_BLOCK_SHIFT & (KERNEL_SYNC_BLOCKS - 1);
    sync_seek(way, source.clean, begin + from % SYNC_WORD);
    for (uint32_t after = begin; after < end;) {
        uint32_t stop = source.tables.interval ? sync_stop(source.clean, after, end) : source.clean.stop;
        bool far = stop > end && stop - end >= 2 * SYNC_WORD;
        if (Pairs && far && (source.clean.uniform[part / 32] >> part % 32 & 1)) {
            sync_repeat(way, source, end);
        }
        if (far ? !sync_turns<false, Pairs>(way, source, end + more, stop, taker)
                : !sync_turns<true, false>(way, source, min(end + more, stop), stop, taker) && stop > end) {
            break;
        }
        sync_pause(way, source.tables, stop, stop == source.clean.stop);
        taker.pause();
        after = stop;
    }
    bool wrong = way.wrong || way.over < KERNEL_SYNC_END - SYNC_COEFFICIENTS - 1;
    uint32_t exit = (way.bit - end) % SYNC_WORD | way.k << SYNC_K_SHIFT | way.block << SYNC_BLOCK_SHIFT;
    struct sync_part result = {exit | (wrong ? (uint32_t)SYNC_WRONG : 0) | way.blocks << SYNC_BLOCKS_SHIFT,
                               way.markers};
    return result;
}

#endif
