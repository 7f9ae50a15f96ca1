/* SPDX-License-Identifier: MIT
 * The rows of an image as PNG stores them: in its form, big-endian, a filter byte before each. Internal to
 * codecs/; one thread at a time. */
#ifndef BLURD_CODECS_PNG_PNG_ROWS_H
#define BLURD_CODECS_PNG_PNG_ROWS_H

#include "codecs/png/png_filter.h"
#include "codecs/png/png_form.h"
#include "core/image.h"
#include "core/status.h"

struct png_made; /* rows as the file stores them */

struct png_rows {
    const struct image *image;
    const struct png_form *form;
    size_t line;    /* bytes of a filtered row, with the filter byte */
    unsigned pixel; /* bytes a pixel, 1 for fewer bits */
    struct png_made *made;
};

/* `form`, of png_form_choose, and the image must not change meanwhile. ST_BUSY without memory. */
enum status png_rows_init(struct png_rows *rows, const struct image *image, const struct png_form *form,
                          struct error *err);
void png_rows_finish(struct png_rows *rows);

/* Filters `count` rows from `y` to count * rows->line bytes. */
void png_rows_filter(const struct png_rows *rows, uint32_t y, uint32_t count, enum png_filter filter,
                     uint8_t *to);

/* Chooses for each row the filter with the smallest sum of differences. */
void png_rows_filter_best(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *to);

/* The filter with the smallest sum of differences for these rows, from a sample of one row in eight.
 * `scratch` has rows->line bytes. */
enum png_filter png_rows_choose(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *scratch);

/* The sum of the distances of a row's bytes from what Paeth's filter predicts, 255 from 0 being 255.
 * `scratch` has rows->line bytes. */
uint64_t png_rows_distance(const struct png_rows *rows, uint32_t y, uint8_t *scratch);

#endif
