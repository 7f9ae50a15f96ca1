/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_sanitize.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "codecs/metadata/icc/icc_element.h"

enum { ENTRY_SIZE = 12, ENTRIES_MAX = 100, NAME_MAX_LETTERS = 63, TABLE = ICC_HEADER_SIZE + 4 };

#define SIGNATURE ICC_SIGNATURE

/* What defines colours. A reader that knows floating-point tables (D2B0) finds A2B0 in their place, which the
 * standard demands beside them. */
static const struct {
    uint32_t signature;
    unsigned types;
} kept[] = {
    {SIGNATURE('r', 'X', 'Y', 'Z'), ICC_XYZ},    {SIGNATURE('g', 'X', 'Y', 'Z'), ICC_XYZ},
    {SIGNATURE('b', 'X', 'Y', 'Z'), ICC_XYZ},    {SIGNATURE('r', 'T', 'R', 'C'), ICC_CURVE},
    {SIGNATURE('g', 'T', 'R', 'C'), ICC_CURVE},  {SIGNATURE('b', 'T', 'R', 'C'), ICC_CURVE},
    {SIGNATURE('k', 'T', 'R', 'C'), ICC_CURVE},  {SIGNATURE('A', '2', 'B', '0'), ICC_TABLE},
    {SIGNATURE('A', '2', 'B', '1'), ICC_TABLE},  {SIGNATURE('A', '2', 'B', '2'), ICC_TABLE},
    {SIGNATURE('B', '2', 'A', '0'), ICC_TABLE},  {SIGNATURE('B', '2', 'A', '1'), ICC_TABLE},
    {SIGNATURE('B', '2', 'A', '2'), ICC_TABLE},  {SIGNATURE('w', 't', 'p', 't'), ICC_XYZ},
    {SIGNATURE('c', 'h', 'a', 'd'), ICC_MATRIX}, {SIGNATURE('c', 'i', 'c', 'p'), ICC_CODE},
};
enum { KEPT = sizeof kept / sizeof *kept, COLORANTS = 0x3f, GREY_CURVE = 1 << 6, TO_PCS = 7 << 7 };

struct icc_entry {
    uint32_t signature, offset, size;
};

struct rewriting {
    struct bytes profile;
    struct icc_entry from[KEPT]; /* in the input, in the order of `to` */
    struct icc_entry to[KEPT + 2];
    unsigned count;
    unsigned found; /* bits of `kept` */
    struct buf body;
};

