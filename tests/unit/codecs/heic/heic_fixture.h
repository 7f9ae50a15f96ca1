/* SPDX-License-Identifier: MIT
 * HEIC files put together box by box around three pictures of 64 x 64 pixels, right or wrong. */
#ifndef BLURD_TESTS_HEIC_FIXTURE_H
#define BLURD_TESTS_HEIC_FIXTURE_H

#include "tests/unit/codecs/picture_fixture.h"

/* Quadrants of 32 x 32 pixels, written by x265 3.5: red and green above blue and yellow, as HEIC_COLOURS
 * says. The grey picture is 60 on the left and 220 on the right. */
static const uint8_t heic_colour_config[] = {
    0x01, 0x03, 0x70, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1E, 0xF0, 0x00, 0xFC,
    0xFD, 0xF8, 0xF8, 0x00, 0x00, 0x0F, 0x03, 0x20, 0x00, 0x01, 0x00, 0x18, 0x40, 0x01, 0x0C, 0x01,
    0xFF, 0xFF, 0x03, 0x70, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00,
    0x1E, 0xBA, 0x02, 0x40, 0x21, 0x00, 0x01, 0x00, 0x2B, 0x42, 0x01, 0x01, 0x03, 0x70, 0x00, 0x00,
    0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x1E, 0xA0, 0x20, 0x81, 0x05, 0x96,
    0xEA, 0x49, 0x29, 0xAE, 0x6E, 0x04, 0x04, 0x0C, 0x08, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00,
    0x03, 0x00, 0x08, 0x40, 0x22, 0x00, 0x01, 0x00, 0x07, 0x44, 0x01, 0xC1, 0x72, 0xB0, 0x22, 0x40};
static const uint8_t heic_colour_data[] = {0x00, 0x00, 0x00, 0x30, 0x28, 0x01, 0xAF, 0x19, 0x80, 0xF7, 0x7C,
                                           0x85, 0x37, 0xFF, 0xF7, 0x0E, 0x67, 0xFD, 0x4D, 0x8B, 0xFE, 0x17,
                                           0x12, 0xF6, 0xB3, 0xBB, 0xC8, 0x38, 0x6D, 0xFF, 0x6F, 0x2A, 0xF7,
                                           0xFE, 0xD3, 0x00, 0x7A, 0x5B, 0xD3, 0xFC, 0x6A, 0x08, 0xC4, 0xBF,
                                           0x94, 0x58, 0x5F, 0xBB, 0xAF, 0x7F, 0x70, 0xFF};
static const uint8_t heic_mono_config[] = {
    0x01, 0x04, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1E, 0xF0, 0x00, 0xFC,
    0xFC, 0xF8, 0xF8, 0x00, 0x00, 0x0F, 0x03, 0x20, 0x00, 0x01, 0x00, 0x17, 0x40, 0x01, 0x0C, 0x01,
    0xFF, 0xFF, 0x04, 0x08, 0x00, 0x00, 0x03, 0x00, 0x9F, 0xF8, 0x00, 0x00, 0x03, 0x00, 0x00, 0x1E,
    0xBA, 0x02, 0x40, 0x21, 0x00, 0x01, 0x00, 0x26, 0x42, 0x01, 0x01, 0x04, 0x08, 0x00, 0x00, 0x03,
    0x00, 0x9F, 0xF8, 0x00, 0x00, 0x03, 0x00, 0x00, 0x1E, 0xC0, 0x82, 0x04, 0x16, 0x5B, 0xA9, 0x24,
    0xA6, 0xB9, 0xB0, 0x20, 0x00, 0x00, 0x03, 0x00, 0x20, 0x00, 0x00, 0x03, 0x00, 0x21, 0x22, 0x00,
    0x01, 0x00, 0x07, 0x44, 0x01, 0xC1, 0x72, 0xB0, 0x22, 0x40};
