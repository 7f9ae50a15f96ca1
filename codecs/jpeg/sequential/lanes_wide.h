/* SPDX-License-Identifier: MIT
 * Sums of products in 32 bits, and the transposition of blocks, for the transforms in both directions.
 * Included once per instruction set, after one of lanes_*.h, which has the operations. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_WIDE_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_WIDE_H

/* Eight numbers of 32 bits a lane. */
struct wide {
    lanes low, high;
};

static inline struct wide wide_products(struct wide pairs, int a, int b) {
    lanes factors = lanes_all(a, b);
    return (struct wide){lanes_products(pairs.low, factors), lanes_products(pairs.high, factors)};
}

static inline struct wide wide_add_products(struct wide sum, struct wide pairs, int a, int b) {
    lanes factors = lanes_all(a, b);
    return (struct wide){lanes_add_products(sum.low, pairs.low, factors),
                         lanes_add_products(sum.high, pairs.high, factors)};
}

static inline struct wide wide_pairs(lanes a, lanes b) {
    return (struct wide){lanes_low16(a, b), lanes_high16(a, b)};
}

static inline struct wide wide_add(struct wide a, struct wide b) {
    return (struct wide){lanes_add32(a.low, b.low), lanes_add32(a.high, b.high)};
}

static inline struct wide wide_sub(struct wide a, struct wide b) {
    return (struct wide){lanes_sub32(a.low, b.low), lanes_sub32(a.high, b.high)};
}

static inline lanes wide_descale(struct wide a, int shift) {
    return lanes_pack32(lanes_shift32(a.low, shift), lanes_shift32(a.high, shift));
}

/* The sum and the products, added and subtracted. */
static inline void wide_both(struct wide *plus, struct wide *minus, struct wide sum, struct wide pairs, int a,
                             int b) {
    if (FUSES) { /* another product costs no more than the subtraction */
        *plus = wide_add_products(sum, pairs, a, b);
        *minus = wide_add_products(sum, pairs, -a, -b);
    } else {
        struct wide products = wide_products(pairs, a, b);
        *plus = wide_add(sum, products);
        *minus = wide_sub(sum, products);
    }
}

/* What rounds sums that are then shifted. */
static inline struct wide wide_half(int shift) {
    lanes half = lanes_all32(1 << (shift - 1));
    return (struct wide){half, half};
}

/* Rows of each lane's block of 8 x 8 to columns. */
static inline void transpose(lanes *v) {
    lanes a[8], b[8];
    for (unsigned i = 0; i < 4; i++) {
        a[2 * i] = lanes_low16(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = lanes_high16(v[2 * i], v[2 * i + 1]);
    }
    for (unsigned i = 0; i < 2; i++) { /* a[4 * i]: columns 0 to 3 of rows 4 * i and 4 * i + 1 */
        b[4 * i] = lanes_low32(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = lanes_high32(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = lanes_low32(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = lanes_high32(a[4 * i + 1], a[4 * i + 3]);
    }
    for (unsigned i = 0; i < 4; i++) {
        v[2 * i] = lanes_low64(b[i], b[i + 4]);
        v[2 * i + 1] = lanes_high64(b[i], b[i + 4]);
    }
}

#endif
