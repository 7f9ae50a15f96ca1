/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/numbers.h"
#include "gpu/jpeg/progressive.h"
#include "gpu/jpeg/progressive/progressive_header.h"
#include "gpu/jpeg/progressive/progressive_pack.h"

enum {
    UNSEEN = -1,
    SIDE = COEFFICIENTS_SIDE,
    BLOCK_BYTES = COEFFICIENTS_BLOCK * sizeof(int16_t),
    ALIGNMENT = 256,
    CODES_MAX = KERNEL_PROGRESSIVE_SCANS + PROGRESSIVE_COMPONENTS,
    NOTES_FREE = 1 << 20, /* bytes that notes may take beyond those of the values */
};

struct progressive_parser {
    struct progressive_header header;
    struct progressive_pack pack;
    struct progressive_head head;
    struct progressive_source *source;
    int8_t low[PROGRESSIVE_COMPONENTS][COEFFICIENTS_BLOCK]; /* bits that are missing; UNSEEN: all */
};

size_t progressive_room(void) {
    size_t scan = bytes_align_up(sizeof(uint32_t), PROGRESSIVE_PACK_ALIGNMENT) + PROGRESSIVE_PACK_ALIGNMENT;
    return bytes_align_up(sizeof(struct progressive_head) + CODES_MAX * sizeof(struct progressive_codes) +
                              PROGRESSIVE_FILE_MAX + (KERNEL_PROGRESSIVE_SCANS + 1) * scan,
                          ALIGNMENT);
}

/* ---- the frame ---- */

/* Whether the frame's components are the planes. A single one may have any factors, as it has no MCUs. */
static bool is_shape(const struct progressive_header *header, const struct image_shape *shape,
                     const struct coefficients_layout *layout) {
    bool same = header->frame.count == layout->planes && header->frame.width == shape->width &&
                header->frame.height == shape->height;
    for (uint32_t i = 0; i < header->frame.count && layout->planes > 1; i++) {
        same = same && header->frame.component[i].h == (i > 0 ? 1 : layout->h) &&
               header->frame.component[i].v == (i > 0 ? 1 : layout->v);
    }
    return same;
}

static void describe(struct progressive_parser *parser, const struct image_shape *shape) {
    const struct coefficients_layout *layout = &parser->source->layout;
    struct progressive_head *head = &parser->head;
    const uint8_t *row = jpeg_zigzag;
    for (uint32_t k = 0; k < COEFFICIENTS_BLOCK; k++) {
        uint32_t place = (uint32_t)row[k] % SIDE * SIDE + (uint32_t)row[k] / SIDE;
        head->place[k] = (uint8_t)(place * sizeof(int16_t));
    }
    head->blocks = layout->blocks;
    head->mcus_x = layout->mcus_x;
    head->mcus_y = layout->mcus_y;
    head->in_mcu = layout->in_mcu;
    head->components = layout->planes;
    for (uint32_t i = 0; i < layout->planes; i++) {
        uint32_t h = i > 0 ? layout->h : 1, v = i > 0 ? layout->v : 1;
        head->component[i] = (struct progressive_component){
            .across = divide_up(divide_up(shape->width, h), SIDE),
            .down = divide_up(divide_up(shape->height, v), SIDE),
            .h = i > 0 ? 1 : layout->h,
            .v = i > 0 ? 1 : layout->v,
            .first = i > 0 ? (uint32_t)layout->h * layout->v + i - 1 : 0,
        };
    }
}

/* ---- scans ---- */

/* A component's steps are those before its first scan. */
static bool latch_steps(struct progressive_parser *parser, uint32_t component, bool first) {
    const struct progressive_header *header = &parser->header;
    const uint16_t *steps = header->quantisers.of[header->frame.component[component].quantiser];
    bool same = true;
    for (uint32_t k = 0; k < COEFFICIENTS_BLOCK; k++) {
        uint16_t *to = &parser->source->head.quantiser[component][jpeg_zigzag[k]];
        same = same && (first || *to == steps[k]);
        *to = steps[k];
    }
    return same;
}

