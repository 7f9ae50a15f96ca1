/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codecs/exif.h"
#include "codecs/icc.h"
#include "codecs/jpeg.h"
#include "codecs/jpeg_markers.h"
#include "codecs/limits.h"

enum {
    SIDE_MAX = 65500,            /* libjpeg's own limit */
    ROWS_MAX = 4 * DCTSIZE,      /* of one component in an MCU row */
    OUTPUT_STEP = 1 << 16,       /* room asked for at once */
    SEGMENT_MAX = 65533,         /* a segment's length field counts itself */
    ICC_PART = SEGMENT_MAX - 14, /* after "ICC_PROFILE\0", number and count */
};

/* Everything that one call needs; libjpeg's client_data points to it. */
struct writer {
    struct jpeg_compress_struct cinfo;
    struct jpeg_guard guard;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    int64_t deadline_ns;
    struct buf *output;
    struct buf profile; /* made before the guarded part, ended after it */
    struct buf exif;
};

/* Lends libjpeg the free end of the output, up to a step beyond what it has. */
static void lend_room(j_compress_ptr cinfo) {
    struct writer *writer = cinfo->client_data;
    struct buf *output = writer->output;
    if (output->size == output->capacity) {
        size_t left = output->maximum - output->size;
        size_t step = left == 0 ? 1 : left < OUTPUT_STEP ? left : OUTPUT_STEP;
        enum status status = buf_reserve(output, step, writer->guard.err);
        if (status != ST_OK) {
            jpeg_guard_leave((j_common_ptr)cinfo, status);
        }
    }
    writer->destination.next_output_byte = output->data + output->size;
    writer->destination.free_in_buffer = output->capacity - output->size;
}

static boolean on_room_used(j_compress_ptr cinfo) {
    struct writer *writer = cinfo->client_data;
    writer->output->size = writer->output->capacity;
    lend_room(cinfo);
    return TRUE;
}

static void on_end(j_compress_ptr cinfo) {
    struct writer *writer = cinfo->client_data;
    writer->output->size = writer->output->capacity - writer->destination.free_in_buffer;
}

/* libjpeg calls this for each row of MCUs, in every pass. */
static void on_progress(j_common_ptr cinfo) {
    struct writer *writer = cinfo->client_data;
    enum status status = limits_check_deadline(writer->deadline_ns, writer->guard.err);
    if (status != ST_OK) {
        jpeg_guard_leave(cinfo, status);
    }
}

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

enum { PARTS_MAX = 3 };

/* Guarded. Writes a segment that is put together from parts. */
static void write_segment(j_compress_ptr cinfo, int marker, const struct bytes parts[static PARTS_MAX]) {
    size_t size = parts[0].size + parts[1].size + parts[2].size;
    jpeg_write_m_header(cinfo, marker, (unsigned)size);
    for (int part = 0; part < PARTS_MAX; part++) {
        for (size_t i = 0; i < parts[part].size; i++) {
            jpeg_write_m_byte(cinfo, parts[part].data[i]);
        }
    }
}

/* Guarded. */
static void write_profile(j_compress_ptr cinfo, const struct buf *profile) {
    size_t count = (profile->size + ICC_PART - 1) / ICC_PART;
    for (size_t i = 0; i < count; i++) {
        uint8_t prefix[14] = "ICC_PROFILE";
        prefix[12] = (uint8_t)(i + 1);
        prefix[13] = (uint8_t)count;
        size_t start = i * ICC_PART;
        size_t size = profile->size - start < ICC_PART ? profile->size - start : ICC_PART;
        struct bytes parts[PARTS_MAX] = {{prefix, sizeof(prefix)}, {profile->data + start, size}};
        write_segment(cinfo, SEGMENT_APP2, parts);
    }
}

/* Guarded. Comments and XMP. XMP can hold the orientation too, which must not ask for
 * another turn of pixels that are upright. */
