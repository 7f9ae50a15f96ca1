/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/jpeg_header.h"

#include <string.h>

#include "core/jpeg/frame.h"
#include "core/jpeg/tables.h"

enum { SOF0 = 0xc0, SOF1 = 0xc1, DHT = 0xc4, RST0 = 0xd0, RST7 = 0xd7, SOI = 0xd8, EOI = 0xd9, SOS = 0xda };
enum { DQT = 0xdb, DRI = 0xdd, APP0 = 0xe0, APP2 = 0xe2, APP15 = 0xef, COM = 0xfe, MARKER = 0xff };
enum { COMPONENTS_MAX = JPEG_FRAME_COMPONENTS, TABLES = 2, BLOCK = 8, BLOCKS_MAX = 10, STEPS = 64 };
enum { COMPONENT_MAX = 1 << 20 }; /* blocks; above, DC differences may exceed the range of libjpeg */
enum { SEGMENT_HEAD = 4 /* marker and length */, INDEX_NAME = 4 /* of the name of an index of pictures */ };
enum { CODE_BITS = JPEG_TABLE_LENGTHS, DC_BITS_MAX = 11, AC_BITS_MAX = 10, RUN_MAX = 15 };

/* Column-wise place of each coefficient in zigzag order. */
static const uint8_t by_columns[STEPS] = {0,  8,  1,  2,  9,  16, 24, 17, 10, 3,  4,  11, 18, 25, 32, 40,
                                          33, 26, 19, 12, 5,  6,  13, 20, 27, 34, 41, 48, 56, 49, 42, 35,
                                          28, 21, 14, 7,  15, 22, 29, 36, 43, 50, 57, 58, 51, 44, 37, 30,
                                          23, 31, 38, 45, 52, 59, 60, 53, 46, 39, 47, 54, 61, 62, 55, 63};

struct header_parser {
    struct bytes file; /* may change meanwhile, so bytes_fetch copies what is read twice */
    size_t at;         /* of the next marker */
    struct sync_tables *tables;
    uint32_t interval;
    struct jpeg_frame_header frame;
    struct jpeg_scan_part part[COMPONENTS_MAX];
    struct jpeg_quantisers quantisers; /* of quantisation */
    bool has_codes[2 * TABLES];
    bool several; /* more pictures follow */
};

static enum status refuse(struct error *err, const char *why) {
    return fail(err, ST_UNSUPPORTED, "the GPU cannot decode this JPEG: %s", why);
}

/* Packs bits of code and value, bits of the value, and steps in the block. */
static uint32_t entry(bool ac, uint32_t length, uint32_t symbol) {
    uint32_t bits = ac ? symbol & 15 : symbol, run = ac ? symbol >> 4 : 0;
    bool odd = bits == 0 && run > 0 && run < RUN_MAX; /* an end-of-band run of progressive scans */
    if (odd || bits > (ac ? AC_BITS_MAX : DC_BITS_MAX)) {
        return KERNEL_SYNC_NO_CODE;
    }
    uint32_t steps = ac && symbol == 0 ? KERNEL_SYNC_END : run + 1;
    return steps << KERNEL_SYNC_STEP_SHIFT | bits << KERNEL_SYNC_VALUE_SHIFT | (length + bits);
}

static void fill_in(struct sync_codes *codes, uint32_t code, uint32_t length, uint32_t value) {
    uint32_t free_bits = KERNEL_SYNC_LOOK - length;
    for (uint32_t i = 0; i < 1U << free_bits; i++) {
        codes->look[code << free_bits | i] = (uint16_t)value;
    }
}

/* Makes codes from the counts of each length and the symbols in the file. */
static bool make_codes(struct sync_codes *codes, bool ac, const uint8_t *counts, const uint8_t *symbols) {
    uint32_t code = 0, number = 0;
    memset(codes, 0, sizeof *codes);
    for (uint32_t length = 1; length <= CODE_BITS; length++, code <<= 1) {
        uint32_t count = counts[length - 1], end = code + count;
        if (count > 0 && end >= 1U << length) { /* no room, or a code of ones alone */
            return false;
        }
        if (length > KERNEL_SYNC_LOOK) {
            codes->limit[length - KERNEL_SYNC_LOOK - 1] = end << (CODE_BITS - length);
            codes->first[length - KERNEL_SYNC_LOOK - 1] = (int32_t)number - (int32_t)code;
        }
        for (; code < end; code++, number++) {
            uint32_t value = entry(ac, length, symbols[number]);
            codes->code[number] = (uint16_t)value;
            if (length <= KERNEL_SYNC_LOOK) {
                fill_in(codes, code, length, value);
            }
        }
    }
    return true;
}

