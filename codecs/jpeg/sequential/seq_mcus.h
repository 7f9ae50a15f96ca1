/* SPDX-License-Identifier: MIT
 * Template: decodes the MCUs of a row. Included after the definition of transform(), for all blocks of a
 * batch, and of LEVEL, the name of the table to make. SORTS says whether transform() takes blocks in the
 * order of the scan. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_MCUS_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_MCUS_H

#include <endian.h>
#include <string.h>

#include "codecs/jpeg/sequential/seq_scan.h"

#define INLINE static inline __attribute__((always_inline))

/* At least 56 bits. */
INLINE void load_bits(struct seq_bits *bits) {
    uint64_t word;
    memcpy(&word, bits->at, sizeof word);
    bits->word |= be64toh(word) >> bits->count;
    bits->at += (63 - bits->count) >> 3;
    bits->count |= 56;
}

INLINE void drop_bits(struct seq_bits *bits, unsigned count) {
    bits->word <<= count;
    bits->count -= count;
}

/* Bits of 0 to 15. */
INLINE int32_t take_value(struct seq_bits *bits, uint32_t size) {
    int32_t value = seq_codes_value(bits->word, 63 - size);
    drop_bits(bits, size);
    return value;
}

INLINE void put(int16_t *block, const struct seq_part *part, unsigned k, int32_t value) {
    if (SORTS) {
        block[k] = (int16_t)value;
    } else {
        block[part->place[k].at] = (int16_t)(value * part->place[k].step);
    }
}

static uint32_t find_long_code(const struct seq_codes *codes, uint64_t word) {
    return seq_codes_find(codes, word);
}

INLINE bool read_dc(struct seq_bits *bits, struct seq_part *part, int16_t *block) {
    uint32_t code = part->dc->quick[bits->word >> (64 - SEQ_QUICK_BITS)];
    if (code == 0) {
        code = find_long_code(part->dc, bits->word);
        if (code == 0) {
            return false;
        }
    }
    drop_bits(bits, code & 255);
    part->last_dc += take_value(bits, code >> 8);
    int32_t value =
        part->last_dc * part->dc_step; /* the step is not 0, so that the check bounds last_dc, too */
    block[0] = (int16_t)value;
    return value >= -SEQ_VALUE_MAX && value <= SEQ_VALUE_MAX;
}

/* Reads one symbol at position k and returns the next one; 0 for what is damaged or unusual. */
static unsigned read_symbol(struct seq_bits *bits, const struct seq_part *part, int16_t *block, unsigned k) {
    load_bits(bits);
    uint32_t code = seq_codes_find(&part->ac->codes, bits->word), run = code >> 12, size = code >> 8 & 15;
    drop_bits(bits, code & 255);
    if (code == 0) {
        return 0;
    }
    if (size == 0) {
        k += run == 15 ? 16 : SEQ_BLOCK_END;
        return k > SEQ_STEPS && k < SEQ_BLOCK_END ? 0 : k;
    }
    k += run;
    if (k >= SEQ_STEPS) {
        return 0;
    }
    int32_t value = take_value(bits, size), product = value * part->place[k].step;
    put(block, part, k, value);
    return product >= -SEQ_VALUE_MAX && product <= SEQ_VALUE_MAX ? k + 1 : 0;
}

/* Returns the number of positions up to the last coefficient, or 0. A block ends with its code or at the last
 * position. A lookup that passes the end has read a symbol too many, and one that was none is at an escape:
 * the step is taken back, and one symbol is read. */
INLINE unsigned read_ac(struct seq_bits *bits, const struct seq_part *part, int16_t *block) {
    enum { LOOKUPS = 56 / SEQ_AC_BITS };
    const uint64_t *look = part->ac->look;
    unsigned k = 1;
    for (;;) {
        load_bits(bits);
        uint64_t before = 0, entry = 0, sum = (uint64_t)k << 8; /* as in entries: bits, and position */
        for (unsigned i = 0; i < LOOKUPS && k < SEQ_STEPS; i++) {
            before = bits->word;
            entry = look[before >> (64 - SEQ_AC_BITS)];
            put(block, part, k + (unsigned)(entry >> 16 & 255), (int16_t)(entry >> 32));
            put(block, part, k + (unsigned)(entry >> 24 & 255), (int16_t)(entry >> 48));
            bits->word = before << (entry & 63);
            sum += entry;
            k = sum >> 8 & 255;
        }
        bits->count -= sum & 255;
        if (k < SEQ_STEPS) {
            continue;
        }
        if (k == SEQ_STEPS || k - SEQ_BLOCK_END - 1 < SEQ_STEPS - 1) {
            return k & 127;
        }
        struct seq_bits after = {before, bits->at, bits->count + (entry & 255)};
        k = read_symbol(&after, part, block, k - (unsigned)(entry >> 8 & 255));
        *bits = after;
        if (k == 0 || k >= SEQ_STEPS) {
            return k & 127;
        }
    }
}

INLINE enum seq_class class_of(unsigned positions) {
    return (enum seq_class)((positions > 1) + (positions > SEQ_SMOOTH_MAX));
}

INLINE bool read_block(struct seq_scan *scan, struct seq_bits *bits, struct seq_unit *unit) {
    struct seq_batch *batch = &scan->batch;
    int16_t *block = batch->blocks[batch->count++];
    load_bits(bits);
    if (!read_dc(bits, unit->part, block)) {
        return false;
    }
    unsigned positions = read_ac(bits, unit->part, block);
    struct seq_list *list = &batch->list[class_of(positions)];
    list->block[list->count++] = (struct seq_block){block, unit->to, unit->part};
    unit->to += unit->step;
    return positions > 0;
}

static bool decode(struct seq_scan *scan, uint32_t count) {
    struct seq_bits bits = scan->bits;
    for (uint32_t mcu = 0; mcu < count; mcu++) {
        for (unsigned i = 0; i < scan->unit_count; i++) {
            if (!read_block(scan, &bits, &scan->unit[i])) {
                return false;
            }
        }
        if (bits.at >= scan->bytes.limit) {
            scan->bits = bits;
            if (!seq_bytes_more(&scan->bytes, &scan->bits)) {
                return false;
            }
            bits = scan->bits;
        }
        if (scan->batch.count + scan->unit_count > SEQ_BATCH) {
            transform(&scan->batch);
        }
    }
    transform(&scan->batch);
    scan->bits = bits;
    return true;
}

const struct seq_level LEVEL = {.name = LEVEL_NAME, .vectors = VECTORS, .decode = decode};

#endif