static const uint8_t heic_mono_data[] = {0x00, 0x00, 0x00, 0x12, 0x28, 0x01, 0xAE, 0x33, 0xE2, 0xB0, 0xE0,
                                         0xFF, 0xFF, 0x56, 0xB7, 0x69, 0xBF, 0xD0, 0xA9, 0xDF, 0xE3, 0x80};
static const uint8_t heic_deep_config[] = {
    0x01, 0x04, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1E, 0xF0, 0x00, 0xFC,
    0xFD, 0xFA, 0xFA, 0x00, 0x00, 0x0F, 0x03, 0x20, 0x00, 0x01, 0x00, 0x17, 0x40, 0x01, 0x0C, 0x01,
    0xFF, 0xFF, 0x04, 0x08, 0x00, 0x00, 0x03, 0x00, 0x9D, 0xB8, 0x00, 0x00, 0x03, 0x00, 0x00, 0x1E,
    0xBA, 0x02, 0x40, 0x21, 0x00, 0x01, 0x00, 0x2A, 0x42, 0x01, 0x01, 0x04, 0x08, 0x00, 0x00, 0x03,
    0x00, 0x9D, 0xB8, 0x00, 0x00, 0x03, 0x00, 0x00, 0x1E, 0xA0, 0x20, 0x81, 0x04, 0xD9, 0x6E, 0xA4,
    0x92, 0x9A, 0xE6, 0xE0, 0x40, 0x40, 0xC0, 0x80, 0x00, 0x00, 0x03, 0x00, 0x80, 0x00, 0x00, 0x03,
    0x00, 0x84, 0x22, 0x00, 0x01, 0x00, 0x07, 0x44, 0x01, 0xC1, 0x72, 0xB0, 0x22, 0x40};
static const uint8_t heic_deep_data[] = {0x00, 0x00, 0x00, 0x33, 0x28, 0x01, 0xAF, 0x19, 0x80, 0xF7, 0x7C,
                                         0x89, 0xCF, 0xFF, 0xFA, 0x2F, 0xF7, 0xFE, 0x6D, 0x12, 0xFF, 0xB1,
                                         0x44, 0xBD, 0xAC, 0xF6, 0x1A, 0x63, 0xBF, 0xF7, 0xFE, 0x88, 0xFC,
                                         0xF7, 0xFF, 0x44, 0x04, 0x1F, 0x2E, 0x48, 0xBF, 0xDE, 0xB1, 0x83,
                                         0x12, 0xFE, 0xF4, 0x81, 0x7F, 0x64, 0x0B, 0x7F, 0xA1, 0x7F, 0xC0};

static const uint8_t heic_colours[4][3] = {{200, 40, 40}, {40, 160, 60}, {50, 70, 210}, {220, 210, 60}};

#define HEIC_BYTES(array)                                                                                    \
    { (const uint8_t *)(array), sizeof(array) }
#define HEIC_TEXT(text)                                                                                      \
    { (const uint8_t *)(text), sizeof(text) - 1 }

