/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_coefficients.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_scans.h"
#include "core/deadline.h"
#include "core/jpeg/segments.h"
#include "core/numbers.h"
#include "core/processor.h"

enum { BLOCK = COEFFICIENTS_SIDE, UNSEEN = -1, RST0 = 0xD0, RESTARTS = 8, MARKER = 0xFF };

struct coefficients_reader {
    const struct codec_limits *limits;
    struct coefficients_layout layout;
    struct coefficients_head *head;
    struct jpeg_dec_header header;
    int8_t low[JPEG_DEC_COMPONENTS_MAX]
              [JPEG_DEC_COEFFICIENTS]; /* bits that each coefficient still misses; UNSEEN: all */
    struct {
        uint32_t x, y; /* blocks that hold samples, in a row and in a column */
    } blocks[JPEG_DEC_COMPONENTS_MAX];
    jpeg_scans_decoder *decode;
    uint32_t until_restart, next_restart; /* MCUs; number of the marker */
    struct jpeg_scans bands;
};

/* A spare block at the end receives the padding blocks, which fill up MCUs at the edges. */
static const size_t spare = COEFFICIENTS_BLOCK * sizeof(int16_t);

size_t jpeg_coefficients_table(const struct coefficients_layout *layout) {
    return ((size_t)layout->blocks + 1) * sizeof(uint64_t);
}

size_t jpeg_coefficients_bytes(const struct coefficients_layout *layout) {
    return coefficients_size(layout) + spare + jpeg_coefficients_table(layout);
}

size_t jpeg_coefficients_state(void) {
    return sizeof(struct coefficients_reader);
}

struct jpeg_coefficients jpeg_coefficients_in(uint8_t *memory, const struct coefficients_layout *layout) {
    return (struct jpeg_coefficients){
        (struct coefficients_head *)(void *)memory,
        (int16_t *)(void *)(memory + sizeof(struct coefficients_head)),
        (uint64_t *)(void *)(memory + coefficients_size(layout) + spare),
    };
}

/* ---- header ---- */

/* Whether the frame's components are the planes. */
static bool is_shape(const struct jpeg_dec_header *header, const struct image_shape *shape,
                     const struct coefficients_layout *layout) {
    bool same = header->frame.count == layout->planes && header->frame.width == shape->width &&
                header->frame.height == shape->height &&
                header->frame.component[0].h == header->frame.h_max &&
                header->frame.component[0].v == header->frame.v_max;
    for (unsigned i = 1; i < layout->planes; i++) {
        same = same && header->frame.component[i].h * layout->h == header->frame.h_max &&
               header->frame.component[i].v * layout->v == header->frame.v_max;
    }
    return same;
}

static bool open_header(struct jpeg_dec_header *header, const struct jpeg_dec_header *opened,
                        struct bytes input) {
    if (opened) {
        *header = *opened;
        return true;
    }
    return jpeg_dec_header_open(header, input) == JPEG_DEC_SCAN;
}

static void count_blocks(struct coefficients_reader *reader, const struct image_shape *shape) {
    for (unsigned i = 0; i < reader->layout.planes; i++) {
        uint32_t h = i > 0 ? reader->layout.h : 1, v = i > 0 ? reader->layout.v : 1;
        reader->blocks[i].x = divide_up(divide_up(shape->width, h), BLOCK);
        reader->blocks[i].y = divide_up(divide_up(shape->height, v), BLOCK);
    }
}

/* A component's steps are those before its first scan. */
static bool latch_steps(struct coefficients_reader *reader, unsigned component, bool first) {
    const uint16_t *steps = reader->header.quantisers.of[reader->header.frame.component[component].quantiser];
    bool good = true;
    for (unsigned k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
        uint16_t *to = &reader->head->quantiser[component][jpeg_zigzag[k]];
        good = good && steps[k] > 0 && (first || *to == steps[k]);
        *to = steps[k];
    }
    return good;
}

/* Notes which bits a scan brings. Each must be the next one of its coefficients. */
static bool note_band(struct coefficients_reader *reader, unsigned component) {
    const struct jpeg_dec_header *header = &reader->header;
    int8_t *low = reader->low[component];
    if (!latch_steps(reader, component, low[0] == UNSEEN) || (header->scan.from > 0 && low[0] == UNSEEN)) {
        return false;
    }
    for (unsigned k = header->scan.from; k <= header->scan.to; k++) {
        if (header->scan.high > 0 ? low[k] != header->scan.high : low[k] != UNSEEN) {
            return false;
        }
        low[k] = (int8_t)header->scan.low;
    }
    return true;
}