/* Notes which bits a scan brings. Each must be the next one of its coefficients. */
static bool note_band(struct progressive_parser *parser, uint32_t component) {
    const struct progressive_header *header = &parser->header;
    int8_t *low = parser->low[component];
    if (!latch_steps(parser, component, low[0] == UNSEEN) || (header->scan.from > 0 && low[0] == UNSEEN)) {
        return false;
    }
    for (uint32_t k = header->scan.from; k <= header->scan.to; k++) {
        if (header->scan.high > 0 ? low[k] != header->scan.high : low[k] != UNSEEN) {
            return false;
        }
        low[k] = (int8_t)header->scan.low;
    }
    return true;
}

static uint64_t band_of(const struct progressive_scan *scan) {
    return ~(uint64_t)0 << scan->from & ~(uint64_t)0 >> (COEFFICIENTS_BLOCK - 1 - scan->to);
}

/* Lists the last scans before this one that brought bits of its coefficients. Each of them tells what is not
 * 0 in its band. */
static void find_sources(struct progressive_head *head, struct progressive_scan *scan) {
    uint64_t open = band_of(scan);
    for (uint32_t i = head->scans; i-- > 0 && open != 0;) {
        struct progressive_scan *other = &head->scan[i];
        if (other->from > 0 && other->part[0] == scan->part[0] && (band_of(other) & open) != 0) {
            scan->source[scan->sources++] = (uint8_t)i;
            other->kept = 1;
            open &= ~band_of(other);
        }
    }
}

/* The bits that a scan with one bit of each DC coefficient has. */
static uint32_t dc_bits(const struct progressive_head *head, const struct progressive_scan *scan) {
    const struct progressive_component *first = &head->component[scan->part[0]];
    uint32_t in_mcu = 0;
    for (uint32_t i = 0; i < scan->parts; i++) {
        const struct progressive_component *component = &head->component[scan->part[i]];
        in_mcu += component->h * component->v;
    }
    return scan->parts > 1 ? head->mcus_x * head->mcus_y * in_mcu : first->across * first->down;
}

static enum status pack_codes(struct progressive_parser *parser, struct progressive_scan *scan,
                              struct error *err) {
    const struct progressive_header *header = &parser->header;
    for (uint32_t i = 0; i < scan->parts && scan->kind != PROGRESSIVE_DC_MORE; i++) {
        const struct progressive_codes *codes = scan->from > 0 ? &header->codes[1][header->scan.part[i].ac]
                                                               : &header->codes[0][header->scan.part[i].dc];
        if (!progressive_pack_codes(&parser->pack, codes, &scan->codes[i])) {
            return progressive_header_refuse(err, "there is no room for it");
        }
    }
    return ST_OK;
}

static void describe_scan(struct progressive_parser *parser, struct progressive_scan *scan) {
    const struct progressive_header *header = &parser->header;
    bool first = header->scan.high == 0;
    *scan = (struct progressive_scan){
        .kind = header->scan.from > 0 ? (first ? PROGRESSIVE_AC_FIRST : PROGRESSIVE_AC_MORE)
                                      : (first ? PROGRESSIVE_DC_FIRST : PROGRESSIVE_DC_MORE),
        .from = header->scan.from,
        .to = header->scan.to,
        .low = header->scan.low,
        .parts = header->scan.count,
    };
    for (uint32_t i = 0; i < scan->parts; i++) {
        scan->part[i] = header->scan.part[i].component;
    }
    const struct progressive_component *component = &parser->head.component[scan->part[0]];
    scan->blocks = component->across * component->down;
    if (scan->kind == PROGRESSIVE_AC_MORE) {
        find_sources(&parser->head, scan);
    }
}

static enum status add_scan(struct progressive_parser *parser, struct error *err) {
    struct progressive_header *header = &parser->header;
    struct progressive_head *head = &parser->head;
    if (head->scans == KERNEL_PROGRESSIVE_SCANS) {
        return progressive_header_refuse(err, "it has more than 32 scans");
    }
    for (uint32_t i = 0; i < header->scan.count; i++) {
        if (!note_band(parser, header->scan.part[i].component)) {
            return progressive_header_refuse(err, "its scans are not in order");
        }
    }
    struct progressive_scan *scan = &head->scan[head->scans];
    describe_scan(parser, scan);
    enum status status = pack_codes(parser, scan, err);
    if (status == ST_OK) {
        status = progressive_pack_data(&parser->pack, header->file, &header->at, scan, err);
    }
    if (status == ST_OK && scan->kind == PROGRESSIVE_DC_MORE &&
        scan->bits / 8 != divide_up(dc_bits(head, scan), 8)) {
        return progressive_header_refuse(err, "a scan has too few bits or too many");
    }
    head->scans++;
    return status;
}