static enum status read_codes(struct header_parser *header, struct bytes body, struct error *err) {
    while (body.size > 0) {
        struct jpeg_code_table table;
        if (!jpeg_code_table_next(&body, TABLES, &table)) {
            return refuse(err, "a Huffman table is damaged");
        }
        if (!jpeg_code_table_fits(&table, DC_BITS_MAX)) {
            return refuse(err, "a Huffman table is not for 8 bits");
        }
        uint32_t which = table.class * TABLES + table.number;
        if (!make_codes(&header->tables->codes[which], table.class == 1, table.counts, table.symbols)) {
            return refuse(err, "a Huffman table has codes that may not be");
        }
        header->has_codes[which] = true;
    }
    return ST_OK;
}

static enum status read_steps(struct header_parser *header, struct bytes body, struct error *err) {
    const char *why = jpeg_quantisers_read(&header->quantisers, body);
    return why ? refuse(err, why) : ST_OK;
}

static enum status read_interval(struct header_parser *header, struct bytes body, struct error *err) {
    if (body.size != 2) {
        return refuse(err, "the restart interval is damaged");
    }
    header->interval = bytes_be16(body.data);
    return ST_OK;
}

static enum status read_frame(struct header_parser *header, struct bytes body, struct error *err) {
    const char *why = jpeg_frame_read(&header->frame, body);
    return why ? refuse(err, why) : ST_OK;
}

/* Takes all components in their order, in one scan, with existing tables. A sequential scan has all
 * coefficients, whatever the band and the bits behind the components say, as libjpeg has it. */
static enum status read_scan(struct header_parser *header, struct bytes body, struct error *err) {
    uint32_t count = header->frame.count;
    if (count == 0 || body.size != 4 + 2 * (size_t)count || body.data[0] != count) {
        return refuse(err, "it is not one scan of all components");
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct jpeg_component *component = &header->frame.component[i];
        uint8_t dc = body.data[2 + 2 * i] >> 4, ac = body.data[2 + 2 * i] & 15;
        header->part[i] = (struct jpeg_scan_part){(uint8_t)i, dc, ac};
        if (body.data[1 + 2 * i] != component->id || dc >= TABLES || ac >= TABLES || !header->has_codes[dc] ||
            !header->has_codes[TABLES + ac] || !header->quantisers.exist[component->quantiser]) {
            return refuse(err, "a component of the scan is unknown or lacks a table");
        }
    }
    return ST_OK;
}

static bool is_metadata(uint8_t marker) {
    return (marker >= APP0 && marker <= APP15) || marker == COM;
}

static enum status read_segment(struct header_parser *header, uint8_t marker, struct bytes body,
                                struct error *err) {
    switch (marker) {
    case SOF0:
    case SOF1: /* allows more tables and wider steps; the accepted part reads alike */
        return read_frame(header, body, err);
    case DHT:
        return read_codes(header, body, err);
    case DQT:
        return read_steps(header, body, err);
    case DRI:
        return read_interval(header, body, err);
    case SOS:
        return read_scan(header, body, err);
    case APP2: /* CIPA DC-007: an index of the file's pictures */
        header->several |= body.size >= INDEX_NAME && memcmp(body.data, "MPF", INDEX_NAME) == 0;
        return ST_OK;
    default:
        return is_metadata(marker) ? ST_OK : refuse(err, "it is not baseline, or has an unusual marker");
    }
}