static bool is_one_of(const uint8_t *at, const char *const *names) {
    for (; *names; names++) {
        if (memcmp(at, *names, 4) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_readable(struct bytes profile) {
    static const char *const classes[] = {"mntr", "scnr", "prtr", "spac", NULL};
    static const char *const spaces[] = {"RGB ", "GRAY", NULL}, *const connections[] = {"XYZ ", "Lab ", NULL};
    const uint8_t *header = profile.data;
    return profile.size >= TABLE && bytes_be32(header + ICC_HEADER_SIZE) <= ENTRIES_MAX &&
           bytes_be32(header + ICC_HEADER_SIZE) <= (profile.size - TABLE) / ENTRY_SIZE && header[8] >= 2 &&
           header[8] <= 4 && memcmp(header + 36, "acsp", 4) == 0 && is_one_of(header + 12, classes) &&
           is_one_of(header + 16, spaces) && is_one_of(header + 20, connections);
}

/* The first entry of that name whose element lies in the profile. */
static bool find(struct bytes profile, uint32_t signature, struct icc_entry *entry) {
    const uint8_t *at = profile.data + TABLE;
    for (uint32_t left = bytes_be32(profile.data + ICC_HEADER_SIZE); left > 0; left--, at += ENTRY_SIZE) {
        *entry = (struct icc_entry){bytes_be32(at), bytes_be32(at + 4), bytes_be32(at + 8)};
        if (entry->signature == signature) {
            return entry->offset <= profile.size && entry->size <= profile.size - entry->offset;
        }
    }
    return false;
}

/* Curves of several colours are often one element; it is written once. */
static bool is_shared(struct rewriting *work, const struct icc_entry *from) {
    for (unsigned i = 2; i < work->count; i++) {
        if (work->from[i - 2].offset == from->offset && work->from[i - 2].size == from->size) {
            work->to[work->count].offset = work->to[i].offset;
            work->to[work->count].size = work->to[i].size;
            return true;
        }
    }
    return false;
}

/* Ends an element that began at `start` of the body. */
static enum status close_element(struct rewriting *work, uint32_t signature, size_t start,
                                 struct error *err) {
    static const uint8_t zeros[3] = {0};
    struct buf *body = &work->body;
    size_t size = body->size - start;
    work->to[work->count++] = (struct icc_entry){signature, (uint32_t)start, (uint32_t)size};
    return buf_append(body, zeros, bytes_align_up(body->size, 4) - body->size, err);
}

static enum status copy_tag(struct rewriting *work, unsigned i, struct error *err) {
    struct icc_entry from;
    if (!find(work->profile, kept[i].signature, &from)) {
        return ST_OK;
    }
    struct icc_entry *to = &work->to[work->count];
    size_t start = work->body.size;
    struct bytes element = {work->profile.data + from.offset, from.size};
    work->from[work->count - 2] = from;
    if (!(icc_element_types(element) & kept[i].types)) {
        return ST_OK;
    }
    if (is_shared(work, &from)) {
        to->signature = kept[i].signature;
        work->count++;
        work->found |= 1u << i;
        return ST_OK;
    }
    enum status status = icc_element_copy(element, &work->body, err);
    if (status != ST_OK || work->body.size == start) {
        return status;
    }
    work->found |= 1u << i;
    return close_element(work, kept[i].signature, start, err);
}

/* The plain letters of the name, of a text in ASCII (version 2) or UTF-16 (version 4). */
static void read_name(struct bytes profile, char name[NAME_MAX_LETTERS + 1]) {
    struct icc_entry entry;
    unsigned letters = 0;
    if (find(profile, SIGNATURE('d', 'e', 's', 'c'), &entry) && entry.size > 28) {
        const uint8_t *text = profile.data + entry.offset;
        bool wide = memcmp(text, "mluc", 4) == 0;
        size_t at = wide ? bytes_be32(text + 24) : 12, size = bytes_be32(text + (wide ? 20 : 8));
        size_t step = wide ? 2 : 1;
        bool inside = at <= entry.size && size <= entry.size - at;
        for (size_t i = step - 1; inside && i < size && letters < NAME_MAX_LETTERS; i += step) {
            uint8_t letter = text[at + i];
            bool plain = letter >= ' ' && letter <= '~' && (!wide || text[at + i - 1] == 0);
            if (plain) {
                name[letters++] = (char)letter;
            }
        }
    }
    name[letters] = 0;
    if (letters == 0) {
        snprintf(name, NAME_MAX_LETTERS + 1, "%.4s", (const char *)profile.data + 16);
    }
}

static enum status write_text(struct rewriting *work, uint32_t signature, const char *text,
                              struct error *err) {
    bool wide = work->profile.data[8] == 4, described = signature == SIGNATURE('d', 'e', 's', 'c');
    uint8_t bytes[28 + 2 * NAME_MAX_LETTERS + 80] = {0};
    size_t length = strlen(text), start = work->body.size, size;
    if (wide) { /* one record in English */
        memcpy(bytes, "mluc\0\0\0\0\0\0\0\1\0\0\0\14enUS", 20);
        bytes_put_be32(bytes + 20, (uint32_t)(2 * length));
        bytes_put_be32(bytes + 24, 28);
        for (size_t i = 0; i < length; i++) {
            bytes[28 + 2 * i + 1] = (uint8_t)text[i];
        }
        size = 28 + 2 * length;
    } else if (described) { /* then no text in Unicode and none in ScriptCode: 4 + 4 + 2 + 1 + 67 bytes */
        memcpy(bytes, "desc", 4);
        bytes_put_be32(bytes + 8, (uint32_t)length + 1);
        memcpy(bytes + 12, text, length);
        size = 12 + length + 1 + 78;
    } else {
        memcpy(bytes, "text", 4);
        memcpy(bytes + 8, text, length);
        size = 8 + length + 1;
    }
    enum status status = buf_append(&work->body, bytes, size, err);
    return status == ST_OK ? close_element(work, signature, start, err) : status;
}

/* Who made the profile, when, for which device, and its checksum stay zero. */
static enum status write_head(const struct rewriting *work, struct buf *output, struct error *err) {
    static const uint8_t d50[12] = {0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d}; /* clause 7.2.16 */
    uint8_t head[TABLE + ENTRY_SIZE * (KEPT + 2)] = {0};
    uint32_t size = (uint32_t)(TABLE + ENTRY_SIZE * work->count);
    const uint8_t *from = work->profile.data;
    bytes_put_be32(head, size + (uint32_t)work->body.size);
    memcpy(head + 8, from + 8, 2);
    memcpy(head + 12, from + 12, 12);
    memcpy(head + 36, "acsp", 4);
    head[67] = from[67] & 3; /* the intent */
    memcpy(head + 68, d50, sizeof d50);
    bytes_put_be32(head + ICC_HEADER_SIZE, work->count);
    for (unsigned i = 0; i < work->count; i++) {
        uint8_t *entry = head + TABLE + ENTRY_SIZE * i;
        bytes_put_be32(entry, work->to[i].signature);
        bytes_put_be32(entry + 4, size + work->to[i].offset);
        bytes_put_be32(entry + 8, work->to[i].size);
    }
    return buf_append(output, head, size, err);
}

static bool is_complete(const struct rewriting *work) {
    bool grey = memcmp(work->profile.data + 16, "GRAY", 4) == 0;
    bool curves = grey ? work->found & GREY_CURVE : (work->found & COLORANTS) == COLORANTS;
    return curves || work->found & TO_PCS;
}

static enum status rewrite(struct rewriting *work, struct buf *output, struct error *err) {
    char name[NAME_MAX_LETTERS + 1];
    read_name(work->profile, name);
    enum status status = write_text(work, SIGNATURE('d', 'e', 's', 'c'), name, err);
    status = status == ST_OK ? write_text(work, SIGNATURE('c', 'p', 'r', 't'), "none", err) : status;
    for (unsigned i = 0; i < KEPT && status == ST_OK; i++) {
        status = copy_tag(work, i, err);
    }
    if (status != ST_OK || !is_complete(work)) {
        return status;
    }
    status = write_head(work, output, err);
    return status == ST_OK ? buf_append(output, work->body.data, work->body.size, err) : status;
}

enum status icc_sanitize(struct bytes profile, struct buf *output, struct error *err) {
    struct rewriting work = {.profile = profile};
    if (!is_readable(profile)) {
        return ST_OK;
    }
    buf_init(&work.body, output->maximum);
    enum status status = rewrite(&work, output, err);
    buf_finish(&work.body);
    if (status != ST_OK) {
        output->size = 0;
    }
    return status == ST_LIMIT ? ST_OK : status;
}
