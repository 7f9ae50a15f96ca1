/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/progressive/progressive_header.h"

#include <string.h>

enum { SOF2 = 0xc2, DHT = 0xc4, SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, DRI = 0xdd };
enum { APP0 = 0xe0, APP15 = 0xef, COM = 0xfe, MARKER = 0xff };
enum { STEPS = JPEG_COEFFICIENTS, DC_SIZE_MAX = 15, LOW_MAX = 13 };

enum status progressive_header_refuse(struct error *err, const char *why) {
    return fail(err, ST_UNSUPPORTED, "the JPEG's scans are not for the device: %s", why);
}

static enum status read_steps(struct progressive_header *header, struct bytes body, struct error *err) {
    const char *why = jpeg_steps_read(&header->steps, body);
    return why ? progressive_header_refuse(err, why) : ST_OK;
}

/* Makes codes from the counts of each length. False where there is no room for them, or one is of ones alone.
 */
static bool make_codes(struct progressive_codes *codes, const uint8_t *counts) {
    uint32_t code = 0, number = 0;
    for (uint32_t length = 1; length <= KERNEL_PROGRESSIVE_CODE; length++, code <<= 1) {
        uint32_t count = counts[length - 1];
        if (count > 0 && code + count >= 1U << length) {
            return false;
        }
        codes->first[length] = (int32_t)number - (int32_t)code;
        code += count;
        number += count;
        codes->limit[length] = code << (KERNEL_PROGRESSIVE_CODE - length);
    }
    return true;
}

static enum status read_codes(struct progressive_header *header, struct bytes body, struct error *err) {
    while (body.size > 0) {
        struct jpeg_code_table table;
        if (!jpeg_code_table_next(&body, JPEG_TABLES_MAX, &table) ||
            !jpeg_code_table_fits(&table, DC_SIZE_MAX)) {
            return progressive_header_refuse(err, "a Huffman table is damaged");
        }
        struct progressive_codes *codes = &header->codes[table.class][table.number];
        memset(codes, 0, sizeof *codes);
        memcpy(codes->symbol, table.symbols, table.count);
        if (!make_codes(codes, table.counts)) {
            return progressive_header_refuse(err, "a Huffman table has codes that may not be");
        }
        header->has_codes[table.class][table.number] = true;
    }
    return ST_OK;
}

static enum status read_interval(struct bytes body, struct error *err) {
    return body.size == 2 && bytes_be16(body.data) == 0
               ? ST_OK
               : progressive_header_refuse(err, "it has a restart interval");
}

static bool is_name_taken(const struct progressive_header *header, uint32_t index) {
    bool taken = false;
    for (uint32_t i = 0; i < index; i++) {
        taken = taken || header->component[i].name == header->component[index].name;
    }
    return taken;
}

static enum status read_frame(struct progressive_header *header, struct bytes body, struct error *err) {
    enum { HEAD = 6, EACH = 3 };
    uint32_t count = body.size >= HEAD ? body.data[5] : 0;
    if (header->components > 0 || (count != 1 && count != PROGRESSIVE_COMPONENTS) || body.data[0] != 8 ||
        body.size != HEAD + (size_t)count * EACH) {
        return progressive_header_refuse(err, "its frame is not one of 8 bits and 1 or 3 components");
    }
    header->height = bytes_be16(body.data + 1);
    header->width = bytes_be16(body.data + 3);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = body.data + HEAD + (size_t)i * EACH;
        uint8_t h = from[1] >> 4, v = from[1] & 15;
        header->component[i].name = from[0];
        header->component[i].h = h;
        header->component[i].v = v;
        header->component[i].steps = from[2] % JPEG_TABLES_MAX;
        if (h < 1 || h > PROGRESSIVE_FACTOR_MAX || v < 1 || v > PROGRESSIVE_FACTOR_MAX ||
            from[2] >= JPEG_TABLES_MAX || is_name_taken(header, i)) {
            return progressive_header_refuse(err, "its frame is damaged");
        }
    }
    header->components = count;
    return ST_OK;
}

/* DC stands alone, or for several components; a band of AC is one component's. */
static bool read_band(struct progressive_header *header, const uint8_t *from) {
    header->from = from[0];
    header->to = from[1];
    header->high = from[2] >> 4;
    header->low = from[2] & 15;
    bool band = header->from == 0 ? header->to == 0
                                  : header->parts == 1 && header->from <= header->to && header->to < STEPS;
    return band && header->low <= LOW_MAX && (header->high == 0 || header->low + 1 == header->high);
}

