/* SPDX-License-Identifier: MIT
 * TIFF files put together tag by tag, right or wrong: strips of zeros but for the first sample, without
 * compression. */
#ifndef BLURD_TESTS_TIFF_FIXTURE_H
#define BLURD_TESTS_TIFF_FIXTURE_H

#include "tests/unit/codecs/picture_fixture.h"

enum { TIFF_FIXTURE_MAX = 4096, TIFF_FIXTURE_NOT_BUILT = 77 };

struct tiff_fixture {
    bool little, big;
    size_t size;
    size_t link; /* where the offset of the next directory goes */
    uint8_t data[TIFF_FIXTURE_MAX];
};

/* A number with its tag and type (3: SHORT, 4: LONG, 5: two numbers of a fraction). The list ends with tag 0.
 */
struct tiff_fixture_tag {
    uint16_t tag, type;
    uint32_t value, second;
};

static inline void tiff_fixture_put(struct tiff_fixture *file, size_t at, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        file->data[at + (file->little ? i : size - 1 - i)] = (uint8_t)(value >> 8 * i);
    }
}

static inline void tiff_fixture_add(struct tiff_fixture *file, uint64_t value, unsigned size) {
    assert_true(file->size + size <= TIFF_FIXTURE_MAX);
    tiff_fixture_put(file, file->size, value, size);
    file->size += size;
}

static inline void tiff_fixture_start(struct tiff_fixture *file, bool little, bool big) {
    memset(file, 0, sizeof(*file));
    file->little = little, file->big = big;
    memset(file->data, little ? 'I' : 'M', 2);
    file->size = 2;
    tiff_fixture_add(file, big ? 43 : 42, 2);
    if (big) {
        tiff_fixture_add(file, 8, 2);
        tiff_fixture_add(file, 0, 2);
    }
    file->link = file->size;
    tiff_fixture_add(file, 0, big ? 8 : 4);
}

/* Adds a directory behind those before. */
static inline void tiff_fixture_page(struct tiff_fixture *file, const struct tiff_fixture_tag *tags) {
    const unsigned wide = file->big ? 8 : 4;
    unsigned count = 0;
    while (tags[count].tag != 0) {
        count++;
    }
    size_t values = file->size;
    for (unsigned i = 0; i < count; i++) {
        if (tags[i].type == 5 && !file->big) {
            tiff_fixture_add(file, tags[i].value, 4);
            tiff_fixture_add(file, tags[i].second, 4);
        }
    }
    tiff_fixture_put(file, file->link, file->size, wide);
    tiff_fixture_add(file, count, file->big ? 8 : 2);
    for (unsigned i = 0; i < count; i++) {
        tiff_fixture_add(file, tags[i].tag, 2);
        tiff_fixture_add(file, tags[i].type, 2);
        tiff_fixture_add(file, 1, wide);
        tiff_fixture_add(file, 0, wide);
        if (tags[i].type == 5 && !file->big) {
            tiff_fixture_put(file, file->size - wide, values, 4);
            values += 8;
        } else {
            tiff_fixture_put(file, file->size - wide, tags[i].value, tags[i].type == 3 ? 2 : 4);
            if (tags[i].type == 5) {
                tiff_fixture_put(file, file->size - 4, tags[i].second, 4);
            }
        }
    }
    file->link = file->size;
    tiff_fixture_add(file, 0, wide);
}

static inline struct bytes tiff_fixture_bytes(const struct tiff_fixture *file) {
    return (struct bytes){file->data, file->size};
}

/* A grey picture of 4 x 3 pixels in one strip, 10, 20 ... 120. Tags that are given take the place of its own;
 * type 0 leaves one out. */
static inline void tiff_fixture_grey(struct tiff_fixture *file, const struct tiff_fixture_tag *given) {
    enum { WIDTH = 4, HEIGHT = 3 };
    const struct tiff_fixture_tag own[] = {{256, 3, WIDTH, 0},
                                           {257, 3, HEIGHT, 0},
                                           {258, 3, 8, 0},
                                           {259, 3, 1, 0},
                                           {262, 3, 1, 0},
                                           {273, 4, (uint32_t)file->size, 0},
                                           {277, 3, 1, 0},
                                           {278, 3, HEIGHT, 0},
                                           {279, 4, WIDTH * HEIGHT, 0},
                                           {0}};
    struct tiff_fixture_tag tags[24];
    unsigned count = 0;
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        tiff_fixture_add(file, 10 + 10 * i, 1);
    }
    for (unsigned i = 0; own[i].tag != 0; i++) {
        bool replaced = false;
        for (const struct tiff_fixture_tag *tag = given; tag && tag->tag != 0; tag++) {
            replaced = replaced || tag->tag == own[i].tag;
        }
        if (!replaced) {
            tags[count++] = own[i];
        }
    }
    for (const struct tiff_fixture_tag *tag = given; tag && tag->tag != 0; tag++) {
        if (tag->type != 0) {
            tags[count++] = *tag;
        }
    }
    tags[count] = (struct tiff_fixture_tag){0};
    tiff_fixture_page(file, tags);
}

#endif
