/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "codecs/jpeg.h"
#include "codecs/jpeg_markers.h"
#include "codecs/limits.h"

enum { ROWS_MAX = 4 * DCTSIZE }; /* of one component in an MCU row */

/* Everything that one call needs; libjpeg's client_data points to it. */
struct reader {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_guard guard;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    const struct codec_limits *limits;
    bool end_required;        /* data that stops before EOI is incomplete, see on_data_end */
    uint32_t components_seen; /* one bit for each component that had a scan */
};

static void ignore_decompress(j_decompress_ptr cinfo) {
    (void)cinfo;
}

/* The data is used up. A picture of one Huffman-coded scan may lack its EOI marker: it
 * gets one here, and the entropy decoder complains by itself when it still needs bits.
 * With several scans, or arithmetic coding, which pads with zeros in silence, nothing
 * else would tell that something is missing. */
static boolean on_data_end(j_decompress_ptr cinfo) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    struct reader *reader = cinfo->client_data;
    if (reader->end_required) {
        jpeg_guard_leave(
            (j_common_ptr)cinfo,
            fail(reader->guard.err, ST_CORRUPT, "JPEG data is cut short: it ends before the picture does"));
    }
    cinfo->src->next_input_byte = end;
    cinfo->src->bytes_in_buffer = sizeof(end);
    return TRUE;
}

