/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/progressive/progressive_pack.h"

#include <string.h>

#include "gpu/jpeg/progressive/progressive_header.h"

enum { MARKER = 0xff, WORD = sizeof(uint32_t), BYTE_BITS = 8 };

static size_t room_left(const struct progressive_pack *pack) {
    return pack->size - pack->used;
}

bool progressive_pack_begin(struct progressive_pack *pack, uint8_t *room, size_t size) {
    size -= size % PROGRESSIVE_PACK_ALIGNMENT;
    *pack = (struct progressive_pack){room, size, sizeof(struct progressive_head)};
    return size >= pack->used;
}

bool progressive_pack_codes(struct progressive_pack *pack, const struct progressive_codes *codes,
                            uint32_t *offset) {
    if (room_left(pack) < sizeof *codes) {
        return false;
    }
    memcpy(pack->room + pack->used, codes, sizeof *codes);
    *offset = (uint32_t)pack->used;
    pack->used += sizeof *codes;
    return true;
}

/* Copies a piece without a marker byte in it. If the file changes meanwhile the piece has other bytes, all of
 * which are data. Leaves room for the words behind the scan. */
static bool append(struct progressive_pack *pack, size_t *size, const uint8_t *from, size_t count) {
    if (room_left(pack) < PROGRESSIVE_PACK_ALIGNMENT + WORD + *size ||
        room_left(pack) - PROGRESSIVE_PACK_ALIGNMENT - WORD - *size < count) {
        return false;
    }
    memcpy(pack->room + pack->used + *size, from, count);
    *size += count;
    return true;
}

static enum status unstuff(struct progressive_pack *pack, struct bytes file, size_t *at, size_t *size,
                           struct error *err) {
    static const uint8_t stuffed = MARKER;
    for (uint8_t behind = 0; behind == 0;) {
        const uint8_t *from = file.data + *at;
        size_t left = file.size - *at;
        const uint8_t *found = left > 0 ? memchr(from, MARKER, left) : NULL;
        size_t plain = found ? (size_t)(found - from) : left;
        if (!found || left - plain < 2) {
            return progressive_header_refuse(err, "it does not end with an end marker");
        }
        bytes_fetch(&behind, found + 1, 1);
        if (!append(pack, size, from, plain) || (behind == 0 && !append(pack, size, &stuffed, 1))) {
            return progressive_header_refuse(err, "there is no room for it");
        }
        *at += behind == 0 ? plain + 2 : plain;
    }
    return ST_OK;
}

enum status progressive_pack_data(struct progressive_pack *pack, struct bytes file, size_t *at,
                                  struct progressive_scan *scan, struct error *err) {
    size_t size = 0;
    enum status status = unstuff(pack, file, at, &size, err);
    if (status != ST_OK) {
        return status;
    }
    size_t whole = bytes_align_up(size + WORD, PROGRESSIVE_PACK_ALIGNMENT);
    if (whole > room_left(pack)) {
        return progressive_header_refuse(err, "there is no room for it");
    }
    memset(pack->room + pack->used + size, 0, whole - size);
    scan->words = (uint32_t)pack->used;
    scan->last = (uint32_t)(whole / WORD - 1);
    scan->bits = (uint32_t)size * BYTE_BITS;
    pack->used += whole;
    return ST_OK;
}

/* About the time that a scan takes: refining takes more for each bit. */
static uint32_t weight_of(const struct progressive_scan *scan) {
    uint32_t bytes = scan->bits / BYTE_BITS;
    return (scan->kind == PROGRESSIVE_AC_MORE ? bytes + bytes / 3 : bytes) + scan->blocks / 2 + 1;
}

/* Returns the scan with the largest weight. A scan without codes, or one that has its warp, has the weight 0.
 */
static uint32_t heaviest(const uint32_t *weight, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 1; i < count; i++) {
        found = weight[i] > weight[found] ? i : found;
    }
    return found;
}

uint32_t progressive_pack_lists(struct progressive_head *head) {
    uint32_t weight[KERNEL_PROGRESSIVE_SCANS] = {0}, load[KERNEL_PROGRESSIVE_WARPS] = {0};
    uint32_t warp_of[KERNEL_PROGRESSIVE_SCANS], most = 0;
    for (uint32_t i = 0; i < head->scans; i++) {
        weight[i] = head->scan[i].kind == PROGRESSIVE_DC_MORE ? 0 : weight_of(&head->scan[i]);
        warp_of[i] = KERNEL_PROGRESSIVE_WARPS; /* none */
    }
    for (uint32_t i = heaviest(weight, head->scans); weight[i] > 0; i = heaviest(weight, head->scans)) {
        uint32_t warp = 0;
        for (uint32_t other = 1; other < KERNEL_PROGRESSIVE_WARPS; other++) {
            warp = load[other] < load[warp] ? other : warp;
        }
        load[warp] += weight[i];
        most = load[warp] > most ? load[warp] : most;
        warp_of[i] = warp;
        weight[i] = 0;
    }
    for (uint32_t i = 0; i < head->scans; i++) {
        if (warp_of[i] < KERNEL_PROGRESSIVE_WARPS) {
            head->list[warp_of[i]][head->listed[warp_of[i]]++] = (uint8_t)i;
        }
    }
    return most;
}
