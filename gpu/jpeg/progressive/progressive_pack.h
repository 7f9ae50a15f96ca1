/* SPDX-License-Identifier: MIT
 * Packs what the kernel needs of a progressive JPEG into memory of a given size (progressive_kernels.h).
 * Thread-safe. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_PACK_H
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_PACK_H

#include "core/bytes.h"
#include "gpu/jpeg/progressive/progressive_kernels.h"

enum { PROGRESSIVE_PACK_ALIGNMENT = 16 };

struct progressive_pack {
    uint8_t *room;
    size_t size, used; /* of the room; `used` is a multiple of PROGRESSIVE_PACK_ALIGNMENT */
};

/* Leaves space for the head. False: no room. */
bool progressive_pack_begin(struct progressive_pack *pack, uint8_t *room, size_t size);

/* Appends codes, and stores their offset. False: no room. */
bool progressive_pack_codes(struct progressive_pack *pack, const struct progressive_codes *codes,
                            uint32_t *offset);

/* Appends the data of a scan without its stuffing: from *at up to the next marker, whose offset is then at
 * *at. Fills in the fields of *scan for it. The file may change meanwhile. ST_UNSUPPORTED with the reason. */
enum status progressive_pack_data(struct progressive_pack *pack, struct bytes file, size_t *at,
                                  struct progressive_scan *scan, struct error *err);

/* Gives each warp its scans: long ones first, each to the warp with the least to do. Returns the most that a
 * warp has to do, about in bytes. */
uint32_t progressive_pack_lists(struct progressive_head *head);

#endif
