/* SPDX-License-Identifier: MIT
 * Four libjpeg objects under one guard: the source, whose coefficient arrays are changed in place; for
 * each row of MCUs that the mask touches, a small JPEG that is written from the new pixels and read back,
 * which gives libjpeg's own transform and quantisation; and the target, which writes the arrays if the own
 * encoder does not. */
#include "codecs/jpeg/jpeg_patch.h"

#include <string.h>

#include "codecs/jpeg/baseline/baseline.h"
#include "codecs/jpeg/jpeg_blocks.h"
#include "codecs/jpeg/jpeg_writer.h"

enum {
    CELL_ROWS_MAX = 4, /* rows of 8x8 cells in an MCU row */
    JFIF_MINOR = 12,   /* place of the version's lower half in a file */
};

struct patch {
    struct jpeg_guard guard;
    struct jpeg_reader source;
    struct jpeg_writer target;
    struct jpeg_writer strip_writer;
    struct jpeg_reader strip_reader;
    struct buf strip_file;
    const struct image *result;
    const struct image *mask;
    jvirt_barray_ptr *coefficients; /* the source's, an array a component */
    uint8_t *cells[CELL_ROWS_MAX];  /* current MCU row: not 0 where 8x8 pixels are touched */
    uint32_t cell_columns;
};

/* A run of MCUs in one MCU row. */
struct patch_strip {
    uint32_t row;
    uint32_t first; /* MCUs from the left */
    uint32_t end;   /* behind the last */
};

static bool has_model(const struct image *image, const struct jpeg_decompress_struct *cinfo) {
    if (cinfo->num_components == 1) {
        return image->model == PIXEL_GRAY;
    }
    return image->model == PIXEL_RGB || (image->model == PIXEL_YCBCR && jpeg_same_planes(cinfo, image));
}

static bool has_size(const struct image *image, const struct jpeg_decompress_struct *cinfo) {
    return image->width == cinfo->image_width && image->height == cinfo->image_height && image->depth == 8;
}

static bool shapes_agree(const struct patch *patch) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    return has_model(patch->result, cinfo) && has_size(patch->result, cinfo) &&
           patch->mask->model == PIXEL_GRAY && has_size(patch->mask, cinfo);
}

/* Marks the cells of one MCU row that have a pixel in the mask. */
static void mark_cells(struct patch *patch, uint32_t mcu_row) {
    uint32_t rows = (uint32_t)patch->source.cinfo.max_v_samp_factor;
    const struct plane *mask = &patch->mask->plane[0];
    for (uint32_t r = 0; r < rows; r++) {
        memset(patch->cells[r], 0, patch->cell_columns);
    }
    for (uint32_t i = 0; i < rows * DCTSIZE; i++) {
        uint32_t y = mcu_row * rows * DCTSIZE + i;
        if (y >= mask->height) {
            return;
        }
        const uint8_t *pixels = plane_row(mask, y);
        uint8_t *cells = patch->cells[i / DCTSIZE];
        uint64_t eight = 0;
        for (uint32_t column = 0; column < mask->width / DCTSIZE; column++) {
            memcpy(&eight, pixels + (size_t)column * DCTSIZE, DCTSIZE);
            cells[column] |= eight != 0;
        }
        eight = 0;
        memcpy(&eight, pixels + mask->width / DCTSIZE * DCTSIZE, mask->width % DCTSIZE);
        cells[patch->cell_columns - 1] |= eight != 0;
    }
}

/* The shortest run of MCUs that holds all touched cells; false when there are none. */
static bool find_strip(const struct patch *patch, struct patch_strip *strip) {
    uint32_t rows = (uint32_t)patch->source.cinfo.max_v_samp_factor;
    uint32_t columns = (uint32_t)patch->source.cinfo.max_h_samp_factor;
    strip->first = UINT32_MAX;
    strip->end = 0;
    for (uint32_t column = 0; column < patch->cell_columns; column++) {
        bool touched = false;
        for (uint32_t r = 0; r < rows; r++) {
            touched |= patch->cells[r][column] != 0;
        }
        if (touched) {
            uint32_t mcu = column / columns;
            strip->first = strip->first < mcu ? strip->first : mcu;
            strip->end = mcu + 1;
        }
    }
    return strip->end > 0;
}

