/* SPDX-License-Identifier: MIT */
#include "tests/fake_nvjpeg/walk.h"

#include "core/bytes.h"
#include "gpu/nvjpeg.h"

enum {
    SOF0 = 0xc0,
    DHT = 0xc4,
    JPG = 0xc8,
    DAC = 0xcc,
    RST0 = 0xd0,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    TEM = 1
};
enum { FRAME_HEAD = 6, COMPONENT = 3, GOES_ON = -1 };

static bool is_frame(uint8_t marker) {
    return (marker & 0xf0) == SOF0 && marker != DHT && marker != JPG && marker != DAC;
}

/* Of a marker alone, without a length. */
static bool is_bare(uint8_t marker) {
    return marker == TEM || (marker >= RST0 && marker < SOI);
}

static int read_frame(uint8_t marker, const uint8_t *body, size_t size, struct walk *walk) {
    if (walk->components != 0 || size < FRAME_HEAD) {
        return NVJPEG_BAD_JPEG;
    }
    walk->process = marker & 15;
    walk->precision = body[0];
    walk->height = (uint16_t)be16(body + 1);
    walk->width = (uint16_t)be16(body + 3);
    walk->components = body[5];
    if (walk->components == 0 || walk->components > WALK_COMPONENTS_MAX || walk->width == 0 ||
        walk->height == 0 || size != FRAME_HEAD + (size_t)walk->components * COMPONENT) {
        return NVJPEG_BAD_JPEG;
    }
    for (unsigned i = 0; i < walk->components; i++) {
        walk->factors[i] = body[FRAME_HEAD + i * COMPONENT + 1];
    }
    return walk->process > 2 || walk->precision != 8 ? NVJPEG_NOT_SUPPORTED : GOES_ON;
}

/* To the next marker that is neither stuffing nor a restart. */
static size_t behind_scan(const uint8_t *data, size_t size, size_t at) {
    while (at + 1 < size &&
           (data[at] != 0xff || data[at + 1] == 0 || (data[at + 1] >= RST0 && data[at + 1] < SOI))) {
        at++;
    }
    return at + 1 < size ? at : size;
}

/* One marker and what belongs to it. GOES_ON, or the file's status. */
static int step(const uint8_t *data, size_t size, size_t *at, struct walk *walk) {
    while (*at + 1 < size && data[*at] == 0xff && data[*at + 1] == 0xff) {
        ++*at; /* fill bytes */
    }
    if (*at + 2 > size) {
        return NVJPEG_INCOMPLETE_BITSTREAM;
    }
    uint8_t marker = data[*at + 1];
    if (data[*at] != 0xff || marker == 0 || marker == SOI) {
        return NVJPEG_BAD_JPEG;
    }
    *at += 2;
    if (marker == EOI) {
        return walk->scans ? NVJPEG_SUCCESS : NVJPEG_BAD_JPEG;
    }
    if (is_bare(marker)) {
        return GOES_ON;
    }
    if (size - *at < 2 || size - *at < be16(data + *at)) {
        return NVJPEG_INCOMPLETE_BITSTREAM;
    }
    size_t length = be16(data + *at);
    if (length < 2 || (marker == SOS && walk->components == 0)) {
        return NVJPEG_BAD_JPEG;
    }
    const uint8_t *body = data + *at + 2;
    *at += length;
    if (marker == SOS) {
        walk->scans++;
        *at = behind_scan(data, size, *at);
    }
    return is_frame(marker) ? read_frame(marker, body, length - 2, walk) : GOES_ON;
}

int walk_file(const uint8_t *data, size_t size, struct walk *walk) {
    size_t at = 2;
    int status = GOES_ON;
    *walk = (struct walk){0};
    if (size < 2 || data[0] != 0xff || data[1] != SOI) {
        return NVJPEG_BAD_JPEG;
    }
    while (status == GOES_ON) {
        status = step(data, size, &at, walk);
    }
    return status;
}

bool walk_fits_hardware(const struct walk *walk) {
    bool alike = walk->components == 3 && walk->factors[1] == 0x11 && walk->factors[2] == 0x11 &&
                 (walk->factors[0] == 0x11 || walk->factors[0] == 0x21 || walk->factors[0] == 0x12 ||
                  walk->factors[0] == 0x22);
    return walk->process == 0 && walk->scans == 1 && (walk->components == 1 || alike);
}
