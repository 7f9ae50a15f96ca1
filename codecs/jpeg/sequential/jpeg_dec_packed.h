/* SPDX-License-Identifier: MIT
 * Template: moves blocks to a pack, and transforms those of a pack. Included after the definition of
 * transform(), for all blocks of a batch, and of SMOOTH_VALUES, the number of values that it takes of a
 * smooth block. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_PACKED_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_PACKED_H

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

static const uint8_t packed_values[JPEG_DEC_CLASSES] = {0, SMOOTH_VALUES, JPEG_DEC_COEFFICIENTS};

typedef int16_t packed_piece __attribute__((vector_size(32), may_alias));

/* Appends a block, whose values become 0. All 64 values are copied, so that no branch depends on the class,
 * which cannot be predicted. The next block overwrites the values that this class does not need. */
static inline void pack_block(struct jpeg_dec_pack *pack, int16_t *values, enum jpeg_dec_class class) {
    const packed_piece zeros = {0};
    packed_piece *from = (void *)values, *to = (void *)(pack->values + pack->used);
    pack->class[pack->count] = (uint8_t) class;
    pack->dc[pack->count] = values[0];
    for (unsigned i = 0; i < JPEG_DEC_COEFFICIENTS * sizeof *values / sizeof *to; i++) {
        to[i] = from[i];
        from[i] = zeros;
    }
    pack->count++;
    pack->used += packed_values[class];
}

/* Goes from block to block of the MCUs. */
static inline struct jpeg_dec_unit *packed_next(struct jpeg_dec_pack *pack, struct jpeg_dec_unit *unit) {
    const struct jpeg_dec_unit *end = pack->unit + pack->unit_count;
    unit->to += unit->step;
    if (unit + 1 < end) {
        return unit + 1;
    }
    if (--pack->left == 0) {
        pack->left = pack->mcus;
        for (struct jpeg_dec_unit *each = pack->unit; each < end; each++) {
            each->to += each->down;
        }
    }
    return pack->unit;
}

static void unpack(struct jpeg_dec_sorted *sorted, struct jpeg_dec_pack *pack) {
    struct jpeg_dec_unit *unit = pack->unit;
    int16_t *values = pack->values;
    for (uint32_t i = 0; i < pack->count; i++) {
        const uint8_t class = pack->class[i];
        struct jpeg_dec_list *list = &sorted->list[class];
        int16_t *from = class == JPEG_DEC_FLAT ? &pack->dc[i] : values;
        list->block[list->count++] = (struct jpeg_dec_block){from, unit->to, unit->part};
        values += packed_values[class];
        unit = packed_next(pack, unit);
        if (i % JPEG_DEC_BATCH == JPEG_DEC_BATCH - 1) {
            transform(sorted);
        }
    }
    transform(sorted);
}

#endif