/* Reads up to the scan. Each byte is read once, into `body`. */
static enum status read_header(struct header_parser *header, struct error *err) {
    struct bytes file = header->file;
    uint8_t head[SEGMENT_HEAD] = {0}, body[JPEG_HEADER_SEGMENT_MAX];
    enum status status = ST_OK;
    while (status == ST_OK && head[1] != SOS) {
        const uint8_t *data = file.data + header->at;
        size_t left = file.size - header->at;
        if (left < SEGMENT_HEAD) {
            return refuse(err, "its header is damaged");
        }
        bytes_fetch(head, data, SEGMENT_HEAD);
        size_t length = bytes_be16(head + 2), size = length - 2;
        if (head[0] != MARKER || length < 2 || length > left - 2) {
            return refuse(err, "its header is damaged");
        }
        size = is_metadata(head[1]) && size > INDEX_NAME ? INDEX_NAME : size;
        if (size > sizeof body) {
            return refuse(err, "its header has a segment of tables of more than 4096 bytes");
        }
        bytes_fetch(body, data + SEGMENT_HEAD, size);
        header->at += 2 + length;
        status = read_segment(header, head[1], (struct bytes){body, size}, err);
    }
    return status;
}

/* Returns the offset of the scan's end marker, or the file's size without one. It usually ends the file.
 * Phones and files of several pictures append data with further end markers; then it is the first marker
 * other than a restart. */
static size_t find_end(const struct header_parser *header) {
    struct bytes file = header->file;
    size_t last = file.size - 2;
    if (!header->several && last >= header->at && file.data[last] == MARKER && file.data[last + 1] == EOI) {
        return last;
    }
    size_t left = file.size - header->at;
    const uint8_t *at = file.data + header->at;
    const uint8_t *end = at + (left < KERNEL_SYNC_SIZE_MAX ? left : KERNEL_SYNC_SIZE_MAX);
    while ((at = memchr(at, MARKER, (size_t)(end - at))) && end - at >= 2) {
        if (at[1] == EOI) {
            return (size_t)(at - file.data);
        }
        if (at[1] != 0 && (at[1] < RST0 || at[1] > RST7)) { /* or a fill byte, which counts as damage */
            break;
        }
        at += 2;
    }
    return file.size;
}

static uint8_t shift_of(uint32_t factor) {
    return (uint8_t)(factor / 2);
}

/* Finds how far chroma is reduced; false for an unsupported reduction. */
static bool find_shape(const struct header_parser *header, struct image_shape *shape) {
    const struct jpeg_component *c = header->frame.component;
    *shape = (struct image_shape){
        .model = PIXEL_GRAY, .depth = 8, .width = header->frame.width, .height = header->frame.height};
    if (header->frame.count == 1) {
        return true;
    }
    shape->model = PIXEL_YCBCR;
    shape->chroma_shift_x = shift_of((uint32_t)c[0].h / c[1].h);
    shape->chroma_shift_y = shift_of((uint32_t)c[0].v / c[1].v);
    return c[1].h == c[2].h && c[1].v == c[2].v && c[0].h == c[1].h << shape->chroma_shift_x &&
           c[0].v == c[1].v << shape->chroma_shift_y;
}

/* Sets the tables of each block of an MCU. If all are the same, the walk cannot tell blocks apart, so each
 * counts as an MCU. */
static uint32_t lay_out(const struct header_parser *header, uint32_t in_mcu) {
    struct sync_tables *tables = header->tables;
    uint32_t block = 0;
    for (uint32_t i = 0; i < header->frame.count; i++) {
        const struct jpeg_component *c = &header->frame.component[i];
        for (uint32_t n = header->frame.count == 1 ? 1 : (uint32_t)c->h * c->v; n > 0; n--, block++) {
            tables->dc |= (uint32_t)header->part[i].dc << block;
            tables->ac |= (uint32_t)header->part[i].ac << block;
        }
    }
    const struct sync_codes *dc = tables->codes, *ac = tables->codes + TABLES;
    tables->dc = memcmp(dc, dc + 1, sizeof *dc) == 0 ? 0 : tables->dc; /* equal tables count as one */
    tables->ac = memcmp(ac, ac + 1, sizeof *ac) == 0 ? 0 : tables->ac;
    uint32_t all = (1U << in_mcu) - 1;
    bool alike = (tables->dc == 0 || tables->dc == all) && (tables->ac == 0 || tables->ac == all);
    return alike ? 1 : in_mcu;
}

/* Stores the quantiser steps of each component in the decoder's order. */
static void place_steps(const struct header_parser *header, struct decode_tables *decode) {
    memset(decode, 0, sizeof *decode);
    for (uint32_t i = 0; i < STEPS; i++) {
        decode->place[i] = by_columns[i];
        for (uint32_t c = 0; c < header->frame.count; c++) {
            decode->steps[c][by_columns[i]] = header->quantisers.of[header->frame.component[c].quantiser][i];
        }
    }
}

