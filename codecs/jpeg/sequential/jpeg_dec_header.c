/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/jpeg_dec_header.h"

#include <string.h>

#include "codecs/jpeg/jpeg_markers.h"

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
enum { APP0 = 0xE0, APP15 = 0xEF, COM = 0xFE };
enum { DC_SIZE_MAX = 15 }; /* bits */

static bool read_codes(struct jpeg_dec_header *header, struct bytes body) {
    struct jpeg_code_table from;
    while (body.size > 0) {
        if (!jpeg_code_table_next(&body, JPEG_DEC_TABLES, &from) ||
            !jpeg_code_table_fits(&from, DC_SIZE_MAX)) {
            return false;
        }
        struct jpeg_dec_table *to = from.class ? &header->ac[from.number] : &header->dc[from.number];
        memcpy(to->counts, from.counts, sizeof to->counts);
        memcpy(to->symbols, from.symbols, from.count);
        to->present = true;
    }
    return true;
}

/* Whether the tables are there that the scan needs. */
static bool has_tables(const struct jpeg_dec_header *header) {
    const struct jpeg_scan_header *scan = &header->scan;
    bool all = true;
    for (unsigned i = 0; i < scan->count; i++) {
        const struct jpeg_scan_part *part = &scan->part[i];
        all = all && (!jpeg_scan_header_needs_dc(scan) || header->dc[part->dc].present) &&
              (!jpeg_scan_header_needs_ac(scan) || header->ac[part->ac].present) &&
              header->quantisers.exist[header->frame.component[part->component].quantiser];
    }
    return all;
}

static bool read_segment(struct jpeg_dec_header *header, uint8_t marker, struct bytes body) {
    switch (marker) {
    case SOF0:
    case SOF1:
        return !jpeg_frame_read(&header->frame, body);
    case SOF2:
        header->progressive = true;
        return !jpeg_frame_read(&header->frame, body);
    case DHT:
        return read_codes(header, body);
    case DQT:
        return !jpeg_quantisers_read(&header->quantisers, body);
    case DRI:
        header->interval = body.size == 2 ? bytes_be16(body.data) : 0;
        return body.size == 2;
    case SOS:
        return !jpeg_frame_read_scan(&header->frame, header->progressive, body, &header->scan) &&
               has_tables(header);
    default:
        return (marker >= APP0 && marker <= APP15) || marker == COM;
    }
}

enum jpeg_dec_next jpeg_dec_header_open(struct jpeg_dec_header *header, struct bytes input) {
    *header = (struct jpeg_dec_header){.input = input};
    return jpeg_marker_at(input, &header->at) == SOI ? jpeg_dec_header_next(header) : JPEG_DEC_UNUSUAL;
}

enum jpeg_dec_next jpeg_dec_header_next(struct jpeg_dec_header *header) {
    uint8_t marker;
    do {
        struct bytes body;
        marker = jpeg_marker_at(header->input, &header->at);
        if (marker == EOI) {
            return JPEG_DEC_END;
        }
        if (marker == 0 || !jpeg_segment_body(header->input, &header->at, &body) ||
            !read_segment(header, marker, body)) {
            return JPEG_DEC_UNUSUAL;
        }
    } while (marker != SOS);
    return JPEG_DEC_SCAN;
}
