/* SPDX-License-Identifier: MIT
 * Searches grey pictures for codes as a request does, for bench/codes.py and detect/codes/train.py:
 *
 *     build/release/bench/codes reader|finder|both|parts FILE.pgm ...
 *
 * For each box a line has the file and the corners of the box. "parts" tells of each part that is judged,
 * instead, the corners, and what is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/codes/codes.h"
#include "detect/codes/cpu/codes_features.h"
#include "detect/codes/cpu/codes_search.h"
#include "detect/codes/reader/codes_read.h"

enum { SIDE_MAX = 20000 };

static const double threshold = 0.5;

struct file {
    const char *path;
    unsigned width, height;
    uint8_t *grey;
};

static bool load(struct file *file) {
    FILE *stream = fopen(file->path, "rb");
    bool read = stream && fscanf(stream, "P5 %u %u 255", &file->width, &file->height) == 2 &&
                file->width <= SIDE_MAX && file->height <= SIDE_MAX && fgetc(stream) != EOF;
    size_t size = read ? (size_t)file->width * file->height : 0;
    file->grey = malloc(size + 1);
    read = read && file->grey && fread(file->grey, 1, size, stream) == size;
    if (stream) {
        fclose(stream);
    }
    return read;
}

static void copy(const struct file *file, const struct plane *plane) {
    for (uint32_t y = 0; y < plane->height; y++) {
        memcpy(plane_row(plane, y), file->grey + (size_t)y * file->width, plane->width);
    }
}

static enum status read_codes(const struct file *file, struct codes_symbols *symbols, struct error *err) {
    const char *path = getenv("CODES_LIBRARY");
    struct image image;
    const struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = file->width, .height = file->height};
    size_t size = image_layout(&image, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size);
    enum status status = codes_read_open(path ? path : "build/codes/libblurd-zxing.so", err);
    if (status == ST_OK && memory) {
        image_place(&image, memory);
        copy(file, &image.plane[0]);
        struct buf found;
        buf_init(&found, sizeof symbols->symbol);
        status = codes_read(&image, &found, err);
        status = status == ST_OK
                     ? codes_symbols_parse(buf_bytes(&found), file->width, file->height, symbols, err)
                     : status;
        buf_finish(&found);
    }
    free(memory);
    return status;
}

static void print_part(const struct file *file, const struct codes_level *level, enum codes_texture texture,
                       const uint32_t *cells, uint32_t count) {
    struct codes_place place;
    int32_t corner[4][2], feature[CODES_FEATURES];
    codes_place_measure(level, cells, count, &place);
    codes_place_corners(&place, corner);
    codes_features_measure(&place, texture, feature);
    if (!codes_features_suffice(feature)) {
        return;
    }
    printf("%s", file->path);
    for (int i = 0; i < 8; i++) {
        printf(" %u", corner[i / 2][i % 2] * (int32_t)(file->width / level->width));
    }
    for (int i = 0; i < CODES_FEATURES; i++) {
        printf(" %d", feature[i]);
    }
    printf("\n");
}

struct part {
    const struct file *file;
    const struct codes_level *level;
    enum codes_texture texture;
};

static void found(void *context, const uint32_t *cells, uint32_t count) {
    const struct part *part = context;
    print_part(part->file, part->level, part->texture, cells, count);
}

static void print_parts(const struct file *file, const struct codes_pyramid *pyramid) {
    for (unsigned i = 0; i < pyramid->count; i++) {
        for (unsigned texture = 0; texture < CODES_TEXTURES; texture++) {
            struct part part = {file, &pyramid->level[i], (enum codes_texture)texture};
            codes_parts_find(part.level, part.texture, found, &part);
        }
    }
}

static void print_boxes(const struct file *file, const struct boxes *boxes) {
    for (unsigned i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->box[i];
        const double right = box->x + box->width, bottom = box->y + box->height;
        printf("%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", file->path, box->x, box->y, right, box->y,
               right, bottom, box->x, bottom);
    }
}

static enum status search(const struct file *file, const char *way, struct error *err) {
    static struct candidates candidates;
    static struct boxes boxes;
    struct codes_symbols symbols = {0};
    struct codes_pyramid pyramid;
    const struct boxes_frame frame = {.searched_width = file->width,
                                      .searched_height = file->height,
                                      .width = file->width,
                                      .height = file->height};
    const bool reads = strcmp(way, "reader") == 0 || strcmp(way, "both") == 0;
    enum status status = reads ? read_codes(file, &symbols, err) : ST_OK;
    uint8_t *memory = calloc(1, codes_search_bytes(file->width, file->height) + 1);
    if (status == ST_OK && memory) {
        codes_search_place(&pyramid, file->width, file->height, memory);
        for (uint32_t y = 0; pyramid.count > 0 && y < pyramid.level[0].height; y++) {
            memcpy(pyramid.level[0].grey + (size_t)y * pyramid.level[0].width,
                   file->grey + (size_t)y * file->width, pyramid.level[0].width);
        }
        const int32_t least = strcmp(way, "reader") == 0 ? CODES_SURE : codes_least(threshold);
        status = codes_search_run(&pyramid, &symbols, least, 0, &candidates, err);
    }
    if (status == ST_OK && strcmp(way, "parts") == 0) {
        print_parts(file, &pyramid);
    } else if (status == ST_OK) {
        status = codes_find(NULL, &candidates, &frame, &boxes, err);
        print_boxes(file, &boxes);
    }
    free(memory);
    return status;
}

int main(int count, char **arguments) {
    struct error err = {0};
    for (int i = 2; i < count; i++) {
        struct file file = {.path = arguments[i]};
        enum status status =
            load(&file) ? search(&file, arguments[1], &err) : fail(&err, ST_CORRUPT, "no picture");
        free(file.grey);
        if (status != ST_OK) {
            fprintf(stderr, "%s: %s\n", file.path, err.text);
            return 1;
        }
    }
    return 0;
}