static bool make_codes(struct coefficients_reader *reader, unsigned part) {
    const struct jpeg_dec_header *header = &reader->header;
    const struct jpeg_scan_part *from = &header->scan.part[part];
    bool dc = jpeg_scan_header_needs_dc(&header->scan), ac = jpeg_scan_header_needs_ac(&header->scan);
    return (!dc || jpeg_dec_codes_make(&reader->bands.dc[part], &header->dc[from->dc])) &&
           (!ac || jpeg_dec_codes_make(&reader->bands.ac[part], &header->ac[from->ac]));
}

static jpeg_scans_decoder *decoder_of(const struct jpeg_dec_header *header) {
    bool first = header->scan.high == 0;
    if (!header->progressive) {
        return jpeg_scans_whole;
    }
    return header->scan.from == 0 ? (first ? jpeg_scans_dc : jpeg_scans_dc_refine)
           : first                ? jpeg_scans_ac
                                  : jpeg_scans_ac_refine;
}

static bool start_scan(struct coefficients_reader *reader) {
    const struct jpeg_dec_header *header = &reader->header;
    struct jpeg_scans *bands = &reader->bands;
    for (unsigned i = 0; i < header->scan.count; i++) {
        if (!note_band(reader, header->scan.part[i].component) || !make_codes(reader, i)) {
            return false;
        }
    }
    reader->decode = decoder_of(header);
    bands->from = header->scan.from > 0 ? header->scan.from : 1;
    bands->to = header->scan.to;
    bands->low = header->scan.low;
    reader->until_restart = header->interval;
    reader->next_restart = 0;
    jpeg_scans_restart(bands);
    jpeg_dec_bytes_start(&bands->bytes, header->input, header->at, &bands->bits);
    return true;
}

/* ---- scans ---- */

/* Steps over the restart marker that has to follow here. */
static bool restart(struct coefficients_reader *reader) {
    struct jpeg_scans *bands = &reader->bands;
    struct bytes input = reader->header.input;
    size_t at;
    if (!jpeg_dec_bytes_finish(&bands->bytes, &bands->bits, &at) || at + 1 >= input.size ||
        input.data[at + 1] != RST0 + reader->next_restart) {
        return false;
    }
    reader->next_restart = (reader->next_restart + 1) % RESTARTS;
    reader->until_restart = reader->header.interval;
    jpeg_scans_restart(bands);
    jpeg_dec_bytes_start(&bands->bytes, input, at + 2, &bands->bits);
    return true;
}

/* How many of the next `left` MCUs come before a restart marker, after stepping over one; 0: damaged. */
static uint32_t next_run(struct coefficients_reader *reader, uint32_t left) {
    if (reader->header.interval == 0) {
        return left;
    }
    if (reader->until_restart == 0 && !restart(reader)) {
        return 0;
    }
    uint32_t count = left < reader->until_restart ? left : reader->until_restart;
    reader->until_restart -= count;
    return count;
}

/* The blocks in row y of a component's plane. */
static struct jpeg_scans_row row_of(const struct coefficients_reader *reader, unsigned part, uint32_t y) {
    return (struct jpeg_scans_row){
        coefficients_row(&reader->layout, reader->header.scan.part[part].component, y), part};
}

static bool decode_alone(struct coefficients_reader *reader, uint32_t y) {
    const struct jpeg_scans_row row = row_of(reader, 0, y);
    uint32_t width = reader->blocks[reader->header.scan.part[0].component].x;
    for (uint32_t x = 0, count; x < width; x += count) {
        count = next_run(reader, width - x);
        if (count == 0 || !reader->decode(&reader->bands, &row, x, x + count)) {
            return false;
        }
    }
    return true;
}

/* A component's part of an MCU. Blocks outside of its plane are read into the one behind all others. */
static bool decode_part(struct coefficients_reader *reader, unsigned part, uint32_t mcu_x, uint32_t mcu_y) {
    unsigned component = reader->header.scan.part[part].component;
    const struct jpeg_component *from = &reader->header.frame.component[component];
    bool good = true;
    for (uint32_t n = 0; n < (uint32_t)from->h * from->v && good; n++) {
        uint32_t x = mcu_x * from->h + n % from->h, y = mcu_y * from->v + n / from->h;
        struct jpeg_scans_row row = row_of(reader, part, y);
        if (x >= reader->blocks[component].x || y >= reader->blocks[component].y) {
            row = (struct jpeg_scans_row){{.first = reader->layout.blocks}, part};
            x = 0;
        }
        good = reader->decode(&reader->bands, &row, x, x + 1);
    }
    return good;
}