/* Limits `size` to the part of `total` behind `start`. */
static uint32_t clip(uint32_t start, uint32_t size, uint32_t total) {
    return size < total - start ? size : total - start;
}

/* Views the strip's part of the result as a picture over the same memory. */
static struct image view_strip(const struct patch *patch, const struct patch_strip *strip) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    uint32_t x = strip->first * (uint32_t)cinfo->max_h_samp_factor * DCTSIZE;
    uint32_t y = strip->row * (uint32_t)cinfo->max_v_samp_factor * DCTSIZE;
    uint32_t width = (strip->end - strip->first) * (uint32_t)cinfo->max_h_samp_factor * DCTSIZE;
    uint32_t height = (uint32_t)cinfo->max_v_samp_factor * DCTSIZE;
    struct image view = *patch->result;
    view.width = clip(x, width, view.width);
    view.height = clip(y, height, view.height);
    for (unsigned p = 0; p < view.plane_count; p++) {
        struct plane *plane = &view.plane[p];
        uint32_t left = x >> plane->shift_x, top = y >> plane->shift_y;
        plane->data = plane_row(plane, top) + (size_t)left * plane->channels;
        plane->width = clip(left, width >> plane->shift_x, plane->width);
        plane->height = clip(top, height >> plane->shift_y, plane->height);
    }
    return view;
}

/* Guarded. Writes a JPEG with the source's tables and sampling. */
static void encode_strip(struct patch *patch, const struct image *pixels) {
    struct jpeg_compress_struct *cinfo = &patch->strip_writer.cinfo;
    patch->strip_file.size = 0;
    jpeg_writer_open(&patch->strip_writer);
    jpeg_copy_critical_parameters(&patch->source.cinfo, cinfo);
    cinfo->image_width = pixels->width;
    cinfo->image_height = pixels->height;
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->raw_data_in = pixels->model != PIXEL_RGB;
    cinfo->in_color_space = pixels->model == PIXEL_RGB ? JCS_RGB : cinfo->jpeg_color_space;
    jpeg_start_compress(cinfo, TRUE);
    jpeg_write_pixels(cinfo, pixels, pixels->height);
    jpeg_finish_compress(cinfo);
    jpeg_destroy_compress(cinfo);
}

static bool is_touched(const struct patch *patch, const jpeg_component_info *component, uint32_t row,
                       uint32_t column) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    unsigned shift_x = jpeg_shift_between(cinfo->max_h_samp_factor, component->h_samp_factor);
    unsigned shift_y = jpeg_shift_between(cinfo->max_v_samp_factor, component->v_samp_factor);
    uint32_t end = (column + 1) << shift_x;
    end = end < patch->cell_columns ? end : patch->cell_columns;
    for (uint32_t r = row << shift_y; r < (row + 1) << shift_y; r++) {
        for (uint32_t c = column << shift_x; c < end; c++) {
            if (patch->cells[r][c]) {
                return true;
            }
        }
    }
    return false;
}

/* Guarded. `coefficients` are the strip's, of the same component. */
static void copy_blocks(struct patch *patch, const struct patch_strip *strip, int index,
                        jvirt_barray_ptr coefficients) {
    j_common_ptr source = (j_common_ptr)&patch->source.cinfo;
    j_common_ptr reader = (j_common_ptr)&patch->strip_reader.cinfo;
    const jpeg_component_info *component = &patch->source.cinfo.comp_info[index];
    uint32_t rows = (uint32_t)component->v_samp_factor;
    uint32_t first = strip->first * (uint32_t)component->h_samp_factor;
    uint32_t end = strip->end * (uint32_t)component->h_samp_factor;
    end = end < component->width_in_blocks ? end : component->width_in_blocks;
    JBLOCKARRAY to =
        source->mem->access_virt_barray(source, patch->coefficients[index], strip->row * rows, rows, TRUE);
    JBLOCKARRAY from = reader->mem->access_virt_barray(reader, coefficients, 0, rows, FALSE);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t column = first; column < end; column++) {
            if (is_touched(patch, component, r, column)) {
                memcpy(to[r][column], from[r][column - first], sizeof(JBLOCK));
            }
        }
    }
}

