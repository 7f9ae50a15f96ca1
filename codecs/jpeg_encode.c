/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/jpeg_writer.h"

enum {
    SIDE_MAX = 65500,       /* libjpeg's own limit */
    ROWS_MAX = 4 * DCTSIZE, /* of one component in an MCU row */
};

static void set_sampling(struct jpeg_compress_struct *cinfo, const struct image *image,
                         const struct encode_options *options) {
    bool wide = options->subsampling != SUBSAMPLING_444;
    bool high = options->subsampling == SUBSAMPLING_AUTO || options->subsampling == SUBSAMPLING_420;
    cinfo->comp_info[0].h_samp_factor = wide ? 2 : 1;
    cinfo->comp_info[0].v_samp_factor = high ? 2 : 1;
    if (image->model == PIXEL_YCBCR) {
        cinfo->comp_info[0].h_samp_factor = 1 << image->plane[1].shift_x;
        cinfo->comp_info[0].v_samp_factor = 1 << image->plane[1].shift_y;
    }
}

/* Guarded. The quantisation tables are the standard ones for the quality; without
 * progression the Huffman tables are the standard ones too, which saves a pass. */
static void set_parameters(struct jpeg_compress_struct *cinfo, const struct image *image,
                           const struct encode_options *options) {
    bool gray = image->model == PIXEL_GRAY || image->model == PIXEL_GRAY_ALPHA;
    bool planar = image->model == PIXEL_YCBCR;
    cinfo->image_width = image->width;
    cinfo->image_height = image->height;
    cinfo->input_components = gray ? 1 : 3;
    cinfo->in_color_space = gray ? JCS_GRAYSCALE : planar ? JCS_YCbCr : JCS_RGB;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, options->quality, TRUE);
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->raw_data_in = planar || (image->model == PIXEL_GRAY && image->depth == 8);
    if (!gray) {
        set_sampling(cinfo, image, options);
    }
    if (options->progressive) {
        cinfo->optimize_coding = TRUE;
        jpeg_simple_progression(cinfo);
    }
}

/* Repeats the last column and row up to whole blocks, so that what was left in the padding
 * neither costs bits nor rings into the picture. */
static void fill_padding(const struct plane *plane) {
    size_t width = align_up(plane->width, DCTSIZE);
    size_t height = align_up(plane->height, DCTSIZE);
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = plane_row(plane, y);
        memset(row + plane->width, row[plane->width - 1], width - plane->width);
    }
    for (uint32_t y = plane->height; y < height; y++) {
        memcpy(plane_row(plane, y), plane_row(plane, plane->height - 1), width);
    }
}

/* Guarded. */
static void write_planes(struct jpeg_compress_struct *cinfo, const struct image *image) {
    JSAMPROW rows[IMAGE_PLANES_MAX][ROWS_MAX];
    JSAMPARRAY components[IMAGE_PLANES_MAX] = {rows[0], rows[1], rows[2]};
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE;
    while (cinfo->next_scanline < cinfo->image_height) {
        uint32_t mcu_row = cinfo->next_scanline / lines;
        for (unsigned p = 0; p < image->plane_count; p++) {
            uint32_t count = (uint32_t)cinfo->comp_info[p].v_samp_factor * DCTSIZE;
            for (uint32_t i = 0; i < count; i++) {
                rows[p][i] = plane_row(&image->plane[p], mcu_row * count + i);
            }
        }
        jpeg_write_raw_data(cinfo, components, lines);
    }
}

static uint16_t sample16(const uint8_t *p, size_t index) {
    uint16_t value;
    memcpy(&value, p + index * 2, 2);
    return value;
}

/* The exact nearest 8-bit value of a 16-bit one: round(v * 255 / 65535). */
static uint8_t reduce16(unsigned v) {
    return (uint8_t)((v * 255 + 32895) >> 16);
}

static void convert_row8(const uint8_t *from, uint8_t *to, uint32_t width, unsigned channels, bool alpha) {
    unsigned colours = channels - alpha;
    for (uint32_t x = 0; x < width; x++, from += channels, to += colours) {
        unsigned a = alpha ? from[colours] : 255;
        for (unsigned c = 0; c < colours; c++) {
            to[c] = (uint8_t)((from[c] * a + 255 * (255 - a) + 127) / 255);
        }
    }
}

static void convert_row16(const uint8_t *from, uint8_t *to, uint32_t width, unsigned channels, bool alpha) {
    unsigned colours = channels - alpha;
    for (size_t x = 0; x < width; x++) {
        uint64_t a = alpha ? sample16(from, x * channels + colours) : 65535;
        for (unsigned c = 0; c < colours; c++) {
            uint64_t v = sample16(from, x * channels + c) * a + 65535 * (65535 - a);
            to[x * colours + c] = reduce16((unsigned)((v + 32767) / 65535));
        }
    }
}

/* Guarded. Alpha is composed over white, 16 bits are rounded to 8. */
static void write_rows(struct jpeg_compress_struct *cinfo, const struct image *image) {
    const struct plane *plane = &image->plane[0];
    bool alpha = pixel_has_alpha(image->model);
    bool direct = image->depth == 8 && !alpha;
    size_t bytes = (size_t)image->width * (unsigned)cinfo->input_components;
    JSAMPROW converted = direct ? NULL : cinfo->mem->alloc_large((j_common_ptr)cinfo, JPOOL_IMAGE, bytes);
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPROW source = plane_row(plane, cinfo->next_scanline);
        JSAMPROW row = direct ? source : converted;
        if (!direct && image->depth == 16) {
            convert_row16(source, converted, image->width, plane->channels, alpha);
        } else if (!direct) {
            convert_row8(source, converted, image->width, plane->channels, alpha);
        }
        jpeg_write_scanlines(cinfo, &row, 1);
    }
}

void jpeg_write_pixels(struct jpeg_compress_struct *cinfo, const struct image *image) {
    if (!cinfo->raw_data_in) {
        write_rows(cinfo, image);
        return;
    }
    for (unsigned p = 0; p < image->plane_count; p++) {
        fill_padding(&image->plane[p]);
    }
    write_planes(cinfo, image);
}

static void encode_guarded(struct jpeg_writer *writer, const struct image *image) {
    struct jpeg_compress_struct *cinfo = &writer->cinfo;
    jpeg_writer_open(writer);
    set_parameters(cinfo, image, writer->options);
    jpeg_start_compress(cinfo, TRUE);
    jpeg_writer_put_metadata(writer);
    jpeg_write_pixels(cinfo, image);
    jpeg_finish_compress(cinfo);
}

static enum status run(struct jpeg_writer *writer, const struct image *image) {
    if (setjmp(writer->guard->jump)) {
        jpeg_destroy_compress(&writer->cinfo);
        return writer->guard->status;
    }
    encode_guarded(writer, image);
    jpeg_destroy_compress(&writer->cinfo);
    return ST_OK;
}

enum status jpeg_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    if (image->width > SIDE_MAX || image->height > SIDE_MAX) {
        return fail(err, ST_LIMIT, "picture is %u x %u pixels; a JPEG has at most %d a side", image->width,
                    image->height, SIDE_MAX);
    }
    struct jpeg_guard guard;
    struct jpeg_writer writer;
    jpeg_guard_init(&guard, ST_INTERNAL, err);
    jpeg_writer_init(&writer, &guard, options, output);
    enum status status = jpeg_writer_take_metadata(&writer, metadata, image->model);
    if (status == ST_OK) {
        status = run(&writer, image);
    }
    jpeg_writer_finish(&writer);
    return status;
}
