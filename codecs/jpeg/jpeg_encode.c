/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/baseline/baseline.h"
#include "codecs/jpeg/jpeg_rows.h"
#include "codecs/jpeg/jpeg_writer.h"

enum {
    SIDE_MAX = 65500,       /* libjpeg's own limit */
    ROWS_MAX = 4 * DCTSIZE, /* rows of one component in an MCU row */
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

/* Guarded. The quantisation tables are the standard ones for the quality. */
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
    cinfo->optimize_coding = options->optimal || options->progressive;
    if (options->progressive) {
        jpeg_simple_progression(cinfo);
    }
}

/* Extends the last column, and below the picture the last row, to whole blocks in `count` rows, so that
 * old contents of the padding neither cost bits nor ring into the picture. */
static void fill_padding(const struct plane *plane, uint32_t first, uint32_t count) {
    size_t width = bytes_align_up(plane->width, DCTSIZE);
    size_t height = bytes_align_up(plane->height, DCTSIZE);
    for (uint32_t y = first; y < first + count && y < height; y++) {
        uint8_t *row = plane_row(plane, y);
        if (y < plane->height) {
            memset(row + plane->width, row[plane->width - 1], width - plane->width);
        } else {
            memcpy(row, plane_row(plane, plane->height - 1), width);
        }
    }
}

/* Guarded. */
static void write_planes(struct jpeg_compress_struct *cinfo, const struct image *image, uint32_t rows) {
    JSAMPROW row[IMAGE_PLANES_MAX][ROWS_MAX];
    JSAMPARRAY components[IMAGE_PLANES_MAX] = {row[0], row[1], row[2]};
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE;
    while (cinfo->next_scanline < image->height &&
           (rows >= image->height || cinfo->next_scanline + lines <= rows)) {
        uint32_t mcu_row = cinfo->next_scanline / lines;
        for (unsigned p = 0; p < image->plane_count; p++) {
            uint32_t count = (uint32_t)cinfo->comp_info[p].v_samp_factor * DCTSIZE;
            fill_padding(&image->plane[p], mcu_row * count, count);
            for (uint32_t i = 0; i < count; i++) {
                row[p][i] = plane_row(&image->plane[p], mcu_row * count + i);
            }
        }
        jpeg_write_raw_data(cinfo, components, lines);
    }
}

/* Guarded. */
static void write_rows(struct jpeg_compress_struct *cinfo, const struct image *image, uint32_t rows) {
    struct jpeg_writer *writer = cinfo->client_data;
    if (!writer->row) {
        size_t bytes = (size_t)image->width * (unsigned)cinfo->input_components;
        writer->row = cinfo->mem->alloc_large((j_common_ptr)cinfo, JPOOL_IMAGE, bytes);
    }
    while (cinfo->next_scanline < image->height && cinfo->next_scanline < rows) {
        /* libjpeg only reads it */
        JSAMPROW row = (JSAMPROW)(uintptr_t)jpeg_rows_get(image, cinfo->next_scanline, writer->row);
        jpeg_write_scanlines(cinfo, &row, 1);
    }
}

void jpeg_write_pixels(struct jpeg_compress_struct *cinfo, const struct image *image, uint32_t rows) {
    if (cinfo->raw_data_in) {
        write_planes(cinfo, image, rows);
    } else {
        write_rows(cinfo, image, rows);
    }
}

/* ---- a picture that is being made ---- */

struct jpeg_encoding {
    struct encoding base;
    struct baseline *own; /* the own encoder; NULL: libjpeg-turbo encodes the picture */
    struct jpeg_guard guard;
    struct jpeg_writer writer;
    const struct image *image;
    enum status status; /* status of the first failed step; no further step runs */
    struct error error;
};

/* Guarded. */
static void step_begin(struct jpeg_encoding *encoding, uint32_t rows) {
    (void)rows;
    struct jpeg_compress_struct *cinfo = &encoding->writer.cinfo;
    jpeg_writer_open(&encoding->writer);
    set_parameters(cinfo, encoding->image, encoding->writer.options);
    jpeg_writer_set_density(&encoding->writer);
    jpeg_start_compress(cinfo, TRUE);
    jpeg_writer_put_metadata(&encoding->writer);
}

/* Guarded. */
static void step_rows(struct jpeg_encoding *encoding, uint32_t rows) {
    jpeg_write_pixels(&encoding->writer.cinfo, encoding->image, rows);
}

/* Guarded. */
static void step_end(struct jpeg_encoding *encoding, uint32_t rows) {
    step_rows(encoding, rows);
    jpeg_finish_compress(&encoding->writer.cinfo);
}

static void run(struct jpeg_encoding *encoding, void (*step)(struct jpeg_encoding *, uint32_t),
                uint32_t rows) {
    if (encoding->status != ST_OK) {
        return;
    }
    if (setjmp(encoding->guard.jump)) {
        encoding->status = encoding->guard.status;
        return;
    }
    step(encoding, rows);
}

enum status jpeg_encode_begin(const struct image *image, const struct encode_options *options,
                              const struct metadata *metadata, struct buf *output, struct encoding **encoding,
                              struct error *err) {
    if (image->width > SIDE_MAX || image->height > SIDE_MAX) {
        return fail(err, ST_LIMIT, "picture is %u x %u pixels; a JPEG has at most %d a side", image->width,
                    image->height, SIDE_MAX);
    }
    struct jpeg_encoding *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "no memory to encode now");
    }
    made->base.codec = &codec_jpeg;
    made->image = image;
    jpeg_guard_init(&made->guard, ST_INTERNAL, &made->error);
    jpeg_writer_init(&made->writer, &made->guard, options, output);
    const struct image_shape shape = image_shape(image);
    made->status = jpeg_writer_take_metadata(&made->writer, metadata, &shape);
    if (!baseline_takes(&shape, options)) {
        run(made, step_begin, 0);
    } else if (made->status == ST_OK) {
        made->status =
            baseline_begin(NULL, image, options, &made->writer.segments, output, &made->own, &made->error);
    }
    *encoding = &made->base;
    return ST_OK;
}

void jpeg_encode_rows(struct encoding *encoding, uint32_t rows) {
    struct jpeg_encoding *state = (struct jpeg_encoding *)encoding;
    if (!state->own) {
        run(state, step_rows, rows);
    } else if (state->status == ST_OK) {
        state->status = baseline_rows(state->own, rows, &state->error);
    }
}

enum status jpeg_encode_end(struct encoding *encoding, bool complete, struct error *err) {
    struct jpeg_encoding *state = (struct jpeg_encoding *)encoding;
    if (complete && !state->own) {
        run(state, step_end, state->image->height);
    } else if (complete && state->status == ST_OK) {
        state->status = baseline_end(state->own, &state->error);
    }
    baseline_finish(state->own);
    jpeg_destroy_compress(&state->writer.cinfo);
    jpeg_writer_finish(&state->writer);
    enum status status = state->status;
    if (status != ST_OK && err) {
        *err = state->error;
    }
    free(state);
    return status;
}

enum status jpeg_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    struct encoding *encoding = NULL;
    enum status status = jpeg_encode_begin(image, options, metadata, output, &encoding, err);
    return status == ST_OK ? jpeg_encode_end(encoding, true, err) : status;
}

/* A sample, with optimal tables: 3.3 ms for 4.1 million, as 4:2:0 counts; progressive 21 ms. */
struct encode_cost jpeg_encode_cost(const struct encode_extent *extent,
                                    const struct encode_options *options) {
    return (struct encode_cost){(options->progressive ? 6.5F : 0.8F) * extent->samples, options->progressive};
}
