/* SPDX-License-Identifier: MIT */
#include "server/process/sample_restarts.h"

/* The offset of a segment in a file of ours, which has it. */
static size_t find_segment(struct bytes file, uint8_t marker) {
    size_t at = 2;
    while (file.data[at + 1] != marker) {
        at += 2u + ((size_t)file.data[at + 2] << 8 | file.data[at + 3]);
    }
    return at;
}

/* Appends strip `number`: the scan of its file after a restart marker. The first one begins the file. */
static enum status append_strip(struct buf *made, struct bytes strip, const struct image *image,
                                unsigned number, struct error *err) {
    enum { SOF = 0xc0, RST = 0xd0, SOS = 0xda, SCAN_HEAD = 2 + 6 + 2 * 3, SIZE_AT = 5, END_SIZE = 2 };
    const uint8_t marker[] = {0xff, (uint8_t)(RST + (number + 7) % 8)};
    unsigned mcus = (image->width + 8 * 2 - 1) / (8 * 2);
    const uint8_t interval[] = {0xff, 0xdd, 0, 4, (uint8_t)(mcus >> 8), (uint8_t)mcus};
    size_t head = find_segment(strip, SOS), scan = head + SCAN_HEAD;
    enum status status;
    if (number > 0) {
        status = buf_append(made, marker, sizeof marker, err);
    } else if ((status = buf_append(made, strip.data, head, err)) == ST_OK) {
        uint8_t *height = made->data + find_segment(strip, SOF) + SIZE_AT;
        height[0] = (uint8_t)(image->height >> 8);
        height[1] = (uint8_t)image->height;
        status = buf_append(made, interval, sizeof interval, err);
        status = status == ST_OK ? buf_append(made, strip.data + head, SCAN_HEAD, err) : status;
    }
    return status == ST_OK ? buf_append(made, strip.data + scan, strip.size - END_SIZE - scan, err) : status;
}

enum status sample_restarts(const struct image *image, const struct encode_options *options, struct buf *made,
                            struct error *err) {
    enum { ROWS = 16 };
    static const uint8_t end[] = {0xff, 0xd9};
    enum status status = ST_OK;
    for (uint32_t y = 0; y < image->height && status == ST_OK; y += ROWS) {
        struct image_shape shape = image_shape(image);
        struct image strip;
        struct buf part;
        shape.height = image->height - y < ROWS ? image->height - y : ROWS;
        image_layout(&strip, &shape); /* its rows are as long */
        for (unsigned i = 0; i < strip.plane_count; i++) {
            strip.plane[i].data = plane_row(&image->plane[i], y >> image->plane[i].shift_y);
        }
        buf_init(&part, made->maximum);
        status = codec_encode(CODEC_JPEG, &strip, options, NULL, &part, err);
        status = status == ST_OK ? append_strip(made, buf_bytes(&part), image, y / ROWS, err) : status;
        buf_finish(&part);
    }
    return status == ST_OK ? buf_append(made, end, sizeof end, err) : status;
}