/* What an item may have; letters name them. */
static const struct heic_property {
    char letter;
    const char *type;
    struct bytes body;
} heic_properties[] = {
    {'c', "hvcC", HEIC_BYTES(heic_colour_config)},
    {'m', "hvcC", HEIC_BYTES(heic_mono_config)},
    {'d', "hvcC", HEIC_BYTES(heic_deep_config)},
    {'s', "ispe", HEIC_TEXT("\0\0\0\0\0\0\0\x40\0\0\0\x40")}, /* 64 x 64 */
    {'g', "ispe", HEIC_TEXT("\0\0\0\0\0\0\0\x64\0\0\0\x3C")}, /* 100 x 60 */
    {'l', "ispe", HEIC_TEXT("\0\0\0\0\0\0\0\x40\0\0\0\x48")}, /* 64 x 72, a lie */
    {'h', "ispe", HEIC_TEXT("\0\0\0\0\0\0\x7D\0\0\0\x7D\0")}, /* 32000 x 32000 */
    {'r', "irot", HEIC_TEXT("\1")},                           /* 90 degrees anticlockwise */
    {'i', "imir", HEIC_TEXT("\1")},                           /* left becomes right */
    {'p', "clap",
     HEIC_TEXT("\0\0\0\x28\0\0\0\1\0\0\0\x1E\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1")}, /* 40 x 30 */
    {'a', "auxC", HEIC_TEXT("\0\0\0\0urn:mpeg:hevc:2015:auxid:1\0")},
    {'x', "auxC", HEIC_TEXT("\0\0\0\0urn:com:apple:photo:2020:aux:hdrgainmap\0")},
    {'n', "colr", HEIC_TEXT("nclx\0\x0C\0\x10\0\6\x80")}, /* Display P3, PQ */
    {'u', "colr", HEIC_TEXT("nclx\0\2\0\2\0\6\x80")},
    {'k', "colr", HEIC_TEXT("nclx\0\x63\0\x63\0\6\x80")}, /* numbers that stand for nothing */
    {'I', "colr", HEIC_TEXT("profPROFILE")},
};

struct heic_item_spec {
    const char *type; /* NULL ends the list */
    struct bytes data;
    const char *properties; /* letters */
    const char *content;    /* of an item of type mime */
};

struct heic_reference_spec {
    const char *type;            /* NULL ends the list */
    unsigned from, count, to[4]; /* of more than four the last is repeated */
};

static inline void heic_number(struct buf *file, uint64_t value, unsigned size) {
    for (unsigned i = size; i > 0; i--) {
        uint8_t byte = (uint8_t)(value >> 8 * (i - 1));
        assert_int_equal(buf_append(file, &byte, 1, NULL), ST_OK);
    }
}

static inline void heic_text(struct buf *file, const char *text) {
    assert_int_equal(buf_append(file, text, strlen(text), NULL), ST_OK);
}

static inline size_t heic_open(struct buf *file, const char *type) {
    size_t at = file->size;
    heic_number(file, 0, 4);
    heic_text(file, type);
    return at;
}

static inline size_t heic_open_full(struct buf *file, const char *type, unsigned version) {
    size_t at = heic_open(file, type);
    heic_number(file, (uint64_t)version << 24, 4);
    return at;
}

static inline void heic_close(struct buf *file, size_t at) {
    bytes_put_be32(file->data + at, (uint32_t)(file->size - at));
}

static inline unsigned heic_count(const struct heic_item_spec *items) {
    unsigned count = 0;
    while (items[count].type) {
        count++;
    }
    return count;
}

static inline void heic_put_list(struct buf *file, const struct heic_item_spec *items) {
    size_t iinf = heic_open_full(file, "iinf", 0);
    heic_number(file, heic_count(items), 2);
    for (unsigned i = 0; items[i].type; i++) {
        size_t infe = heic_open_full(file, "infe", 2);
        heic_number(file, i + 1, 2);
        heic_number(file, 0, 2);
        heic_text(file, items[i].type);
        heic_number(file, 0, 1);
        if (items[i].content) {
            heic_text(file, items[i].content);
            heic_number(file, 0, 1);
        }
        heic_close(file, infe);
    }
    heic_close(file, iinf);
}

static inline unsigned heic_property_number(char letter) {
    unsigned i = 0;
    while (heic_properties[i].letter != letter) {
        i++;
    }
    return i + 1;
}

static inline void heic_put_properties(struct buf *file, const struct heic_item_spec *items) {
    size_t iprp = heic_open(file, "iprp"), ipco = heic_open(file, "ipco");
    for (unsigned i = 0; i < sizeof(heic_properties) / sizeof(*heic_properties); i++) {
        size_t at = heic_open(file, heic_properties[i].type);
        assert_int_equal(buf_append(file, heic_properties[i].body.data, heic_properties[i].body.size, NULL),
                         ST_OK);
        heic_close(file, at);
    }
    heic_close(file, ipco);
    size_t ipma = heic_open_full(file, "ipma", 0);
    heic_number(file, heic_count(items), 4);
    for (unsigned i = 0; items[i].type; i++) {
        const char *letters = items[i].properties ? items[i].properties : "";
        heic_number(file, i + 1, 2);
        heic_number(file, strlen(letters), 1);
        for (; *letters; letters++) {
            heic_number(file, heic_property_number(*letters), 1);
        }
    }
    heic_close(file, ipma);
    heic_close(file, iprp);
}