static void skip_data(j_decompress_ptr cinfo, long count) {
    struct jpeg_source_mgr *source = cinfo->src;
    if (count <= 0) {
        return;
    }
    if ((size_t)count > source->bytes_in_buffer) {
        source->bytes_in_buffer = 0;
        on_data_end(cinfo);
        return;
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

/* libjpeg calls this for each row of MCUs that it reads or writes. */
static void on_progress(j_common_ptr common) {
    struct reader *reader = common->client_data;
    const struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    if (cinfo->input_scan_number > 0 && (uint32_t)cinfo->input_scan_number > reader->limits->max_scans) {
        jpeg_guard_leave(common, fail(reader->guard.err, ST_LIMIT,
                                      "JPEG has more than %" PRIu32 " scans, which is the limit",
                                      reader->limits->max_scans));
    }
    for (int i = 0; i < cinfo->comps_in_scan; i++) {
        reader->components_seen |= 1u << cinfo->cur_comp_info[i]->component_index;
    }
    enum status status = limits_check_deadline(reader->limits->deadline_ns, reader->guard.err);
    if (status != ST_OK) {
        jpeg_guard_leave(common, status);
    }
}

/* Guarded. Creates the decompressor and reads up to the first scan. */
static void read_header(struct reader *reader, struct bytes input) {
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    jpeg_create_decompress(cinfo);
    cinfo->client_data = reader;
    reader->source = (struct jpeg_source_mgr){
        .next_input_byte = input.data,
        .bytes_in_buffer = input.size,
        .init_source = ignore_decompress,
        .fill_input_buffer = on_data_end,
        .skip_input_data = skip_data,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = ignore_decompress,
    };
    cinfo->src = &reader->source;
    reader->progress.progress_monitor = on_progress;
    cinfo->progress = &reader->progress;
    uint64_t memory = reader->limits->max_memory;
    cinfo->mem->max_memory_to_use = memory < LONG_MAX ? (long)memory : LONG_MAX;
    reader->end_required = true;
    reader->guard.in_header = true;
    jpeg_read_header(cinfo, TRUE);
    reader->guard.in_header = false;
    reader->end_required = cinfo->arith_code || jpeg_has_multiple_scans(cinfo);
}

static void reader_init(struct reader *reader, const struct codec_limits *limits, struct error *err) {
    memset(reader, 0, sizeof(*reader));
    reader->limits = limits;
    reader->cinfo.err = jpeg_guard_init(&reader->guard, ST_CORRUPT, err);
}

/* Log2 of how much smaller the second number is; 3 when it is not 1, 2 or 4 times. */
static unsigned shift_between(int full, int part) {
    return part == full ? 0 : part * 2 == full ? 1 : part * 4 == full ? 2 : 3;
}

/* Whether the stored components can be handed over as they are, and the reductions. Luma
 * must be the largest, both chroma planes alike, and the sampling factors powers of two,
 * so that an MCU row fits in the padding of the planes. A reduction by 4 in both
 * directions cannot be written again: an MCU holds 10 blocks. */
static bool planes_fit(const struct jpeg_decompress_struct *cinfo, struct image_shape *shape) {
    const jpeg_component_info *c = cinfo->comp_info;
    int h = cinfo->max_h_samp_factor, v = cinfo->max_v_samp_factor;
    if (h == 3 || v == 3 || c[0].h_samp_factor != h || c[0].v_samp_factor != v) {
        return false;
    }
    if (cinfo->num_components == 1) {
        return true;
    }
    unsigned shift_x = shift_between(h, c[1].h_samp_factor);
    unsigned shift_y = shift_between(v, c[1].v_samp_factor);
    shape->chroma_shift_x = (uint8_t)shift_x;
    shape->chroma_shift_y = (uint8_t)shift_y;
    return c[2].h_samp_factor == c[1].h_samp_factor && c[2].v_samp_factor == c[1].v_samp_factor &&
           shift_x <= 2 && shift_y <= 2 && shift_x + shift_y <= 3;
}

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
    bool planar = cinfo->jpeg_color_space == JCS_YCbCr && planes_fit(cinfo, &planes);
    picture->native = planar ? planes : picture->pixels;
}

/* Only frames that are certain to be decoded go on to libjpeg. */
static enum status check_frame(const struct jpeg_frame *frame, const struct codec_limits *limits,
                               struct error *err) {
    static const char *const names[16] = {
        [3] = "lossless",
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

/* Refuses before any pixel memory is taken what cannot end well: fewer bytes than the
 * blocks need even when all are flat, or more coefficient memory than allowed. */
static enum status check_blocks(const struct jpeg_decompress_struct *cinfo, size_t data,
                                const struct codec_limits *limits, bool multiple, struct error *err) {
    uint64_t blocks = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        blocks += (uint64_t)cinfo->comp_info[i].width_in_blocks * cinfo->comp_info[i].height_in_blocks;
    }
    /* Huffman codes have at least one bit; a block needs one for DC and, unless
     * progressive scans end whole bands at once, one for the end of the block. */
    uint64_t bits = cinfo->arith_code ? 0 : cinfo->progressive_mode ? blocks : 2 * blocks;
    if (data < bits / 8) {
        return fail(err, ST_CORRUPT, "JPEG is truncated: %zu bytes cannot hold %u x %u pixels", data,
                    cinfo->image_width, cinfo->image_height);
    }
    uint64_t memory = blocks * sizeof(JBLOCK);
    if (multiple && memory > limits->max_memory) {
        return fail(err, ST_LIMIT,
                    "JPEG with several scans needs %" PRIu64 " bytes to decode; the memory limit is %" PRIu64,
                    memory, limits->max_memory);
    }
    return ST_OK;
}

static enum status probe_guarded(struct reader *reader, struct bytes input, size_t scan,
                                 struct picture *picture) {
    read_header(reader, input);
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    picture->progressive = jpeg_has_multiple_scans(cinfo);
    describe(cinfo, picture);
    return check_blocks(cinfo, input.size - scan, reader->limits, picture->progressive, reader->guard.err);
}

enum status jpeg_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err) {
    struct jpeg_frame frame;
    enum status status = jpeg_read_frame(input, &frame, err);
    status = status != ST_OK ? status : check_frame(&frame, limits, err);
    if (status != ST_OK) {
        return status;
    }
    struct reader reader;
    reader_init(&reader, limits, err);
    if (setjmp(reader.guard.jump)) {
        jpeg_destroy_decompress(&reader.cinfo);
        return reader.guard.status;
    }
    status = probe_guarded(&reader, input, frame.scan, picture);
    jpeg_destroy_decompress(&reader.cinfo);
    if (status == ST_OK && (picture->pixels.width != frame.width || picture->pixels.height != frame.height)) {
        return fail(err, ST_CORRUPT, "JPEG has frame headers that contradict each other");
    }
    if (status == ST_OK) {
        jpeg_read_metadata(input, &picture->metadata);
    }
    return status;
}

/* Guarded. Straight into the planes, an MCU row at a time: no upsampling, no copy. */
static void read_planes(struct jpeg_decompress_struct *cinfo, const struct image *image) {
    JSAMPROW rows[IMAGE_PLANES_MAX][ROWS_MAX];
    JSAMPARRAY components[IMAGE_PLANES_MAX] = {rows[0], rows[1], rows[2]};
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE;
    while (cinfo->output_scanline < cinfo->output_height) {
        uint32_t mcu_row = cinfo->output_scanline / lines;
        for (unsigned p = 0; p < image->plane_count; p++) {
            uint32_t count = (uint32_t)cinfo->comp_info[p].v_samp_factor * DCTSIZE;
            for (uint32_t i = 0; i < count; i++) {
                rows[p][i] = plane_row(&image->plane[p], mcu_row * count + i);
            }
        }
        jpeg_read_raw_data(cinfo, components, lines);
    }
}

static uint8_t multiply_255(unsigned a, unsigned b) {
    return (uint8_t)((a * b + 127) / 255);
}

/* Adobe stores inverted inks, so 0 is full ink; without its marker 255 is. */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width, bool inverted) {
    unsigned flip = inverted ? 0 : 255;
    for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        unsigned k = cmyk[3] ^ flip;
        for (unsigned c = 0; c < 3; c++) {
            rgb[c] = multiply_255(cmyk[c] ^ flip, k);
        }
    }
}

