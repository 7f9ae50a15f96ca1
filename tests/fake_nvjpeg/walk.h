/* SPDX-License-Identifier: MIT
 * What nvJPEG's parser tells of a file: its shape, and whether it is whole. */
#ifndef BLURD_TESTS_FAKE_NVJPEG_WALK_H
#define BLURD_TESTS_FAKE_NVJPEG_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WALK_COMPONENTS_MAX = 4 };

struct walk {
    uint8_t process; /* the n of the marker SOFn: 0 baseline, 2 progressive */
    uint8_t precision;
    uint16_t width, height;
    uint8_t components;
    uint8_t factors[WALK_COMPONENTS_MAX]; /* sampling: horizontal << 4 | vertical */
    unsigned scans;
};

/* Walks from the first byte to EOI. A status of nvJPEG: NVJPEG_BAD_JPEG for what is no JPEG or contradicts
 * itself, NVJPEG_INCOMPLETE_BITSTREAM for one that stops early, NVJPEG_NOT_SUPPORTED for arithmetic coding,
 * lossless and hierarchical processes and other than 8 bits. *walk counts after success alone. */
int walk_file(const uint8_t *data, size_t size, struct walk *walk);

/* Whether a hardware decoder takes it: baseline, one scan, grey or three components in 4:4:4, 4:2:2, 4:2:0 or
 * 4:4:0. */
bool walk_fits_hardware(const struct walk *walk);

#endif
