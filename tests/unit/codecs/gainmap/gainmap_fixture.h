/* SPDX-License-Identifier: MIT
 * Files of several JPEGs, without pixels: the reader of gain maps decodes none. */
#ifndef BLURD_TESTS_GAINMAP_FIXTURE_H
#define BLURD_TESTS_GAINMAP_FIXTURE_H

#include <string.h>

#include "codecs/gainmap/gainmap_iso.h"
#include "codecs/metadata/xmp.h"

#define MAP_SPACE "xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\""
#define MAP_NUMBERS "hdrgm:Version=\"1.0\" hdrgm:GainMapMax=\"2.5\" hdrgm:HDRCapacityMax=\"3\""
#define PACKET(attributes, elements)                                                                         \
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "                                                        \
    "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description " MAP_SPACE " " attributes   \
    ">" elements "</rdf:Description></rdf:RDF></x:xmpmeta>"

struct made_file {
    uint8_t data[8 << 10];
    size_t size;
};

static inline struct bytes made_bytes(const struct made_file *file) {
    return (struct bytes){file->data, file->size};
}

static inline void put_bytes(struct made_file *file, const void *data, size_t size) {
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static inline void put_segment(struct made_file *file, uint8_t marker, const void *name, size_t name_size,
                               const void *data, size_t size) {
    size_t length = name_size + size + 2;
    const uint8_t head[] = {0xFF, marker, (uint8_t)(length >> 8), (uint8_t)length};
    put_bytes(file, head, sizeof head);
    put_bytes(file, name, name_size);
    put_bytes(file, data, size);
}

static inline void put_packet(struct made_file *file, const char *packet) {
    put_segment(file, 0xE1, XMP_JPEG_NAME, sizeof XMP_JPEG_NAME, packet, strlen(packet));
}

static inline void put_iso(struct made_file *file, const struct gainmap_numbers *numbers) {
    uint8_t bytes[GAINMAP_ISO_MAX];
    size_t size = gainmap_iso_write(numbers, bytes);
    put_segment(file, 0xE2, GAINMAP_ISO_NAME, sizeof GAINMAP_ISO_NAME, bytes, size);
}

static inline void begin_picture(struct made_file *file) {
    put_bytes(file, "\xFF\xD8", 2);
}

/* A scan with a stuffed 0xFF and a restart, between its header and EOI. */
static inline void end_picture(struct made_file *file) {
    static const char scan[] = "\xFF\xDA\0\4\1\0coded\xFF\0\xFF\xD0more\xFF\xD9";
    put_bytes(file, scan, sizeof scan - 1);
}

/* The index of a base and one more picture, whose place is set by set_listed. */
static inline size_t put_index(struct made_file *file) {
    static const char index[] = "MPF\0MM\0*\0\0\0\x08"
                                "\0\2"
                                "\xB0\x00\0\7\0\0\0\0040100"
                                "\xB0\x02\0\7\0\0\0\x20\0\0\0\x26"
                                "\0\0\0\0"
                                "\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"; /* the last zero ends the text */
    put_segment(file, 0xE2, "", 0, index, sizeof index);
    return file->size - sizeof index + 4;
}

static inline void set_listed(struct made_file *file, size_t index, size_t at, size_t size) {
    bytes_put_be32(file->data + index + 38 + 16 + 4, (uint32_t)size);
    bytes_put_be32(file->data + index + 38 + 16 + 8, (uint32_t)(at - index));
}

#endif