/* ---- the whole ---- */

static bool is_complete(const struct progressive_parser *parser) {
    bool complete = true;
    for (uint32_t i = 0; i < parser->head.components; i++) {
        for (uint32_t k = 0; k < COEFFICIENTS_BLOCK; k++) {
            complete = complete && parser->low[i][k] == 0;
        }
    }
    return complete;
}

/* Gives the masks and changes of the scans their places, and returns their bytes. */
static uint64_t place_notes(struct progressive_head *head) {
    uint64_t used = 0;
    for (uint32_t i = 0; i < head->scans; i++) {
        struct progressive_scan *scan = &head->scan[i];
        uint64_t each = bytes_align_up(scan->blocks, KERNEL_PROGRESSIVE_GROUP);
        scan->masks = (uint32_t)used;
        used += scan->kept ? each : 0;
        scan->changes = (uint32_t)used;
        used += scan->kind == PROGRESSIVE_AC_MORE ? each : 0;
    }
    return used * sizeof(uint64_t);
}

static enum status finish(struct progressive_parser *parser, struct error *err) {
    struct progressive_head *head = &parser->head;
    struct progressive_source *source = parser->source;
    size_t values = (size_t)head->blocks * BLOCK_BYTES, used = parser->pack.used;
    uint64_t notes = place_notes(head);
    if (!is_complete(parser)) {
        return progressive_header_refuse(err, "it is incomplete");
    }
    if (notes > values + NOTES_FREE) {
        return progressive_header_refuse(err, "its scans need too much memory");
    }
    source->longest = progressive_pack_lists(head);
    head->size = (uint32_t)used;
    head->copy = (uint32_t)bytes_align_up(values, ALIGNMENT);
    head->notes = (uint32_t)bytes_align_up(head->copy + used, ALIGNMENT);
    source->input = used;
    source->memory = bytes_align_up(head->notes + (size_t)notes, ALIGNMENT);
    source->plain = jpeg_frame_is_plain(&parser->header.frame);
    memcpy(parser->pack.room, head, sizeof *head);
    return ST_OK;
}

static enum status read_scans(struct progressive_parser *parser, const struct image_shape *shape,
                              struct error *err) {
    struct progressive_header *header = &parser->header;
    bool ended = false;
    enum status status = progressive_header_next(header, &ended, err);
    if (status == ST_OK && !is_shape(header, shape, &parser->source->layout)) {
        return progressive_header_refuse(err, "its frame is not of the shape that was found before");
    }
    describe(parser, shape);
    while (status == ST_OK && !ended) {
        status = add_scan(parser, err);
        if (status == ST_OK) {
            status = progressive_header_next(header, &ended, err);
        }
    }
    if (status == ST_OK && header->at != header->file.size) {
        return progressive_header_refuse(err, "there is data behind its end marker");
    }
    return status;
}

enum status progressive_parse(struct bytes file, const struct image_shape *shape, uint8_t *room, size_t size,
                              struct progressive_source *source, struct error *err) {
    struct progressive_parser parser = {.source = source};
    memset(source, 0, sizeof *source);
    memset(parser.low, UNSEEN, sizeof parser.low);
    if (!coefficients_lay_out(shape, &source->layout)) {
        return progressive_header_refuse(err, "it is not grey or YCbCr, or too large");
    }
    if (file.size > PROGRESSIVE_FILE_MAX) {
        return progressive_header_refuse(err, "it has more than 1 MiB");
    }
    if (!progressive_pack_begin(&parser.pack, room, size)) {
        return progressive_header_refuse(err, "there is no room for it");
    }
    enum status status = progressive_header_open(&parser.header, file, err);
    if (status == ST_OK) {
        status = read_scans(&parser, shape, err);
    }
    return status == ST_OK ? finish(&parser, err) : status;
}
