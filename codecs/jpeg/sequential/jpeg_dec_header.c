/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/jpeg_dec_header.h"

#include <string.h>

enum {
    SOF0 = 0xC0,
    SOF1 = 0xC1,
    SOF2 = 0xC2,
    DHT = 0xC4,
    SOI = 0xD8,
    EOI = 0xD9,
    SOS = 0xDA,
    DQT = 0xDB,
    DRI = 0xDD
};
enum { APP0 = 0xE0, APP15 = 0xEF, COM = 0xFE, MARKER = 0xFF };
enum { COUNTS = 16, SYMBOLS_MAX = 256, DC_SIZE_MAX = 15, FACTOR_MAX = 4, LOW_MAX = 13 /* bits */ };

static bool read_steps(struct jpeg_dec_header *header, struct bytes body) {
    while (body.size > 0) {
        unsigned wide = body.data[0] >> 4, table = body.data[0] & 15;
        size_t size = 1 + JPEG_DEC_STEPS * (1 + (size_t)wide);
        if (wide > 1 || table >= JPEG_DEC_TABLES || body.size < size) {
            return false;
        }
        for (size_t i = 0; i < JPEG_DEC_STEPS; i++) {
            header->steps[table][i] = (uint16_t)(wide ? bytes_be16(body.data + 1 + 2 * i) : body.data[1 + i]);
        }
        header->steps_present[table] = true;
        body = (struct bytes){body.data + size, body.size - size};
    }
    return true;
}

static bool read_tables(struct jpeg_dec_header *header, struct bytes body) {
    while (body.size > 0) {
        unsigned class = body.data[0] >> 4, number = body.data[0] & 15;
        if (class > 1 || number >= JPEG_DEC_TABLES || body.size < 1 + COUNTS) {
            return false;
        }
        struct jpeg_dec_table *table = class ? &header->ac[number] : &header->dc[number];
        size_t sum = 0;
        for (unsigned i = 0; i < COUNTS; i++) {
            table->counts[i] = body.data[1 + i];
            sum += table->counts[i];
        }
        if (sum > SYMBOLS_MAX || sum > body.size - 1 - COUNTS) {
            return false;
        }
        memcpy(table->symbols, body.data + 1 + COUNTS, sum);
        for (size_t i = 0; i < sum; i++) {
            if (class == 0 && table->symbols[i] > DC_SIZE_MAX) {
                return false;
            }
        }
        table->present = true;
        body = (struct bytes){body.data + 1 + COUNTS + sum, body.size - 1 - COUNTS - sum};
    }
    return true;
}

static bool read_frame(struct jpeg_dec_header *header, struct bytes body) {
    enum { HEAD = 6, EACH = 3 };
    unsigned count = body.size >= HEAD ? body.data[5] : 0;
    if (header->component_count > 0 || (count != 1 && count != JPEG_DEC_COMPONENTS_MAX) ||
        body.size != HEAD + (size_t)count * EACH || body.data[0] != 8) {
        return false;
    }
    header->height = bytes_be16(body.data + 1);
    header->width = bytes_be16(body.data + 3);
    header->component_count = count;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *from = body.data + HEAD + (size_t)i * EACH;
        struct jpeg_dec_component *to = &header->component[i];
        *to = (struct jpeg_dec_component){from[0], from[1] >> 4, from[1] & 15, from[2]};
        if (to->h < 1 || to->h > FACTOR_MAX || to->v < 1 || to->v > FACTOR_MAX ||
            to->steps >= JPEG_DEC_TABLES) {
            return false;
        }
        header->h_max = to->h > header->h_max ? to->h : header->h_max;
        header->v_max = to->v > header->v_max ? to->v : header->v_max;
        for (unsigned other = 0; other < i; other++) {
            if (header->component[other].id == to->id) {
                return false;
            }
        }
    }
    return header->width > 0 && header->height > 0;
}

/* Whether the tables are there that the scan reads codes by. */
static bool has_tables(const struct jpeg_dec_header *header, const struct jpeg_dec_selector *selector) {
    bool dc = header->from == 0 && header->high == 0, ac = header->to > 0;
    return (!dc || header->dc[selector->dc].present) && (!ac || header->ac[selector->ac].present);
}