/* Guarded. */
static void read_rows(struct jpeg_decompress_struct *cinfo, const struct image *image) {
    bool cmyk = cinfo->out_color_space == JCS_CMYK;
    JSAMPROW ink =
        cmyk ? cinfo->mem->alloc_large((j_common_ptr)cinfo, JPOOL_IMAGE, (size_t)image->width * 4) : NULL;
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW target = plane_row(&image->plane[0], cinfo->output_scanline);
        JSAMPROW row = cmyk ? ink : target;
        jpeg_read_scanlines(cinfo, &row, 1);
        if (cmyk) {
            cmyk_to_rgb(ink, target, image->width, cinfo->saw_Adobe_marker);
        }
    }
}

static bool same_planes(const struct jpeg_decompress_struct *cinfo, const struct image *image) {
    struct image_shape planes;
    return cinfo->num_components == 3 && planes_fit(cinfo, &planes) &&
           planes.chroma_shift_x == image->plane[1].shift_x &&
           planes.chroma_shift_y == image->plane[1].shift_y;
}

static enum status decode_guarded(struct reader *reader, struct bytes input, const struct image *image) {
    read_header(reader, input);
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    bool planar = image->model == PIXEL_YCBCR;
    /* The shape was probed from the same bytes; a caller's mix-up must not overrun memory. */
    bool gray = cinfo->num_components == 1;
    if (cinfo->image_width != image->width || cinfo->image_height != image->height ||
        gray != (image->model == PIXEL_GRAY) || (planar && !same_planes(cinfo, image))) {
        return fail(reader->guard.err, ST_INTERNAL, "JPEG does not have the shape that was probed");
    }
    bool raw = planar || (gray && planes_fit(cinfo, &(struct image_shape){0}));
    cinfo->raw_data_out = raw;
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->out_color_space = gray ? JCS_GRAYSCALE : cinfo->num_components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(cinfo);
    if (jpeg_has_multiple_scans(cinfo) && reader->components_seen != (1u << cinfo->num_components) - 1) {
        return fail(reader->guard.err, ST_CORRUPT, "JPEG is incomplete: a colour component has no scan");
    }
    if (raw) {
        read_planes(cinfo, image);
    } else {
        read_rows(cinfo, image);
    }
    return ST_OK; /* without jpeg_finish_decompress: what follows the last row is of no interest */
}

enum status jpeg_decode(struct bytes input, const struct codec_limits *limits, const struct image *image,
                        struct error *err) {
    struct reader reader;
    reader_init(&reader, limits, err);
    if (setjmp(reader.guard.jump)) {
        jpeg_destroy_decompress(&reader.cinfo);
        return reader.guard.status;
    }
    enum status status = decode_guarded(&reader, input, image);
    jpeg_destroy_decompress(&reader.cinfo);
    return status;
}