/* Guarded. */
static void replace_strip(struct patch *patch, const struct patch_strip *strip) {
    struct image pixels = view_strip(patch, strip);
    encode_strip(patch, &pixels);
    struct jpeg_decompress_struct *cinfo = &patch->strip_reader.cinfo;
    jpeg_reader_open(&patch->strip_reader, buf_bytes(&patch->strip_file));
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(cinfo);
    for (int i = 0; i < cinfo->num_components; i++) {
        copy_blocks(patch, strip, i, coefficients[i]);
    }
    jpeg_destroy_decompress(cinfo);
}

/* Guarded. */
static void replace_touched(struct patch *patch) {
    struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    uint32_t lines = (uint32_t)cinfo->max_v_samp_factor * DCTSIZE;
    patch->cell_columns = (cinfo->image_width + DCTSIZE - 1) / DCTSIZE;
    for (int r = 0; r < cinfo->max_v_samp_factor; r++) {
        patch->cells[r] = cinfo->mem->alloc_small((j_common_ptr)cinfo, JPOOL_IMAGE, patch->cell_columns);
    }
    patch->guard.otherwise = ST_INTERNAL; /* failures from here on are bugs */
    struct patch_strip strip = {0};
    for (; strip.row * lines < cinfo->image_height; strip.row++) {
        mark_cells(patch, strip.row);
        if (find_strip(patch, &strip)) {
            replace_strip(patch, &strip);
        }
    }
}

static struct image_shape shape_of(const struct patch *patch) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    struct image_shape shape = {.model = cinfo->num_components == 1 ? PIXEL_GRAY : PIXEL_YCBCR,
                                .depth = 8,
                                .width = cinfo->image_width,
                                .height = cinfo->image_height};
    jpeg_planes_fit(cinfo, &shape);
    return shape;
}

/* Whether the own encoder writes this header: numbers of components and tables, factors, steps of a byte. */
static bool own_writes(const struct patch *patch) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    const struct image_shape shape = shape_of(patch);
    bool writes = baseline_takes(&shape, patch->target.options);
    for (int i = 0; i < cinfo->num_components && writes; i++) {
        const jpeg_component_info *component = &cinfo->comp_info[i];
        writes = component->component_id == i + 1 && component->quant_tbl_no == (i > 0) &&
                 ((i == 0 && cinfo->num_components > 1) ||
                  (component->h_samp_factor == 1 && component->v_samp_factor == 1));
        for (int k = 0; k < DCTSIZE2 && writes; k++) {
            writes = cinfo->quant_tbl_ptrs[i > 0]->quantval[k] <= UINT8_MAX;
        }
    }
    return writes;
}

/* Guarded. */
static void set_blocks(struct patch *patch, struct baseline_blocks *blocks) {
    struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    j_common_ptr common = (j_common_ptr)cinfo;
    for (int i = 0; i < cinfo->num_components; i++) {
        uint32_t rows = cinfo->comp_info[i].height_in_blocks;
        blocks->row[i] = cinfo->mem->alloc_large(common, JPOOL_IMAGE, rows * sizeof *blocks->row[i]);
        for (uint32_t y = 0; y < rows; y++) {
            blocks->row[i][y] = (const int16_t(*)[DCTSIZE2])cinfo->mem->access_virt_barray(
                common, patch->coefficients[i], y, 1, FALSE)[0];
        }
        memcpy(blocks->quantiser[i > 0], cinfo->quant_tbl_ptrs[i > 0]->quantval, sizeof blocks->quantiser[0]);
    }
}

