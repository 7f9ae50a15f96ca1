/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_blocks.h"
#include "codecs/jpeg/jpeg_planes.h"
#include "codecs/jpeg/lossless/sof3.h"
#include "codecs/limits.h"

#if JPEG_LIB_VERSION >= 70
#define BLOCK_ROWS(component) ((component)->DCT_v_scaled_size)
#else
#define BLOCK_ROWS(component) ((component)->DCT_scaled_size)
#endif

enum { ROWS_MAX = 4 * DCTSIZE }; /* rows of one component in an MCU row */
enum { SOF3 = 0xC3 };            /* the frame of a lossless file */

static void describe(const struct jpeg_decompress_struct *cinfo, struct picture *picture) {
    bool gray = cinfo->jpeg_color_space == JCS_GRAYSCALE;
    picture->pixels = (struct image_shape){
        .model = gray ? PIXEL_GRAY : PIXEL_RGB,
        .depth = 8,
        .width = cinfo->image_width,
        .height = cinfo->image_height,
    };
    struct image_shape planes = picture->pixels;
    planes.model = PIXEL_YCBCR;
    bool planar = cinfo->jpeg_color_space == JCS_YCbCr && jpeg_planes_fit(cinfo, &planes);
    picture->native = planar ? planes : picture->pixels;
}

/* Only frames that can be decoded reach libjpeg. */
static enum status check_frame(const struct jpeg_frame *frame, const struct codec_limits *limits,
                               struct error *err) {
    static const char *const names[16] = {
        [5] = "hierarchical",
        [6] = "hierarchical progressive",
        [7] = "hierarchical lossless",
        [11] = "arithmetic-coded lossless",
        [13] = "arithmetic-coded hierarchical",
        [14] = "arithmetic-coded hierarchical progressive",
        [15] = "arithmetic-coded hierarchical lossless",
    };
    const char *name = names[frame->marker & 15];
    if (name) {
        return fail(err, ST_UNSUPPORTED, "JPEG is %s, which is not supported", name);
    }
    if (frame->precision != 8) {
        return fail(err, ST_UNSUPPORTED, "JPEG has %u bits a sample; only 8 are supported", frame->precision);
    }
    if (frame->components != 1 && frame->components != 3 && frame->components != 4) {
        return fail(err, ST_UNSUPPORTED, "JPEG has %u components; only 1, 3 or 4 are supported",
                    frame->components);
    }
    if (frame->height == 0 && frame->width > 0) {
        return fail(err, ST_UNSUPPORTED,
                    "JPEG gives its height behind the picture (DNL), which is not supported");
    }
    return limits_check_size(frame->width, frame->height, limits, err);
}

/* Before any pixel memory is taken, refuses files with fewer bytes than flat blocks need, or with more
 * coefficients than the memory limit allows. */
static enum status check_blocks(const struct jpeg_reader *reader, size_t data, bool multiple) {
    const struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    uint64_t blocks = jpeg_reader_blocks(reader);
    /* A Huffman code has at least one bit. A block needs one for DC and, unless a progressive scan ends
     * whole bands at once, one for the end of the block. */
    uint64_t bits = cinfo->arith_code ? 0 : cinfo->progressive_mode ? blocks : 2 * blocks;
    if (data < bits / 8) {
        return fail(reader->guard->err, ST_CORRUPT, "JPEG is truncated: %zu bytes cannot hold %u x %u pixels",
                    data, cinfo->image_width, cinfo->image_height);
    }
    return multiple ? jpeg_reader_check_memory(reader) : ST_OK;
}

static enum status probe_guarded(struct jpeg_reader *reader, struct bytes input, size_t scan,
                                 struct picture *picture) {
    jpeg_reader_open(reader, input);
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    picture->progressive = jpeg_has_multiple_scans(cinfo);
    describe(cinfo, picture);
    enum status status = check_blocks(reader, input.size - scan, picture->progressive);
    if (status == ST_OK) {
        reader->guard->err = NULL; /* nothing fails from here on */
        picture->patchable = jpeg_blocks_check(reader, "patched") == ST_OK;
    }
    return status;
}

