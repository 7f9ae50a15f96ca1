/* SPDX-License-Identifier: MIT
 * Template: decodes the MCUs of a row. Included after the definition of transform(), for all
 * blocks of a batch, and of LEVEL, the name of the table to make. SORTS says whether transform() takes blocks
 * in the order of the scan. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_MCUS_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_MCUS_H

#include "codecs/jpeg/pixels/pixels_upsample.h"
#include "codecs/jpeg/sequential/jpeg_dec_packed.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "codecs/jpeg/sequential/jpeg_dec_stored.h"

INLINE void put(struct jpeg_dec_coded *coded, uint64_t k, uint64_t distance, int32_t value) {
    if (SORTS) {
        (coded->values + k)[distance] = (int16_t)value;
    } else {
        const struct jpeg_dec_place *place = &coded->part->place[k + distance];
        coded->values[place->at] = (int16_t)(value * place->step);
    }
}

/* Rotated, which gives the bits from `shift` on without a copy. */
INLINE uint64_t turned(uint64_t entry, unsigned shift) {
    return entry >> shift | entry << (64 - shift);
}

/* Reads one symbol at position k and returns the next one, or with the last symbol of the block the number of
 * positions and JPEG_DEC_BLOCK_END. 0: it is damaged or unusual. */
static uint64_t read_symbol(struct jpeg_dec_bits *bits, struct jpeg_dec_coded *coded, uint64_t k) {
    const struct jpeg_dec_part *part = coded->part;
    _Static_assert(JPEG_DEC_CODE_BITS + JPEG_DEC_BITS_VALUE <= JPEG_DEC_BITS_LOADED, "one load is enough");
    jpeg_dec_bits_load(bits);
    uint32_t code = jpeg_dec_codes_find(k > 0 ? &part->ac->codes : &part->dc->codes, bits->word);
    uint32_t run = code >> 12, size = code >> 8 & 15;
    jpeg_dec_bits_drop(bits, code & 255);
    if (code == 0 || (k > 0 && size == 0 && run < 15)) {
        return code == 0 ? 0 : k + JPEG_DEC_BLOCK_END;
    }
    int32_t value = jpeg_dec_bits_value(bits, size), product = 0;
    jpeg_dec_bits_load(bits);
    k += run;
    if (k < JPEG_DEC_COEFFICIENTS) {
        product = value * part->place[k].step;
        put(coded, k, 0, value);
    }
    bool good = k < JPEG_DEC_COEFFICIENTS + (size == 0) && product >= -JPEG_DEC_VALUE_MAX &&
                product <= JPEG_DEC_VALUE_MAX;
    return !good ? 0 : k + 1 < JPEG_DEC_COEFFICIENTS ? k + 1 : JPEG_DEC_COEFFICIENTS + JPEG_DEC_BLOCK_END;
}

/* The state of reading blocks, and at the end of one its change, without a branch: it could not be predicted.
 */
struct jpeg_dec_reader {
    struct jpeg_dec_coded *coded;
    const uint64_t *look;
    uint64_t sum; /* of entries: bits, and position */
};

INLINE void reader_next(struct jpeg_dec_reader *reader, uint64_t entry) {
    const uint64_t bits = reader->sum & 255;
    struct jpeg_dec_coded *coded = reader->coded, *next = coded + 1;
    reader->look = coded->ac;
#if defined(__x86_64__)
    __asm__("test %3, %k4\n\tcmovnz %5, %0\n\tcmovnz %6, %1\n\tcmovnz %7, %2"
            : "+r"(reader->look), "+r"(reader->sum), "+r"(reader->coded)
            : "i"(JPEG_DEC_BLOCK_END << 8), "r"(entry), "m"(next->dc), "r"(bits), "r"(next)
            : "cc");
#else
    if (entry & JPEG_DEC_BLOCK_END << 8) {
        *reader = (struct jpeg_dec_reader){next, next->dc, bits};
    }
#endif
}

/* Reads the blocks up to `end`, which has escapes alone. DC stays a difference. Positions from
 * JPEG_DEC_ESCAPE on mean that a lookup found no symbol, or passed the end of the block, so that it may have
 * read some too many: the step is taken back, and one symbol is read. */
static bool read_blocks(struct jpeg_dec_bits *state, struct jpeg_dec_coded *coded,
                        const struct jpeg_dec_coded *end) {
    enum { LOOKUPS = JPEG_DEC_BITS_LOADED / JPEG_DEC_TAKEN_MAX - 1 };
    _Static_assert(JPEG_DEC_BITS_LOADED - LOOKUPS * JPEG_DEC_TAKEN_MAX >= JPEG_DEC_TAKEN_MAX,
                   "a lookup is left before a load, for the first one behind it");
    struct jpeg_dec_bits bits = *state;
    struct jpeg_dec_reader reader = {coded, coded->dc, 0};
    jpeg_dec_bits_load(&bits);
    for (;;) {
        uint64_t fresh = jpeg_dec_bits_next(&bits);
#pragma GCC unroll 3
        for (unsigned i = 0; i < LOOKUPS; i++) {
            uint64_t before = bits.word, entry = reader.look[before >> (64 - JPEG_DEC_LOOK_BITS)];
            uint64_t k = reader.sum >> 8 & 255;
            put(reader.coded, k, entry >> 16 & 255, (int16_t)(entry >> 32));
            put(reader.coded, k, entry >> 24 & 255,
                jpeg_dec_codes_value(before << (turned(entry, 56) & 63), turned(entry, 48)));
            before |= i == 0 ? fresh : 0; /* so late, the lookup does not wait for it */
            bits.word = before << (entry & 63);
            reader.sum += entry;
            if (__builtin_expect((reader.sum & JPEG_DEC_ESCAPE << 8) != 0, 0)) {
                if (reader.coded == end) {
                    bits.count -= reader.sum & 255;
                    *state = bits;
                    return true;
                }
                struct jpeg_dec_bits after = {before, bits.at,
                                              bits.count - (unsigned)((reader.sum - entry) & 255)};
                reader.sum = read_symbol(&after, reader.coded, k) << 8;
                if (reader.sum == 0) {
                    return false;
                }
                bits = after;
                entry = reader.sum;
            }
            reader.coded->positions = (uint8_t)(reader.sum >> 8);
            reader_next(&reader, entry);
        }
        bits.count -= reader.sum & 255;
        reader.sum &= 255 << 8;
    }
}