/* Guarded. The file is that of write_target, to the byte. Fails as baseline_end. */
static enum status write_own(struct patch *patch) {
    const struct jpeg_decompress_struct *cinfo = &patch->source.cinfo;
    struct jpeg_writer *target = &patch->target;
    struct encode_options options = *target->options;
    const struct image_shape shape = shape_of(patch);
    struct baseline_blocks blocks = {0};
    struct baseline *own;
    struct image image;
    size_t start = target->output->size;
    options.optimal = true;
    image_layout(&image, &shape);
    set_blocks(patch, &blocks);
    enum status status = baseline_begin_blocks(NULL, &image, &blocks, &options, &target->segments,
                                               target->output, &own, patch->guard.err);
    if (status == ST_OK) {
        if (cinfo->saw_JFIF_marker && cinfo->JFIF_major_version == 1) {
            target->output->data[start + JFIF_MINOR] = cinfo->JFIF_minor_version;
        }
        status = baseline_end(own, patch->guard.err);
    }
    baseline_finish(own);
    if (status != ST_OK) {
        target->output->size = start;
    }
    return status;
}

/* Guarded. The Huffman tables are always computed: the standard ones lack codes that the input may need,
 * and the pass that computes them rejects values without any code. */
static void write_target(struct patch *patch) {
    struct jpeg_compress_struct *cinfo = &patch->target.cinfo;
    jpeg_writer_open(&patch->target);
    jpeg_copy_critical_parameters(&patch->source.cinfo, cinfo);
    jpeg_writer_set_density(&patch->target);
    cinfo->optimize_coding = TRUE;
    if (patch->target.options->progressive) {
        jpeg_simple_progression(cinfo);
    }
    jpeg_write_coefficients(cinfo, patch->coefficients);
    jpeg_writer_put_metadata(&patch->target);
    jpeg_finish_compress(cinfo);
}

static enum status patch_guarded(struct patch *patch, struct bytes input) {
    struct jpeg_reader *source = &patch->source;
    jpeg_reader_open(source, input);
    enum status status = jpeg_blocks_check(source, "patched");
    if (status == ST_OK && !shapes_agree(patch)) {
        status =
            fail(patch->guard.err, ST_INTERNAL, "the picture to patch in has another shape than the JPEG");
    }
    if (status != ST_OK) {
        return status;
    }
    patch->coefficients = jpeg_read_coefficients(&source->cinfo);
    status = jpeg_has_multiple_scans(&source->cinfo) ? jpeg_reader_check_scans(source) : ST_OK;
    status = status == ST_OK ? jpeg_blocks_check_tables(source, "patched") : status;
    if (status != ST_OK) {
        return status;
    }
    replace_touched(patch);
    status = own_writes(patch) ? write_own(patch) : ST_UNSUPPORTED;
    if (status == ST_UNSUPPORTED) {
        write_target(patch);
        status = ST_OK;
    }
    return status;
}

static void destroy(struct patch *patch) {
    jpeg_destroy_decompress(&patch->strip_reader.cinfo);
    jpeg_destroy_compress(&patch->strip_writer.cinfo);
    jpeg_destroy_compress(&patch->target.cinfo);
    jpeg_destroy_decompress(&patch->source.cinfo);
}

static enum status run(struct patch *patch, struct bytes input) {
    if (setjmp(patch->guard.jump)) {
        destroy(patch);
        return patch->guard.status;
    }
    enum status status = patch_guarded(patch, input);
    destroy(patch);
    return status;
}

enum status jpeg_patch(struct bytes input, const struct codec_limits *limits, const struct image *result,
                       const struct image *mask, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err) {
    struct patch patch = {.result = result, .mask = mask};
    jpeg_guard_init(&patch.guard, ST_CORRUPT, err);
    jpeg_reader_init(&patch.source, &patch.guard, limits);
    jpeg_reader_init(&patch.strip_reader, &patch.guard, limits);
    jpeg_writer_init(&patch.strip_writer, &patch.guard, options, &patch.strip_file);
    jpeg_writer_init(&patch.target, &patch.guard, options, output);
    buf_init(&patch.strip_file, SIZE_MAX / 2);
    const struct image_shape shape = image_shape(result);
    enum status status = jpeg_writer_take_metadata(&patch.target, metadata, &shape);
    if (status == ST_OK) {
        status = run(&patch, input);
    }
    jpeg_writer_finish(&patch.target);
    buf_finish(&patch.strip_file);
    return status;
}