/* Components follow each other as in the frame: libjpeg refuses most other orders. */
static bool select_tables(struct jpeg_dec_header *header, unsigned index, const uint8_t *from) {
    struct jpeg_dec_selector *to = &header->scan[index];
    unsigned component = 0;
    while (component < header->component_count && header->component[component].id != from[0]) {
        component++;
    }
    *to = (struct jpeg_dec_selector){(uint8_t)component, from[1] >> 4, from[1] & 15};
    bool ordered = index == 0 || header->scan[index - 1].component < component;
    return ordered && component < header->component_count && to->dc < JPEG_DEC_TABLES &&
           to->ac < JPEG_DEC_TABLES && has_tables(header, to) &&
           header->steps_present[header->component[component].steps];
}

/* DC stands alone, or for all components; a band of AC is one component's. A sequential scan has all
 * coefficients, whatever its header says: phones of Samsung write other numbers. */
static bool read_band(struct jpeg_dec_header *header, const uint8_t *from) {
    if (!header->progressive) {
        header->from = header->high = header->low = 0;
        header->to = JPEG_DEC_STEPS - 1;
        return true;
    }
    header->from = from[0];
    header->to = from[1];
    header->high = from[2] >> 4;
    header->low = from[2] & 15;
    bool band = header->from == 0
                    ? header->to == 0
                    : header->scan_count == 1 && header->from <= header->to && header->to < JPEG_DEC_STEPS;
    return band && header->low <= LOW_MAX && (header->high == 0 || header->low + 1 == header->high);
}

static bool read_scan(struct jpeg_dec_header *header, struct bytes body) {
    unsigned count = body.size > 0 ? body.data[0] : 0, blocks = 0;
    if (count < 1 || count > header->component_count || body.size != 4 + 2 * (size_t)count) {
        return false;
    }
    header->scan_count = count;
    if (!read_band(header, body.data + 1 + 2 * (size_t)count)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!select_tables(header, i, body.data + 1 + 2 * (size_t)i)) {
            return false;
        }
        const struct jpeg_dec_component *component = &header->component[header->scan[i].component];
        blocks += (unsigned)component->h * component->v;
    }
    return count == 1 || blocks <= JPEG_DEC_MCU_BLOCKS_MAX;
}

static bool read_segment(struct jpeg_dec_header *header, uint8_t marker, struct bytes body) {
    switch (marker) {
    case SOF0:
    case SOF1:
        return read_frame(header, body);
    case SOF2:
        header->progressive = true;
        return header->takes_progressive && read_frame(header, body);
    case DHT:
        return read_tables(header, body);
    case DQT:
        return read_steps(header, body);
    case DRI:
        header->interval = body.size == 2 ? bytes_be16(body.data) : 0;
        return body.size == 2;
    case SOS:
        return read_scan(header, body);
    default:
        return (marker >= APP0 && marker <= APP15) || marker == COM;
    }
}

/* Moves `at` behind a marker and its fill bytes; 0 when there is none. */
static uint8_t next_marker(struct jpeg_dec_header *header) {
    struct bytes input = header->input;
    size_t at = bytes_skip_ones(input, header->at);
    if (at == header->at || at >= input.size) {
        return 0;
    }
    header->at = at + 1;
    return input.data[at];
}

enum jpeg_dec_next jpeg_dec_header_open(struct jpeg_dec_header *header, struct bytes input,
                                        bool progressive) {
    *header = (struct jpeg_dec_header){.input = input, .takes_progressive = progressive};
    return next_marker(header) == SOI ? jpeg_dec_header_next(header) : JPEG_DEC_UNUSUAL;
}

enum jpeg_dec_next jpeg_dec_header_next(struct jpeg_dec_header *header) {
    for (;;) {
        uint8_t marker = next_marker(header);
        size_t left = header->input.size - header->at;
        if (marker == EOI) {
            return JPEG_DEC_END;
        }
        if (marker == 0 || left < 2) {
            return JPEG_DEC_UNUSUAL;
        }
        const uint8_t *data = header->input.data + header->at;
        uint32_t length = bytes_be16(data);
        if (length < 2 || length > left ||
            !read_segment(header, marker, (struct bytes){data + 2, length - 2})) {
            return JPEG_DEC_UNUSUAL;
        }
        header->at += length;
        if (marker == SOS) {
            return JPEG_DEC_SCAN;
        }
    }
}