static bool decode_together(struct coefficients_reader *reader, uint32_t mcu_y) {
    const struct jpeg_dec_header *header = &reader->header;
    uint32_t width = divide_up(header->frame.width, (uint32_t)BLOCK * header->frame.h_max);
    for (uint32_t x = 0, count; x < width; x += count) {
        count = next_run(reader, width - x);
        for (uint32_t i = x; i < x + count; i++) {
            for (unsigned part = 0; part < header->scan.count; part++) {
                if (!decode_part(reader, part, i, mcu_y)) {
                    return false;
                }
            }
        }
        if (count == 0) {
            return false;
        }
    }
    return true;
}

/* *good: the data is whole. */
static enum status decode_scan(struct coefficients_reader *reader, bool *good, struct error *err) {
    const struct jpeg_dec_header *header = &reader->header;
    bool alone = header->scan.count == 1;
    uint32_t rows = alone ? reader->blocks[header->scan.part[0].component].y
                          : divide_up(header->frame.height, (uint32_t)BLOCK * header->frame.v_max);
    enum status status = ST_OK;
    *good = true;
    for (uint32_t y = 0; y < rows && *good && status == ST_OK; y++) {
        status = deadline_check(reader->limits->deadline_ns, err);
        *good = alone ? decode_alone(reader, y) : decode_together(reader, y);
    }
    *good = *good && jpeg_dec_bytes_finish(&reader->bands.bytes, &reader->bands.bits, &reader->header.at);
    return status;
}

/* Whether no bit is missing. */
static bool is_complete(const struct coefficients_reader *reader) {
    bool complete = true;
    for (unsigned i = 0; i < reader->layout.planes; i++) {
        for (unsigned k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
            complete = complete && reader->low[i][k] == 0;
        }
    }
    return complete;
}

/* Up to the end marker. *good: the data is whole. */
static enum status read_scans(struct coefficients_reader *reader, bool *good, struct error *err) {
    struct jpeg_dec_header *header = &reader->header;
    enum jpeg_dec_next next = JPEG_DEC_SCAN;
    enum status status = ST_OK;
    *good = true;
    for (uint32_t scans = 1; *good && status == ST_OK && next == JPEG_DEC_SCAN; scans++) {
        *good = scans <= reader->limits->max_scans && start_scan(reader);
        status = *good ? decode_scan(reader, good, err) : ST_OK;
        next = *good && status == ST_OK ? jpeg_dec_header_next(header) : JPEG_DEC_UNUSUAL;
    }
    *good = *good && next == JPEG_DEC_END && is_complete(reader);
    return status;
}

static void lend(struct coefficients_reader *reader, uint8_t *memory, uint64_t *table) {
    const struct jpeg_coefficients to = jpeg_coefficients_in(memory, &reader->layout);
    reader->head = to.head;
    reader->bands.values = to.values;
    reader->bands.filled = table ? table : to.filled;
    memset(memory, 0, coefficients_size(&reader->layout) + spare);
    memset(reader->bands.filled, 0, jpeg_coefficients_table(&reader->layout));
    memset(reader->low, UNSEEN, sizeof reader->low);
}

static void set_way(struct jpeg_scans *bands, const struct jpeg_coefficients_way *way) {
    bands->quick = way->quick;
    for (uint8_t k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
        uint8_t row = jpeg_zigzag[k], column = (uint8_t)(row % BLOCK * BLOCK + row / BLOCK);
        bands->place[k] = way->order == JPEG_SCAN ? k : way->order == JPEG_ROWS ? row : column;
    }
}

enum status jpeg_coefficients_read_by(const struct jpeg_coefficients_way *way, struct bytes input,
                                      const struct codec_limits *limits, const struct image_shape *shape,
                                      uint8_t *memory, struct error *err) {
    struct coefficients_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        return fail(err, ST_BUSY, "no memory to read a JPEG");
    }
    struct jpeg_dec_header *header = &reader->header;
    enum status status = ST_OK;
    bool good = coefficients_lay_out(shape, &reader->layout) && open_header(header, way->header, input) &&
                is_shape(header, shape, &reader->layout) &&
                (!way->plain || jpeg_frame_is_plain(&header->frame));
    if (good) {
        reader->limits = limits;
        set_way(&reader->bands, way);
        lend(reader, memory, way->table);
        count_blocks(reader, shape);
        status = read_scans(reader, &good, err);
    }
    free(reader);
    return status != ST_OK || good
               ? status
               : fail(err, ST_UNSUPPORTED, "the JPEG's scans are damaged, incomplete or unusual");
}

enum status jpeg_coefficients_read(struct bytes input, const struct codec_limits *limits,
                                   const struct image_shape *shape, bool plain, uint8_t *memory,
                                   struct error *err) {
    const struct jpeg_coefficients_way way = {.quick = processor_extracts_bits(), .plain = plain};
    return jpeg_coefficients_read_by(&way, input, limits, shape, memory, err);
}