/* Whether the component is behind the one before, and has the tables that the scan needs. */
static bool select_tables(struct progressive_header *header, uint32_t index, const uint8_t *from) {
    bool dc = header->from == 0 && header->high == 0, ac = header->from > 0;
    uint32_t component = index == 0 ? 0 : header->part[index - 1].component + 1u;
    while (component < header->components && header->component[component].name != from[0]) {
        component++;
    }
    uint8_t dc_table = from[1] >> 4, ac_table = from[1] & 15;
    if (component >= header->components || dc_table >= JPEG_TABLES_MAX || ac_table >= JPEG_TABLES_MAX) {
        return false;
    }
    header->part[index].component = (uint8_t)component;
    header->part[index].dc = dc_table;
    header->part[index].ac = ac_table;
    return (!dc || header->has_codes[0][dc_table]) && (!ac || header->has_codes[1][ac_table]) &&
           header->steps.exist[header->component[component].steps];
}

static enum status read_scan(struct progressive_header *header, struct bytes body, struct error *err) {
    uint32_t count = body.size > 0 ? body.data[0] : 0, blocks = 0;
    if (count < 1 || count > header->components || body.size != 4 + 2 * (size_t)count) {
        return progressive_header_refuse(err, "a scan's header is damaged");
    }
    header->parts = count;
    if (!read_band(header, body.data + 1 + 2 * (size_t)count)) {
        return progressive_header_refuse(err, "a scan has coefficients that it may not have");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!select_tables(header, i, body.data + 1 + 2 * (size_t)i)) {
            return progressive_header_refuse(err, "a component of a scan is unknown or lacks a table");
        }
        uint32_t component = header->part[i].component;
        blocks += (uint32_t)header->component[component].h * header->component[component].v;
    }
    return count == 1 || blocks <= JPEG_MCU_BLOCKS_MAX
               ? ST_OK
               : progressive_header_refuse(err, "a scan has too many blocks in an MCU");
}

static bool is_metadata(uint8_t marker) {
    return (marker >= APP0 && marker <= APP15) || marker == COM;
}

static enum status read_segment(struct progressive_header *header, uint8_t marker, struct bytes body,
                                struct error *err) {
    switch (marker) {
    case SOF2:
        return read_frame(header, body, err);
    case DHT:
        return read_codes(header, body, err);
    case DQT:
        return read_steps(header, body, err);
    case DRI:
        return read_interval(body, err);
    case SOS:
        return read_scan(header, body, err);
    default:
        return is_metadata(marker)
                   ? ST_OK
                   : progressive_header_refuse(err, "it is not progressive, or has an unusual marker");
    }
}

enum status progressive_header_open(struct progressive_header *header, struct bytes file, struct error *err) {
    uint8_t marker[2] = {0};
    memset(header, 0, sizeof *header);
    header->file = file;
    header->at = sizeof marker;
    if (file.size >= sizeof marker) {
        bytes_fetch(marker, file.data, sizeof marker);
    }
    return marker[0] == MARKER && marker[1] == SOI ? ST_OK
                                                   : progressive_header_refuse(err, "the file is not a JPEG");
}

/* Reads the length and the body of a segment, of which metadata is left out. */
static enum status read_body(struct progressive_header *header, uint8_t marker, struct error *err) {
    uint8_t head[2], body[PROGRESSIVE_SEGMENT_MAX];
    size_t left = header->file.size - header->at;
    if (left < sizeof head) {
        return progressive_header_refuse(err, "its header is damaged");
    }
    const uint8_t *data = header->file.data + header->at;
    bytes_fetch(head, data, sizeof head);
    size_t length = bytes_be16(head), size = is_metadata(marker) ? 0 : length - sizeof head;
    if (length < sizeof head || length > left) {
        return progressive_header_refuse(err, "its header is damaged");
    }
    if (size > sizeof body) {
        return progressive_header_refuse(err, "it has a segment of tables of more than 4096 bytes");
    }
    bytes_fetch(body, data + sizeof head, size);
    header->at += length;
    return read_segment(header, marker, (struct bytes){body, size}, err);
}

enum status progressive_header_next(struct progressive_header *header, bool *ended, struct error *err) {
    enum status status = ST_OK;
    uint8_t marker[2] = {0};
    *ended = false;
    while (status == ST_OK && marker[1] != SOS) {
        if (header->file.size - header->at < sizeof marker) {
            return progressive_header_refuse(err, "it does not end with an end marker");
        }
        bytes_fetch(marker, header->file.data + header->at, sizeof marker);
        header->at += sizeof marker;
        if (marker[0] != MARKER) {
            return progressive_header_refuse(err, "its header is damaged");
        }
        if (marker[1] == EOI) {
            *ended = true;
            return ST_OK;
        }
        status = read_body(header, marker[1], err);
    }
    return status;
}
