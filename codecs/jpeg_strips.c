/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg_strips.h"

#include <stdlib.h>

#include "codecs/jpeg.h"
#include "core/crew.h"

enum {
    STRIP_PIXELS = 1 << 18, /* about 0.3 ms, and 5 bytes for the marker and what it ends */
    COST = 3,               /* of a pixel, against a sample that is blurred */
    MARKER_SIZE = 2,
    START_OF_FRAME = 0xC0,
    FIRST_RESTART = 0xD0,
    RESTARTS = 8,
    START_OF_SCAN = 0xDA,
    HEIGHT_AT = 5, /* in a frame's header, from its marker */
};

struct strips {
    const struct image *image;
    const struct encode_options *options;
    const struct metadata *metadata;
    uint32_t rows;
    struct buf *strip; /* each a JPEG of its own */
};

uint32_t jpeg_strip_rows(const struct image *image, const struct encode_options *options) {
    uint32_t rows = STRIP_PIXELS / image->width / IMAGE_MCU * IMAGE_MCU;
    rows = rows > 0 ? rows : IMAGE_MCU;
    return rows < image->height && !options->progressive ? rows : 0;
}

unsigned jpeg_strip_seats(const struct image *image, const struct encode_options *options) {
    uint32_t rows = jpeg_strip_rows(image, options);
    if (rows == 0) {
        return 1;
    }
    unsigned seats = crew_seats(options->crew, (uint64_t)image->width * image->height * COST);
    uint32_t strips = (image->height + rows - 1) / rows;
    return seats < strips ? seats : strips;
}

/* The rows from `y` as a picture. */
static struct image view(const struct image *image, uint32_t y, uint32_t rows) {
    struct image strip = *image;
    strip.height = image->height - y < rows ? image->height - y : rows;
    for (unsigned i = 0; i < strip.plane_count; i++) {
        struct plane *plane = &strip.plane[i];
        uint32_t from = y >> plane->shift_y;
        uint32_t left = plane->height - from, most = rows >> plane->shift_y;
        plane->data = plane_row(plane, from);
        plane->height = left < most ? left : most;
    }
    return strip;
}

static enum status run_strip(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)seat;
    const struct strips *strips = context;
    const struct image image = view(strips->image, part * strips->rows, strips->rows);
    return jpeg_encode_picture(&image, strips->options, part == 0 ? strips->metadata : NULL, strips->rows,
                               &strips->strip[part], err);
}

/* From one marker to the next: what libjpeg has written before a scan. */
static uint8_t *find_segment(const struct buf *file, uint8_t marker) {
    uint8_t *at = file->data + MARKER_SIZE;
    while (at[1] != marker) {
        at += MARKER_SIZE + be16(at + MARKER_SIZE);
    }
    return at;
}

/* The first strip begins the file, with the height of the whole. Of the others only what follows the head of
 * the scan is taken; and the end of the file only from the last one. */
static enum status join(const struct strips *strips, unsigned count, struct buf *output, struct error *err) {
    uint8_t *height = find_segment(&strips->strip[0], START_OF_FRAME) + HEIGHT_AT;
    height[0] = (uint8_t)(strips->image->height >> 8), height[1] = (uint8_t)strips->image->height;
    enum status status = ST_OK;
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        const struct buf *strip = &strips->strip[i];
        const uint8_t *from = strip->data, *end = strip->data + strip->size;
        if (i > 0) {
            const uint8_t marker[MARKER_SIZE] = {0xFF, (uint8_t)(FIRST_RESTART + (i - 1) % RESTARTS)};
            status = buf_append(output, marker, sizeof(marker), err);
            from = find_segment(strip, START_OF_SCAN);
            from += MARKER_SIZE + be16(from + MARKER_SIZE);
        }
        end -= i + 1 < count ? MARKER_SIZE : 0;
        status = status != ST_OK ? status : buf_append(output, from, (size_t)(end - from), err);
    }
    return status;
}

enum status jpeg_strips_write(const struct image *image, const struct encode_options *options,
                              const struct metadata *metadata, unsigned seats, struct buf *output,
                              struct error *err) {
    struct strips strips = {image, options, metadata, jpeg_strip_rows(image, options), NULL};
    unsigned count = (image->height + strips.rows - 1) / strips.rows;
    strips.strip = calloc(count, sizeof(*strips.strip));
    if (!strips.strip) {
        return fail(err, ST_BUSY, "out of memory for the strips of a JPEG");
    }
    for (unsigned i = 0; i < count; i++) {
        buf_init(&strips.strip[i], output->maximum);
    }
    struct crew_work work = {.part = run_strip, .context = &strips, .parts = count, .seats = seats};
    enum status status = crew_run(options->crew, &work, err);
    status = status != ST_OK ? status : join(&strips, count, output, err);
    for (unsigned i = 0; i < count; i++) {
        buf_finish(&strips.strip[i]);
    }
    free(strips.strip);
    return status;
}