/* By libjpeg. */
static enum status probe_blocks(struct bytes input, const struct codec_limits *limits, size_t scan,
                                struct picture *picture, struct error *err) {
    struct jpeg_guard guard;
    struct jpeg_reader reader;
    jpeg_guard_init(&guard, ST_CORRUPT, err);
    jpeg_reader_init(&reader, &guard, limits);
    if (setjmp(guard.jump)) {
        jpeg_destroy_decompress(&reader.cinfo);
        return guard.status;
    }
    enum status status = probe_guarded(&reader, input, scan, picture);
    jpeg_destroy_decompress(&reader.cinfo);
    return status;
}

enum status jpeg_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err) {
    struct jpeg_frame frame;
    enum status status = jpeg_read_head(input, &frame, &picture->metadata, err);
    status = status != ST_OK ? status : check_frame(&frame, limits, err);
    if (status == ST_OK) {
        status = frame.marker == SOF3 ? sof3_probe(input, picture, err)
                                      : probe_blocks(input, limits, frame.scan, picture, err);
    }
    if (status == ST_OK && (picture->pixels.width != frame.width || picture->pixels.height != frame.height)) {
        return fail(err, ST_CORRUPT, "JPEG has frame headers that contradict each other");
    }
    return status;
}

/* Guarded. Reads MCU rows straight into the planes, without upsampling or copies. The first `rows_reported`
 * rows of the picture are there already, and may have readers: theirs go elsewhere. */
static void read_planes(struct jpeg_decompress_struct *cinfo, const struct image *image,
                        const struct codec_limits *limits, uint32_t rows_reported) {
    JSAMPROW rows[IMAGE_PLANES_MAX][ROWS_MAX];
    JSAMPARRAY components[IMAGE_PLANES_MAX] = {rows[0], rows[1], rows[2]};
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE >> limits->reduction;
    JSAMPROW elsewhere =
        rows_reported > 0 ? cinfo->mem->alloc_large((j_common_ptr)cinfo, JPOOL_IMAGE, image->plane[0].stride)
                          : NULL;
    while (cinfo->output_scanline < cinfo->output_height) {
        uint32_t mcu_row = cinfo->output_scanline / lines;
        for (unsigned p = 0; p < image->plane_count; p++) {
            const jpeg_component_info *component = &cinfo->comp_info[p];
            uint32_t count = (uint32_t)(component->v_samp_factor * BLOCK_ROWS(component));
            for (uint32_t i = 0; i < count; i++) {
                uint32_t y = mcu_row * count + i;
                bool there = y < rows_reported >> image->plane[p].shift_y;
                rows[p][i] = there ? elsewhere : plane_row(&image->plane[p], y);
            }
        }
        jpeg_read_raw_data(cinfo, components, lines);
        if (cinfo->output_scanline > rows_reported) {
            progress_tell(limits->progress, cinfo->output_scanline);
        }
    }
}

static uint8_t multiply_255(unsigned a, unsigned b) {
    return (uint8_t)((a * b + 127) / 255);
}

/* Inks are inverted: 0 is full ink. Files without Adobe's marker are no exception: browsers, Pillow,
 * ImageMagick and libvips read all files so, and hence all writers invert. */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width) {
    for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        for (unsigned c = 0; c < 3; c++) {
            rgb[c] = multiply_255(cmyk[c], cmyk[3]);
        }
    }
}

/* Guarded. The first `rows_reported` rows are there already, and are not written again. */
static void read_rows(struct jpeg_decompress_struct *cinfo, const struct image *image,
                      const struct progress *progress, uint32_t rows_reported) {
    bool cmyk = cinfo->out_color_space == JCS_CMYK;
    JSAMPROW elsewhere = cmyk || rows_reported > 0 ? cinfo->mem->alloc_large((j_common_ptr)cinfo, JPOOL_IMAGE,
                                                                             (size_t)image->width * 4)
                                                   : NULL;
    while (cinfo->output_scanline < cinfo->output_height) {
        bool there = cinfo->output_scanline < rows_reported;
        JSAMPROW target = plane_row(&image->plane[0], cinfo->output_scanline);
        JSAMPROW row = cmyk || there ? elsewhere : target;
        jpeg_read_scanlines(cinfo, &row, 1);
        if (cmyk && !there) {
            cmyk_to_rgb(elsewhere, target, image->width);
        }
        if (!there) {
            progress_tell(progress, cinfo->output_scanline);
        }
    }
}

