/* SPDX-License-Identifier: MIT */
#include "codecs/bmp/bmp_metadata.h"

#include <string.h>

#include "codecs/metadata/losses.h"

enum { INFO = 40, V4 = 108, V5 = 124 };
enum {
    AT_ACROSS = 24,
    AT_DOWN = 28,
    AT_KIND = 56,
    AT_ENDPOINTS = 60,
    AT_GAMMA = 96,
    AT_PROFILE = 112,
    AT_PROFILE_SIZE = 116
};
enum { CHRM = 0x6348524D, GAMA = 0x67414D41, CHRM_SIZE = 32, GAMA_SIZE = 4 };
enum { CALIBRATED = 0, LINKED = 0x4C494E4B, EMBEDDED = 0x4D424544 }; /* kinds of colours */

static void add(struct metadata *metadata, enum chunk_kind kind, uint32_t tag, struct bytes data) {
    metadata->chunk[metadata->chunk_count++] = (struct metadata_chunk){kind, tag, data};
}

static void read_density(const struct bmp_header *header, struct metadata *metadata) {
    uint8_t phys[9] = {[8] = 1}; /* pixels per metre */
    if (header->form.size >= INFO) {
        bytes_put_be32(phys, bmp_header_32(header->form.data + AT_ACROSS));
        bytes_put_be32(phys + 4, bmp_header_32(header->form.data + AT_DOWN));
        bool positive = phys[0] < 0x80 && phys[4] < 0x80;
        metadata->density = positive ? density_from_phys(phys) : (struct density){0};
    }
}

/* Its place counts from the header. */
static void read_profile(const struct bmp_header *header, struct metadata *metadata) {
    uint64_t at = bmp_header_32(header->form.data + AT_PROFILE);
    uint64_t size = bmp_header_32(header->form.data + AT_PROFILE_SIZE);
    const uint8_t *end = header->data.data + header->data.size;
    uint64_t room = (uint64_t)(end - header->form.data);
    if (size > 0 && at <= room && size <= room - at) {
        add(metadata, CHUNK_ICC, 0, (struct bytes){header->form.data + at, (size_t)size});
    } else {
        metadata->losses |= LOSS_COLOUR;
    }
}

/* A chromaticity of X, Y and Z, in 1/100000. */
static void put_chromaticity(const uint32_t xyz[3], uint8_t *chrm) {
    uint64_t sum = (uint64_t)xyz[0] + xyz[1] + xyz[2];
    for (unsigned i = 0; i < 2; i++) {
        bytes_put_be32(chrm + 4 * i, sum > 0 ? (uint32_t)((xyz[i] * (uint64_t)100000 + sum / 2) / sum) : 0);
    }
}

/* Three colours in 1/2^30, whose sum is the white, and three gammas in 1/65536, which must be one. Programs
 * that know nothing of it leave zeros. */
static enum status read_calibrated(const struct bmp_header *header, struct metadata *metadata,
                                   struct error *err) {
    const uint8_t *p = header->form.data;
    uint32_t colour[4][3] = {{0}}, gamma = bmp_header_32(p + AT_GAMMA);
    bool alike = bmp_header_32(p + AT_GAMMA + 4) == gamma && bmp_header_32(p + AT_GAMMA + 8) == gamma;
    bool stated = gamma > 0;
    for (unsigned i = 0; i < 9; i++) {
        colour[1 + i / 3][i % 3] = bmp_header_32(p + AT_ENDPOINTS + 4 * (size_t)i) >> 2;
        colour[0][i % 3] += colour[1 + i / 3][i % 3];
        stated = stated || colour[1 + i / 3][i % 3] > 0;
    }
    if (!stated) {
        return ST_OK;
    }
    if (!alike || gamma < 6554 || gamma > 10 * 65536) { /* 0.1 to 10 */
        metadata->losses |= LOSS_COLOUR;
        return ST_OK;
    }
    buf_init(&metadata->store, CHRM_SIZE + GAMA_SIZE);
    enum status status = buf_reserve(&metadata->store, CHRM_SIZE + GAMA_SIZE, err);
    if (status == ST_OK) {
        uint8_t *chrm = metadata->store.data, *gama = chrm + CHRM_SIZE;
        for (unsigned i = 0; i < 4; i++) {
            put_chromaticity(colour[i], chrm + 8 * (size_t)i);
        }
        bytes_put_be32(gama, (uint32_t)(((uint64_t)100000 * 65536 + gamma / 2) / gamma));
        metadata->store.size = CHRM_SIZE + GAMA_SIZE;
        add(metadata, CHUNK_COLOUR, GAMA, (struct bytes){gama, GAMA_SIZE});
        add(metadata, CHUNK_COLOUR, CHRM, (struct bytes){chrm, CHRM_SIZE});
    }
    return status;
}

enum status bmp_metadata_read(const struct bmp_header *header, struct metadata *metadata, struct error *err) {
    const size_t size = header->form.size;
    read_density(header, metadata);
    if (size != V4 && size != V5) {
        return ST_OK;
    }
    uint32_t kind = bmp_header_32(header->form.data + AT_KIND);
    if (kind == EMBEDDED && size == V5) {
        read_profile(header, metadata);
    }
    metadata->losses |= kind == LINKED ? LOSS_COLOUR : 0; /* in another file */
    return kind == CALIBRATED ? read_calibrated(header, metadata, err) : ST_OK;
}
