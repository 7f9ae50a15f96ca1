/* SPDX-License-Identifier: MIT
 * Code lengths are computed in place over the sorted counts (Moffat and Katajainen). */
#include "codecs/png/deflate/huffman.h"

#include <stdlib.h>
#include <string.h>

/* Count and symbol share a number, so that symbols sort by their counts. */
enum { SYMBOL_BITS = 10, SYMBOL_MASK = (1 << SYMBOL_BITS) - 1 };

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static unsigned sort_used(const uint32_t *counts, unsigned symbols, uint32_t *sorted) {
    unsigned used = 0;
    for (unsigned i = 0; i < symbols; i++) {
        if (counts[i] > 0) {
            sorted[used++] = counts[i] << SYMBOL_BITS | i;
        }
    }
    qsort(sorted, used, sizeof(*sorted), compare);
    return used;
}

/* Replaces ascending weights by the descending depths of their leaves in the optimal tree. Weights first
 * become parent indices, then depths of inner nodes, then depths of leaves. */
static void make_depths(uint32_t *a, unsigned n) {
    unsigned leaf = 0, root = 0;
    for (unsigned next = 0; next < n - 1; next++) {
        uint32_t weight = 0;
        for (unsigned child = 0; child < 2; child++) {
            if (leaf >= n || (root < next && a[root] < a[leaf])) {
                weight += a[root];
                a[root++] = next;
            } else {
                weight += a[leaf++];
            }
        }
        a[next] = weight;
    }
    a[n - 2] = 0;
    for (unsigned next = n - 2; next-- > 0;) {
        a[next] = a[a[next]] + 1;
    }
    unsigned inner = n - 1, free_nodes = 1, to = n; /* inner nodes not looked at; nodes at this depth */
    for (uint32_t depth = 0; free_nodes > 0; depth++) {
        unsigned used = 0;
        while (inner > 0 && a[inner - 1] == depth) {
            used++, inner--;
        }
        for (unsigned leaves = free_nodes - used; leaves > 0; leaves--) {
            a[--to] = depth;
        }
        free_nodes = 2 * used;
    }
}

/* Counts the codes of each length; none is longer than the limit. */
static void count_lengths(const uint32_t *depths, unsigned n, unsigned limit, unsigned *count) {
    memset(count, 0, (HUFFMAN_LENGTH_MAX + 1) * sizeof(*count));
    uint32_t room = 1u << limit, taken = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned length = depths[i] > limit ? limit : depths[i];
        count[length]++;
        taken += room >> length;
    }
    /* The shortened codes need too much room. Each round moves one of the longest codes beside a shorter
     * one; both are then one bit longer than the shorter one was, which frees one unit. */
    for (; taken > room; taken--) {
        unsigned length = limit - 1;
        while (count[length] == 0) {
            length--;
        }
        count[limit]--;
        count[length]--;
        count[length + 1] += 2;
    }
}

static uint16_t reverse(unsigned value, unsigned length) {
    unsigned result = 0;
    for (unsigned i = 0; i < length; i++) {
        result |= (value >> i & 1) << (length - 1 - i);
    }
    return (uint16_t)result;
}

/* Codes of one length ascend in symbol order. */
static void assign_bits(struct huffman_code *codes, unsigned symbols, const unsigned *count) {
    unsigned next[HUFFMAN_LENGTH_MAX + 2] = {0};
    for (unsigned length = 1; length <= HUFFMAN_LENGTH_MAX; length++) {
        next[length + 1] = (next[length] + count[length]) << 1;
    }
    for (unsigned i = 0; i < symbols; i++) {
        if (codes[i].length > 0) {
            codes[i].bits = reverse(next[codes[i].length]++, codes[i].length);
        }
    }
}

void huffman_make(const uint32_t *counts, unsigned symbols, unsigned limit, struct huffman_code *codes) {
    uint32_t sorted[HUFFMAN_SYMBOLS_MAX], depths[HUFFMAN_SYMBOLS_MAX];
    unsigned count[HUFFMAN_LENGTH_MAX + 1];
    unsigned used = sort_used(counts, symbols, sorted);
    for (unsigned i = 0; i < used; i++) {
        depths[i] = sorted[i] >> SYMBOL_BITS;
    }
    make_depths(depths, used);
    count_lengths(depths, used, limit, count);
    memset(codes, 0, symbols * sizeof(*codes));
    unsigned i = 0;
    for (unsigned length = limit; length > 0; length--) {
        for (unsigned k = 0; k < count[length]; k++) {
            codes[sorted[i++] & SYMBOL_MASK].length = (uint16_t)length;
        }
    }
    assign_bits(codes, symbols, count);
}