static inline void heic_put_references(struct buf *file, const struct heic_reference_spec *references) {
    size_t iref = heic_open_full(file, "iref", 0);
    for (; references->type; references++) {
        size_t at = heic_open(file, references->type);
        heic_number(file, references->from, 2);
        heic_number(file, references->count, 2);
        for (unsigned i = 0; i < references->count; i++) {
            heic_number(file, references->to[i < 4 ? i : 3], 2);
        }
        heic_close(file, at);
    }
    heic_close(file, iref);
}

static inline void heic_put_locations(struct buf *file, const struct heic_item_spec *items, size_t base) {
    size_t iloc = heic_open_full(file, "iloc", 0);
    heic_number(file, 0x4400, 2);
    heic_number(file, heic_count(items), 2);
    for (unsigned i = 0; items[i].type; i++) {
        heic_number(file, i + 1, 2);
        heic_number(file, 0, 2);
        heic_number(file, 1, 2);
        heic_number(file, base, 4);
        heic_number(file, items[i].data.size, 4);
        base += items[i].data.size;
    }
    heic_close(file, iloc);
}

static inline void heic_put_meta(struct buf *file, const struct heic_item_spec *items,
                                 const struct heic_reference_spec *references, size_t base) {
    size_t meta = heic_open_full(file, "meta", 0), hdlr = heic_open_full(file, "hdlr", 0);
    heic_number(file, 0, 4);
    heic_text(file, "pict");
    heic_number(file, 0, 8);
    heic_number(file, 0, 5);
    heic_close(file, hdlr);
    size_t pitm = heic_open_full(file, "pitm", 0);
    heic_number(file, 1, 2);
    heic_close(file, pitm);
    heic_put_list(file, items);
    heic_put_references(file, references);
    heic_put_properties(file, items);
    heic_put_locations(file, items, base);
    heic_close(file, meta);
}

/* The first item is the primary one; ids count from 1. Free with buf_finish. */
static inline struct buf heic_file(const char *brand, const struct heic_item_spec *items,
                                   const struct heic_reference_spec *references) {
    static const struct heic_reference_spec none[1];
    struct buf file;
    buf_init(&file, 1 << 20);
    size_t ftyp = heic_open(&file, "ftyp");
    heic_text(&file, brand);
    heic_number(&file, 0, 4);
    heic_text(&file, "mif1heic");
    heic_close(&file, ftyp);
    size_t meta = file.size;
    heic_put_meta(&file, items, references ? references : none, 0);
    size_t base = file.size + 8;
    file.size = meta;
    heic_put_meta(&file, items, references ? references : none, base);
    size_t mdat = heic_open(&file, "mdat");
    for (unsigned i = 0; items[i].type; i++) {
        assert_int_equal(buf_append(&file, items[i].data.data, items[i].data.size, NULL), ST_OK);
    }
    heic_close(&file, mdat);
    return file;
}

#define HEIC_COLOUR(letters)                                                                                 \
    { "hvc1", HEIC_BYTES(heic_colour_data), letters, NULL }
#define HEIC_MONO(letters)                                                                                   \
    { "hvc1", HEIC_BYTES(heic_mono_data), letters, NULL }
#define HEIC_DEEP(letters)                                                                                   \
    { "hvc1", HEIC_BYTES(heic_deep_data), letters, NULL }
#define HEIC_END                                                                                             \
    { NULL, {NULL, 0}, NULL, NULL }

#endif
