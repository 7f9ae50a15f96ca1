/* SPDX-License-Identifier: MIT */
#include "core/jpeg/frame.h"

#include "core/jpeg/segments.h"
#include "core/jpeg/tables.h"

enum { FRAME_HEAD = 6, FRAME_EACH = 3, BITS = 8, LOW_MAX = 13 };

static bool is_component(const struct jpeg_frame_header *frame, uint32_t index) {
    const struct jpeg_component *c = &frame->component[index];
    bool good = c->h >= 1 && c->h <= JPEG_FRAME_FACTOR_MAX && c->v >= 1 && c->v <= JPEG_FRAME_FACTOR_MAX &&
                c->quantiser < JPEG_TABLES_MAX;
    for (uint32_t i = 0; i < index; i++) {
        good = good && frame->component[i].id != c->id;
    }
    return good;
}

const char *jpeg_frame_read(struct jpeg_frame_header *frame, struct bytes segment) {
    uint32_t count = segment.size >= FRAME_HEAD ? segment.data[5] : 0;
    if (frame->count > 0 || (count != 1 && count != JPEG_FRAME_COMPONENTS) || segment.data[0] != BITS ||
        segment.size != FRAME_HEAD + (size_t)count * FRAME_EACH) {
        return "its frame is not one of 8 bits and 1 or 3 components";
    }
    *frame = (struct jpeg_frame_header){
        .height = bytes_be16(segment.data + 1), .width = bytes_be16(segment.data + 3), .count = count};
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = segment.data + FRAME_HEAD + (size_t)i * FRAME_EACH;
        struct jpeg_component *to = &frame->component[i];
        *to = (struct jpeg_component){from[0], from[1] >> 4, from[1] & 15, from[2]};
        if (!is_component(frame, i)) {
            return "its frame is damaged";
        }
        frame->h_max = to->h > frame->h_max ? to->h : frame->h_max;
        frame->v_max = to->v > frame->v_max ? to->v : frame->v_max;
    }
    return frame->width > 0 && frame->height > 0 ? NULL : "its frame has no size";
}

bool jpeg_frame_is_plain(const struct jpeg_frame_header *frame) {
    bool plain = true;
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct jpeg_component *c = &frame->component[i];
        bool luma = i == 0 && frame->count > 1;
        plain = plain && c->id == i + 1 && c->quantiser == (i > 0) && (luma || (c->h == 1 && c->v == 1));
    }
    return plain;
}

/* DC stands alone, or for several components; a band of AC is one component's. */
static bool read_band(struct jpeg_scan_header *scan, bool progressive, const uint8_t *from) {
    if (!progressive) {
        scan->to = JPEG_TABLE_COEFFICIENTS - 1;
        return true;
    }
    scan->from = from[0];
    scan->to = from[1];
    scan->high = from[2] >> 4;
    scan->low = from[2] & 15;
    bool band = scan->from == 0
                    ? scan->to == 0
                    : scan->count == 1 && scan->from <= scan->to && scan->to < JPEG_TABLE_COEFFICIENTS;
    return band && scan->low <= LOW_MAX && (scan->high == 0 || scan->low + 1 == scan->high);
}

static bool read_part(const struct jpeg_frame_header *frame, uint32_t first, const uint8_t *from,
                      struct jpeg_scan_part *part) {
    uint32_t component = first;
    while (component < frame->count && frame->component[component].id != from[0]) {
        component++;
    }
    *part = (struct jpeg_scan_part){(uint8_t)component, from[1] >> 4, from[1] & 15};
    return component < frame->count && part->dc < JPEG_TABLES_MAX && part->ac < JPEG_TABLES_MAX;
}

const char *jpeg_frame_read_scan(const struct jpeg_frame_header *frame, bool progressive,
                                 struct bytes segment, struct jpeg_scan_header *scan) {
    uint32_t count = segment.size > 0 ? segment.data[0] : 0, blocks = 0;
    if (count < 1 || count > frame->count || segment.size != 4 + 2 * (size_t)count) {
        return "a scan's header is damaged";
    }
    *scan = (struct jpeg_scan_header){.count = count};
    if (!read_band(scan, progressive, segment.data + 1 + 2 * (size_t)count)) {
        return "a scan has coefficients that it may not have";
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = i > 0 ? scan->part[i - 1].component + 1u : 0;
        if (!read_part(frame, first, segment.data + 1 + 2 * (size_t)i, &scan->part[i])) {
            return "a component of a scan is unknown or lacks a table";
        }
        const struct jpeg_component *component = &frame->component[scan->part[i].component];
        blocks += (uint32_t)component->h * component->v;
    }
    return count == 1 || blocks <= JPEG_MCU_BLOCKS_MAX ? NULL : "a scan has too many blocks in an MCU";
}

bool jpeg_scan_header_needs_dc(const struct jpeg_scan_header *scan) {
    return scan->from == 0 && scan->high == 0;
}

bool jpeg_scan_header_needs_ac(const struct jpeg_scan_header *scan) {
    return scan->to > 0;
}
