/* SPDX-License-Identifier: MIT
 * Parses the segments of a progressive JPEG between its scans. The file can change meanwhile: each segment is
 * copied once and parsed from the copy. As strict as codecs/jpeg/sequential/jpeg_dec_header.h or stricter, so
 * that both find the same in a file. Thread-safe. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_HEADER_H
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_HEADER_H

#include "core/jpeg/frame.h"
#include "core/jpeg/segments.h"
#include "core/jpeg/tables.h"
#include "gpu/jpeg/progressive/progressive_kernels.h"

enum {
    PROGRESSIVE_COMPONENTS = KERNEL_PLANES,
    PROGRESSIVE_SEGMENT_MAX = 4096, /* bytes of a segment other than metadata */
};

struct progressive_header {
    struct bytes file;
    size_t at; /* of the next marker; of the data behind a scan's header */
    struct jpeg_frame_header frame;
    struct jpeg_quantisers quantisers;  /* of quantisation */
    bool has_codes[2][JPEG_TABLES_MAX]; /* DC, AC */
    struct progressive_codes codes[2][JPEG_TABLES_MAX];
    struct jpeg_scan_header scan; /* its tables exist */
};

/* Fails with the reason why the file is left to the CPU. */
enum status progressive_header_refuse(struct error *err, const char *why);

/* Begins a file: it begins with a start marker. */
enum status progressive_header_open(struct progressive_header *header, struct bytes file, struct error *err);

/* Reads on up to a scan's data, or to the end marker: *ended. ST_UNSUPPORTED with the reason. */
enum status progressive_header_next(struct progressive_header *header, bool *ended, struct error *err);

#endif