/* Replaces the difference of DC of the next block by its value, multiplied. False if that is unusual. */
INLINE bool add_dc(struct jpeg_dec_part *part, int16_t *block) {
    part->last_dc += block[0];
    int32_t value = part->last_dc * part->dc_step; /* the step is not 0, so that last_dc is bounded, too */
    block[0] = (int16_t)value;
    return value >= -JPEG_DEC_VALUE_MAX && value <= JPEG_DEC_VALUE_MAX;
}

/* Adds the differences of DC up, and sorts the blocks by what their transform needs. False if a value is
 * unusual. */
static bool sort_blocks(struct jpeg_dec_scan *scan, unsigned count) {
    struct jpeg_dec_batch *batch = &scan->batch;
    struct jpeg_dec_unit *unit = scan->unit, *end = unit + scan->unit_count;
    for (unsigned i = 0; i < count; i++) {
        struct jpeg_dec_part *part = unit->part;
        int16_t *block = batch->coded[i].values;
        if (!add_dc(part, block)) {
            return false;
        }
        struct jpeg_dec_list *list =
            &batch->sorted.list[class_of(batch->coded[i].positions % JPEG_DEC_BLOCK_END)];
        list->block[list->count++] = (struct jpeg_dec_block){block, unit->to, part};
        unit->to += unit->step;
        unit = unit + 1 < end ? unit + 1 : scan->unit;
    }
    return true;
}

/* The same, but moves the blocks to a pack. */
static bool pack_blocks(struct jpeg_dec_scan *scan, unsigned count, struct jpeg_dec_pack *pack) {
    const unsigned units = scan->unit_count;
    for (unsigned i = 0, unit = 0; i < count; i++, unit = unit + 1 < units ? unit + 1 : 0) {
        struct jpeg_dec_coded *coded = &scan->batch.coded[i];
        if (!add_dc(scan->unit[unit].part, coded->values)) {
            return false;
        }
        pack_block(pack, coded->values, class_of(coded->positions % JPEG_DEC_BLOCK_END));
    }
    for (unsigned unit = 0; unit < units; unit++) {
        scan->unit[unit].to += (size_t)count / units * scan->unit[unit].step;
    }
    return true;
}

/* Reads a batch of blocks. */
INLINE bool read_batch(struct jpeg_dec_scan *scan, unsigned blocks) {
    struct jpeg_dec_coded *coded = scan->batch.coded;
    const uint64_t *dc = coded[blocks].dc;
    coded[blocks].dc = jpeg_dec_codes_escapes;
    bool good = read_blocks(&scan->bits, coded, coded + blocks);
    coded[blocks].dc = dc;
    return good;
}

INLINE bool has_more(struct jpeg_dec_scan *scan) {
    return scan->bits.at < scan->bytes.limit || jpeg_dec_bytes_more(&scan->bytes, &scan->bits);
}

static bool decode(struct jpeg_dec_scan *scan, uint32_t count) {
    const uint32_t most = JPEG_DEC_BATCH / scan->unit_count;
    while (count > 0) {
        uint32_t mcus = count < most ? count : most, blocks = mcus * scan->unit_count;
        if (!read_batch(scan, blocks) || !sort_blocks(scan, blocks) || !has_more(scan)) {
            return false;
        }
        transform(&scan->batch.sorted);
        count -= mcus;
    }
    return true;
}

static uint32_t decode_to_pack(struct jpeg_dec_scan *scan, uint32_t count, struct jpeg_dec_pack *pack) {
    const uint32_t most = JPEG_DEC_BATCH / scan->unit_count;
    uint32_t done = 0;
    while (done < count && !jpeg_dec_pack_is_full(pack)) {
        uint32_t left = count - done, mcus = left < most ? left : most, blocks = mcus * scan->unit_count;
        if (!read_batch(scan, blocks) || !pack_blocks(scan, blocks, pack) || !has_more(scan)) {
            return 0;
        }
        done += mcus;
    }
    return done;
}

const struct jpeg_dec_level LEVEL = {
    .name = LEVEL_NAME,
    .vectors = VECTORS,
    .sorts = SORTS,
    .decode = decode,
    .pack = decode_to_pack,
    .unpack = unpack,
    .transform = transform_stored,
    .join = join_row,
};

#endif