static bool is_plain(const struct header_parser *header) {
    bool plain = jpeg_frame_is_plain(&header->frame);
    for (uint32_t i = 0; i < header->frame.count * STEPS; i++) {
        const struct jpeg_component *c = &header->frame.component[i / STEPS];
        plain = plain && header->quantisers.of[c->quantiser][i % STEPS] <= UINT8_MAX;
    }
    return plain;
}

/* The steps of luma and chroma; grey pictures have none for chroma. */
static void copy_quantisers(const struct header_parser *header, struct jpeg_header *scan) {
    for (uint32_t table = 0; table < JPEG_QUANTISERS; table++) {
        for (uint32_t k = 0; k < STEPS; k++) {
            bool any = table == 0 || header->frame.count > 1;
            scan->quantiser[table][jpeg_zigzag[k]] = any ? header->quantisers.of[table][k] : 1;
        }
    }
}

static void chain_blocks(struct sync_tables *tables) {
    memset(tables->block, 0, sizeof tables->block);
    for (uint32_t block = 0; block < tables->in_mcu; block++) {
        struct sync_block *to = &tables->block[block];
        to->dc = (uint32_t)sizeof *tables->codes * (tables->dc >> block & 1);
        to->ac = (uint32_t)sizeof *tables->codes * (TABLES + (tables->ac >> block & 1));
        to->next = (block + 1) % tables->in_mcu;
        to->next_dc = (uint32_t)sizeof *tables->codes * (tables->dc >> to->next & 1);
    }
}

static enum status describe(const struct header_parser *header, struct jpeg_header *scan, struct error *err) {
    const struct jpeg_component *c = header->frame.component;
    struct sync_tables *tables = header->tables;
    bool gray = header->frame.count == 1;
    uint32_t in_mcu = gray ? 1 : (uint32_t)c[0].h * c[0].v + (uint32_t)c[1].h * c[1].v * 2;
    if (!find_shape(header, &scan->shape) || in_mcu > BLOCKS_MAX) {
        return refuse(err, "its sampling factors are unusual");
    }
    uint32_t width = BLOCK * (gray ? 1U : c[0].h), height = BLOCK * (gray ? 1U : c[0].v);
    uint32_t mcus =
        ((header->frame.width + width - 1) / width) * ((header->frame.height + height - 1) / height);
    if (mcus > COMPONENT_MAX / (gray ? 1U : (uint32_t)c[0].h * c[0].v)) {
        return refuse(err, "its frame is too large");
    }
    for (uint32_t i = 0; i < COMPONENTS_MAX; i++) { /* 0 for absent components */
        scan->h[i] = gray ? i == 0 : c[i].h;
        scan->v[i] = gray ? i == 0 : c[i].v;
    }
    scan->plain = is_plain(header);
    copy_quantisers(header, scan);
    tables->finished = tables->verdict = tables->dc = tables->ac = 0;
    tables->blocks = mcus * in_mcu;
    tables->interval = header->interval * in_mcu;
    tables->markers = header->interval > 0 ? (mcus - 1) / header->interval : 0;
    tables->in_mcu = lay_out(header, in_mcu);
    chain_blocks(tables);
    return ST_OK;
}

enum status jpeg_header_parse(struct bytes file, struct jpeg_header *scan, struct scan_tables *tables,
                              struct error *err) {
    struct header_parser header = {.file = file, .at = 2, .tables = &tables->sync};
    if (file.size < 4 || file.data[0] != MARKER || file.data[1] != SOI) {
        return refuse(err, "the file is not a JPEG");
    }
    enum status status = read_header(&header, err);
    if (status != ST_OK) {
        return status;
    }
    size_t end = find_end(&header);
    if (end == file.size || end == header.at) {
        return refuse(err, "it does not end with an end marker");
    }
    place_steps(&header, &tables->decode);
    scan->offset = header.at;
    scan->size = end - header.at;
    return scan->size < KERNEL_SYNC_SIZE_MAX ? describe(&header, scan, err)
                                             : refuse(err, "the file is too large");
}