/* Guarded. Whether decoding makes this image; the shape was probed from the same bytes, but a caller's
 * mistake must not overrun memory. */
static bool makes_image(struct jpeg_decompress_struct *cinfo, const struct image *image) {
    jpeg_calc_output_dimensions(cinfo);
    bool same = cinfo->output_width == image->width && cinfo->output_height == image->height &&
                (cinfo->num_components == 1) == (image->model == PIXEL_GRAY);
    if (image->model == PIXEL_YCBCR) {
        same = same && cinfo->num_components == 3 && jpeg_planes_fit(cinfo, &(struct image_shape){0});
        for (unsigned p = 0; p < image->plane_count && same; p++) {
            same = cinfo->comp_info[p].downsampled_width == image->plane[p].width &&
                   cinfo->comp_info[p].downsampled_height == image->plane[p].height;
        }
    }
    return same;
}

static enum status decode_guarded(struct jpeg_reader *reader, struct bytes input, const struct image *image,
                                  uint32_t rows_reported) {
    jpeg_reader_open(reader, input);
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    bool gray = cinfo->num_components == 1;
    cinfo->scale_num = 1;
    cinfo->scale_denom = 1u << reader->limits->reduction;
    if (!makes_image(cinfo, image)) {
        return fail(reader->guard->err, ST_INTERNAL, "JPEG does not have the shape that was probed");
    }
    bool raw = image->model == PIXEL_YCBCR || (gray && jpeg_planes_fit(cinfo, &(struct image_shape){0}));
    cinfo->raw_data_out = raw;
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->out_color_space = gray ? JCS_GRAYSCALE : cinfo->num_components == 4 ? JCS_CMYK : JCS_RGB;
    cinfo->do_fancy_upsampling = !reader->limits->local_colour;
    cinfo->do_block_smoothing = !reader->limits->local_blocks;
    jpeg_start_decompress(cinfo);
    enum status status = jpeg_has_multiple_scans(cinfo) ? jpeg_reader_check_scans(reader) : ST_OK;
    if (status != ST_OK) {
        return status;
    }
    if (raw) {
        read_planes(cinfo, image, reader->limits, rows_reported);
    } else {
        read_rows(cinfo, image, reader->limits->progress, rows_reported);
    }
    if (cinfo->arith_code) { /* libjpeg takes an early marker for the end of the data; only the rest of the
                                file shows the error */
        jpeg_finish_decompress(cinfo);
    }
    return ST_OK; /* data behind the last row of other pictures does not matter */
}

/* By own code; *declined and *rows_reported as of jpeg_planes_decode. */
static enum status decode_own(struct bytes input, const struct picture *picture,
                              const struct codec_limits *limits, const struct image *image, bool *declined,
                              uint32_t *rows_reported, struct error *err) {
    if (image->model != PIXEL_RGB) {
        return jpeg_planes_decode(input, limits, image, declined, rows_reported, err);
    }
    return limits->reduction == 0 && picture->native.model == PIXEL_YCBCR
               ? jpeg_pixels_decode(input, limits, &picture->native, image, declined, rows_reported, err)
               : ST_OK;
}

/* By libjpeg-turbo; the first `rows_reported` rows are there already. */
static enum status decode_rest(struct bytes input, const struct codec_limits *limits,
                               const struct image *image, uint32_t rows_reported, struct error *err) {
    struct jpeg_guard guard;
    struct jpeg_reader reader;
    jpeg_guard_init(&guard, ST_CORRUPT, err);
    jpeg_reader_init(&reader, &guard, limits);
    if (setjmp(guard.jump)) {
        jpeg_destroy_decompress(&reader.cinfo);
        return guard.status;
    }
    enum status status = decode_guarded(&reader, input, image, rows_reported);
    jpeg_destroy_decompress(&reader.cinfo);
    return status;
}

enum status jpeg_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err) {
    bool declined = true;
    uint32_t rows_reported = 0;
    if (picture->lossless) {
        return sof3_decode(input, limits, image, err);
    }
    enum status status =
        limits->libjpeg ? ST_OK : decode_own(input, picture, limits, image, &declined, &rows_reported, err);
    return status == ST_OK && declined ? decode_rest(input, limits, image, rows_reported, err) : status;
}
