/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/progressive/progressive_header.h"

#include <string.h>

enum { SOF2 = 0xc2, DHT = 0xc4, SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, DRI = 0xdd };
enum { APP0 = 0xe0, APP15 = 0xef, COM = 0xfe, MARKER = 0xff };
enum { DC_SIZE_MAX = 15 };

enum status progressive_header_refuse(struct error *err, const char *why) {
    return fail(err, ST_UNSUPPORTED, "the JPEG's scans are not for the device: %s", why);
}

static enum status read_steps(struct progressive_header *header, struct bytes body, struct error *err) {
    const char *why = jpeg_quantisers_read(&header->quantisers, body);
    return why ? progressive_header_refuse(err, why) : ST_OK;
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
        if (!jpeg_code_table_number(table.counts, codes->limit, codes->first)) {
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

static enum status read_frame(struct progressive_header *header, struct bytes body, struct error *err) {
    const char *why = jpeg_frame_read(&header->frame, body);
    return why ? progressive_header_refuse(err, why) : ST_OK;
}

static enum status read_scan(struct progressive_header *header, struct bytes body, struct error *err) {
    struct jpeg_scan_header *scan = &header->scan;
    const char *why = jpeg_frame_read_scan(&header->frame, true, body, scan);
    for (uint32_t i = 0; !why && i < scan->count; i++) {
        const struct jpeg_scan_part *part = &scan->part[i];
        bool has = (!jpeg_scan_header_needs_dc(scan) || header->has_codes[0][part->dc]) &&
                   (!jpeg_scan_header_needs_ac(scan) || header->has_codes[1][part->ac]) &&
                   header->quantisers.exist[header->frame.component[part->component].quantiser];
        why = has ? NULL : "a component of a scan is unknown or lacks a table";
    }
    return why ? progressive_header_refuse(err, why) : ST_OK;
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
