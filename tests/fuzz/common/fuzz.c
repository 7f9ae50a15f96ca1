/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/common/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_require(bool true_thing, const char *sentence) {
    if (!true_thing) {
        fprintf(stderr, "this does not hold: %s\n", sentence);
        abort();
    }
}

uint8_t fuzz_byte(struct bytes *input) {
    if (input->size == 0) {
        return 0;
    }
    input->size--;
    return *input->data++;
}

uint16_t fuzz_short(struct bytes *input) {
    uint8_t high = fuzz_byte(input);
    return (uint16_t)(high << 8 | fuzz_byte(input));
}

uint8_t fuzz_last_byte(struct bytes *input) {
    return input->size == 0 ? 0 : input->data[--input->size];
}

struct bytes fuzz_until(struct bytes *input, uint8_t separator) {
    const uint8_t *end = input->size ? memchr(input->data, separator, input->size) : NULL;
    size_t size = end ? (size_t)(end - input->data) : input->size;
    struct bytes front = {input->data, size};
    size_t taken = size + (end != NULL);
    *input = (struct bytes){taken ? input->data + taken : input->data, input->size - taken};
    return front;
}

char *fuzz_text(struct bytes input) {
    char *text = malloc(input.size + 1);
    fuzz_require(text, "there is memory");
    if (input.size > 0) {
        memcpy(text, input.data, input.size);
    }
    text[input.size] = '\0';
    return text;
}

struct codec_limits fuzz_limits(void) {
    return (struct codec_limits){
        .max_pixels = 1 << 17, .max_side = 1 << 13, .max_scans = 30, .max_memory = 64 << 20};
}

struct image fuzz_image(const struct image_shape *shape, uint8_t fill) {
    struct image image;
    size_t size = image_layout(&image, shape), room = codec_decode_room(CODEC_PNG, shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size + room);
    fuzz_require(size > 0 && memory, "there is memory for a picture");
    memset(memory, fill, size + room);
    image_place(&image, memory);
    image.room = room;
    return image;
}

void fuzz_image_free(struct image *image) {
    free(image->plane[0].data - image->plane[0].offset);
}

bool fuzz_same_pixels(const struct image *a, const struct image *b) {
    for (unsigned p = 0; p < a->plane_count; p++) {
        for (uint32_t y = 0; y < a->plane[p].height; y++) {
            size_t size = plane_row_bytes(&a->plane[p], a->depth);
            if (memcmp(plane_row(&a->plane[p], y), plane_row(&b->plane[p], y), size) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* xorshift, Marsaglia 2003 */
void fuzz_paint(const struct image *image, uint32_t seed) {
    uint32_t state = seed ? seed : 1;
    for (unsigned p = 0; p < image->plane_count; p++) {
        for (uint32_t y = 0; y < image->plane[p].height; y++) {
            uint8_t *row = plane_row(&image->plane[p], y);
            for (size_t i = 0; i < plane_row_bytes(&image->plane[p], image->depth); i++) {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                row[i] = (uint8_t)(state >> 24);
            }
        }
    }
}