static void write_carried(j_compress_ptr cinfo, const struct metadata_chunk *chunk, bool upright) {
    struct bytes whole = chunk->data;
    struct bytes parts[PARTS_MAX] = {whole};
    size_t digit = upright && chunk->tag == SEGMENT_APP1 ? jpeg_xmp_orientation(whole) : 0;
    if (digit > 0) {
        parts[0].size = digit;
        parts[1] = (struct bytes){(const uint8_t *)"1", 1};
        parts[2] = (struct bytes){whole.data + digit + 1, whole.size - digit - 1};
    }
    write_segment(cinfo, (int)chunk->tag, parts);
}

/* Guarded. Between the JFIF header and the tables, where EXIF readers look. */
static void write_metadata(struct writer *writer, const struct encode_options *options,
                           const struct metadata *metadata) {
    j_compress_ptr cinfo = &writer->cinfo;
    static const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0};
    if (writer->exif.size > 0) {
        struct bytes parts[PARTS_MAX] = {{exif, sizeof(exif)}, buf_bytes(&writer->exif)};
        write_segment(cinfo, SEGMENT_APP1, parts);
    }
    write_profile(cinfo, &writer->profile);
    bool keep = options->keep_metadata && metadata && metadata->source == CODEC_JPEG;
    for (unsigned i = 0; keep && i < metadata->chunk_count; i++) {
        const struct metadata_chunk *chunk = &metadata->chunk[i];
        if (chunk->tag != SEGMENT_APP2 && chunk->data.size <= SEGMENT_MAX) {
            write_carried(cinfo, chunk, options->upright);
        }
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

static void encode_guarded(struct writer *writer, const struct image *image,
                           const struct encode_options *options, const struct metadata *metadata) {
    struct jpeg_compress_struct *cinfo = &writer->cinfo;
    jpeg_create_compress(cinfo);
    cinfo->client_data = writer;
    writer->destination = (struct jpeg_destination_mgr){
        .init_destination = lend_room, .empty_output_buffer = on_room_used, .term_destination = on_end};
    cinfo->dest = &writer->destination;
    writer->progress.progress_monitor = on_progress;
    writer->deadline_ns = options->deadline_ns;
    cinfo->progress = &writer->progress;
    set_parameters(cinfo, image, options);
    jpeg_start_compress(cinfo, TRUE);
    write_metadata(writer, options, metadata);
    if (cinfo->raw_data_in) {
        for (unsigned p = 0; p < image->plane_count; p++) {
            fill_padding(&image->plane[p]);
        }
        write_planes(cinfo, image);
    } else {
        write_rows(cinfo, image);
    }
    jpeg_finish_compress(cinfo);
}

static enum status run(struct writer *writer, const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata) {
    if (setjmp(writer->guard.jump)) {
        jpeg_destroy_compress(&writer->cinfo);
        return writer->guard.status;
    }
    encode_guarded(writer, image, options, metadata);
    jpeg_destroy_compress(&writer->cinfo);
    return ST_OK;
}

static enum status prepare_metadata(struct writer *writer, const struct image *image,
                                    const struct encode_options *options, const struct metadata *metadata) {
    if (!metadata) {
        return ST_OK;
    }
    enum status status = icc_read(metadata, image->model, &writer->profile, writer->guard.err);
    if (status == ST_OK && options->keep_metadata) {
        buf_init(&writer->exif, EXIF_SIZE_MAX);
        status = exif_sanitize(metadata->exif, options->upright, &writer->exif, writer->guard.err);
    }
    return status;
}

enum status jpeg_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err) {
    if (image->width > SIDE_MAX || image->height > SIDE_MAX) {
        return fail(err, ST_LIMIT, "picture is %u x %u pixels; a JPEG has at most %d a side", image->width,
                    image->height, SIDE_MAX);
    }
    struct writer writer;
    memset(&writer, 0, sizeof(writer));
    writer.output = output;
    writer.cinfo.err = jpeg_guard_init(&writer.guard, ST_INTERNAL, err);
    enum status status = prepare_metadata(&writer, image, options, metadata);
    if (status == ST_OK) {
        status = run(&writer, image, options, metadata);
    }
    buf_finish(&writer.profile);
    buf_finish(&writer.exif);
    return status;
}
