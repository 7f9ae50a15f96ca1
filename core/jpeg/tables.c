/* SPDX-License-Identifier: MIT */
#include "core/jpeg/tables.h"

const char *jpeg_quantisers_read(struct jpeg_quantisers *quantisers, struct bytes segment) {
    while (segment.size > 0) {
        uint32_t wide = segment.data[0] >> 4, table = segment.data[0] & 15;
        size_t size = 1 + JPEG_TABLE_COEFFICIENTS * (1 + (size_t)wide);
        if (wide > 1 || table >= JPEG_TABLES_MAX || segment.size < size) {
            return "a quantisation table is damaged";
        }
        for (uint32_t i = 0; i < JPEG_TABLE_COEFFICIENTS; i++) {
            uint32_t step = wide ? bytes_be16(segment.data + 1 + 2 * (size_t)i) : segment.data[1 + i];
            if (step == 0) {
                return "a quantisation table has a step of 0";
            }
            quantisers->of[table][i] = (uint16_t)step;
        }
        quantisers->exist[table] = true;
        segment = (struct bytes){segment.data + size, segment.size - size};
    }
    return NULL;
}

bool jpeg_code_table_next(struct bytes *segment, uint32_t numbers, struct jpeg_code_table *table) {
    const size_t head = 1 + JPEG_TABLE_LENGTHS;
    if (segment->size < head) {
        return false;
    }
    *table = (struct jpeg_code_table){.class = segment->data[0] >> 4,
                                      .number = segment->data[0] & 15,
                                      .counts = segment->data + 1,
                                      .symbols = segment->data + head};
    for (uint32_t i = 0; i < JPEG_TABLE_LENGTHS; i++) {
        table->count += table->counts[i];
    }
    if (table->class > 1 || table->number >= numbers || table->count > JPEG_TABLE_SYMBOLS ||
        table->count > segment->size - head) {
        return false;
    }
    *segment = (struct bytes){table->symbols + table->count, segment->size - head - table->count};
    return true;
}

bool jpeg_code_table_fits(const struct jpeg_code_table *table, uint32_t dc_bits) {
    bool fits = true;
    for (uint32_t i = 0; i < table->count && table->class == 0; i++) {
        fits = fits && table->symbols[i] <= dc_bits;
    }
    return fits;
}

bool jpeg_code_table_number(const uint8_t counts[JPEG_TABLE_LENGTHS], uint32_t limit[JPEG_TABLE_LENGTHS + 1],
                            int32_t first[JPEG_TABLE_LENGTHS + 1]) {
    uint32_t code = 0, number = 0;
    limit[0] = 0;
    first[0] = 0;
    for (uint32_t length = 1; length <= JPEG_TABLE_LENGTHS; length++, code <<= 1) {
        uint32_t count = counts[length - 1];
        if (count > 0 && code + count >= 1u << length) {
            return false;
        }
        first[length] = (int32_t)number - (int32_t)code;
        code += count;
        number += count;
        limit[length] = code << (JPEG_TABLE_LENGTHS - length);
    }
    return true;
}
