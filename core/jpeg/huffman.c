/* SPDX-License-Identifier: MIT */
#include "core/jpeg/huffman.h"

#include <string.h>

enum {
    NODES_MAX = 2 * (JPEG_SYMBOLS + 1), /* leaves and joined nodes of the tree */
    DEPTH_MAX = JPEG_SYMBOLS,           /* of the tree, in bits */
    END = JPEG_SYMBOLS,                 /* a symbol of its own, so that no code consists of ones alone */
    PLACE_BITS = 9,                     /* hold symbols and END; frequencies are below 2^54 */
};

static const struct jpeg_huffman standard[JPEG_CODE_TABLES] = {
    {0x00,
     {0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
     {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}},
    {0x10,
     {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
     {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22,
      0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33,
      0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34,
      0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55,
      0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76,
      0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96,
      0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5,
      0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4,
      0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1,
      0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}},
    {0x01,
     {0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0},
     {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}},
    {0x11,
     {0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
     {0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13,
      0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62,
      0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29,
      0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54,
      0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75,
      0x76, 0x77, 0x78, 0x79, 0x7a, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94,
      0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3,
      0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2,
      0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea,
      0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}},
};

uint32_t jpeg_huffman_size(const struct jpeg_huffman *codes) {
    uint32_t size = 0;
    for (unsigned i = 0; i < JPEG_CODE_LENGTHS; i++) {
        size += codes->count[i];
    }
    return size;
}

const struct jpeg_huffman *jpeg_huffman_standard(unsigned table) {
    return &standard[table];
}

/* Nodes of the tree that have no parent yet, as a heap with the rarest one on top; of equal ones that with
 * the largest symbol. A joined node has the symbol of its rarer child. An entry is frequency << PLACE_BITS |
 * place, where places count down from the largest symbol. */
struct heap {
    unsigned count;
    uint64_t entry[JPEG_SYMBOLS + 1];
    uint16_t node[JPEG_SYMBOLS + 1]; /* of the place */
};

/* Moves the entry down to where it belongs. */
static void sift(struct heap *heap, unsigned at) {
    uint64_t moved = heap->entry[at];
    for (unsigned child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && heap->entry[child + 1] < heap->entry[child];
        if (moved <= heap->entry[child]) {
            break;
        }
        heap->entry[at] = heap->entry[child];
        at = child;
    }
    heap->entry[at] = moved;
}

static uint64_t take_rarest(struct heap *heap) {
    uint64_t rarest = heap->entry[0];
    heap->entry[0] = heap->entry[--heap->count];
    sift(heap, 0);
    return rarest;
}

/* Joins the two rarest nodes. */
static void join(struct heap *heap, uint16_t parent[NODES_MAX], unsigned node) {
    const uint64_t places = (1 << PLACE_BITS) - 1;
    uint64_t rarest = take_rarest(heap), other = heap->entry[0];
    parent[heap->node[rarest & places]] = parent[heap->node[other & places]] = (uint16_t)node;
    heap->node[rarest & places] = (uint16_t)node;
    heap->entry[0] = rarest + (other & ~places);
    sift(heap, 0);
}

/* Computes the depth of each symbol in the Huffman tree, which is the length of its code. The depth of a
 * symbol that does not occur is 0. */
static void find_depths(const uint64_t *frequency, uint16_t depth[JPEG_SYMBOLS + 1]) {
    struct heap heap = {0};
    uint16_t parent[NODES_MAX], node_depth[NODES_MAX], leaf[JPEG_SYMBOLS + 1];
    unsigned nodes = 0;
    for (uint16_t symbol = 0; symbol <= END; symbol++) {
        uint64_t times = symbol == END ? 1 : frequency[symbol], place = END - symbol;
        if (times > 0) {
            leaf[nodes] = symbol;
            heap.node[place] = (uint16_t)nodes++;
            heap.entry[heap.count++] = times << PLACE_BITS | place;
        }
    }
    unsigned leaves = heap.count;
    for (unsigned i = leaves / 2; i-- > 0;) {
        sift(&heap, i);
    }
    while (heap.count > 1) {
        join(&heap, parent, nodes++);
    }
    memset(depth, 0, (JPEG_SYMBOLS + 1) * sizeof *depth);
    node_depth[nodes - 1] = 0;
    for (unsigned i = nodes - 1; i-- > 0;) {
        node_depth[i] = (uint16_t)(node_depth[parent[i]] + 1);
    }
    for (unsigned i = 0; i < leaves; i++) {
        depth[leaf[i]] = node_depth[i];
    }
}

/* Shortens codes of more than 16 bits, as ISO 10918-1, K.2 does: two of the longest become one of a bit less
 * and a pair at the next shorter code. Then drops the code of END, one of the longest. */
static void limit_lengths(uint16_t count[DEPTH_MAX + 1]) {
    unsigned longest = DEPTH_MAX;
    for (; longest > JPEG_CODE_LENGTHS; longest--) {
        while (count[longest] > 0) {
            unsigned shorter = longest - 2;
            while (count[shorter] == 0) {
                shorter--;
            }
            count[longest] = (uint16_t)(count[longest] - 2);
            count[longest - 1]++;
            count[shorter + 1] = (uint16_t)(count[shorter + 1] + 2);
            count[shorter]--;
        }
    }
    while (count[longest] == 0) {
        longest--;
    }
    count[longest]--;
}

void jpeg_huffman_optimal(unsigned table, const uint64_t frequency[JPEG_SYMBOLS],
                          struct jpeg_huffman *codes) {
    uint16_t depth[JPEG_SYMBOLS + 1], count[DEPTH_MAX + 1] = {0}, next[DEPTH_MAX + 1] = {0};
    find_depths(frequency, depth);
    *codes = (struct jpeg_huffman){.id = standard[table].id};
    for (unsigned symbol = 0; symbol <= END; symbol++) {
        count[depth[symbol]] = (uint16_t)(count[depth[symbol]] + (depth[symbol] > 0));
    }
    for (unsigned length = 1; length < DEPTH_MAX; length++) {
        next[length + 1] = (uint16_t)(next[length] + count[length] - (depth[END] == length));
    }
    for (unsigned symbol = 0; symbol < END; symbol++) {
        if (depth[symbol] > 0) {
            codes->value[next[depth[symbol]]++] = (uint8_t)symbol;
        }
    }
    limit_lengths(count);
    for (unsigned i = 0; i < JPEG_CODE_LENGTHS; i++) {
        codes->count[i] = (uint8_t)count[i + 1];
    }
}

/* Codes of one length count up; the next length appends a bit. */
void jpeg_huffman_number(const struct jpeg_huffman *codes, uint32_t *code, uint32_t size) {
    uint32_t number = 0, next = 0;
    memset(code, 0, size * sizeof *code);
    for (uint32_t length = 1; length <= JPEG_CODE_LENGTHS; length++) {
        for (unsigned i = 0; i < codes->count[length - 1]; i++, number++) {
            uint8_t symbol = codes->value[next++];
            if (symbol < size) {
                code[symbol] = length << JPEG_CODE_LENGTHS | number;
            }
        }
        number <<= 1;
    }
}
