/* SPDX-License-Identifier: MIT
 * JPEG files that our encoder does not write, and the coefficients of any. All through
 * libjpeg itself, with its own error manager: a failure here ends the test program. */
#ifndef BLURD_TESTS_JPEG_FIXTURE_H
#define BLURD_TESTS_JPEG_FIXTURE_H

#include <stdio.h>

#include <jpeglib.h>

#include "tests/unit/codecs/picture_fixture.h"

/* libjpeg prints a caution for steps of 16 bits. Warnings are still counted. */
static inline void recipe_be_silent(j_common_ptr cinfo) {
    (void)cinfo;
}

static inline struct jpeg_error_mgr *recipe_errors(struct jpeg_error_mgr *manager) {
    jpeg_std_error(manager);
    manager->output_message = recipe_be_silent;
    return manager;
}

/* Whether the first `rows` rows of the pictures are the same. */
static inline bool same_rows(const struct image *a, const struct image *b, uint32_t rows) {
    for (unsigned p = 0; p < a->plane_count; p++) {
        const struct plane *plane = &a->plane[p];
        for (uint32_t y = 0; y < plane->height && y << plane->shift_y < rows; y++) {
            if (memcmp(plane_row(plane, y), plane_row(&b->plane[p], y), plane_row_bytes(plane, a->depth)) !=
                0) {
                return false;
            }
        }
    }
    return true;
}

static inline bool same_samples(const struct image *a, const struct image *b) {
    return same_rows(a, b, a->height);
}

/* The properties of a JPEG for libjpeg to write. */
struct jpeg_recipe {
    const char *name;
    J_COLOR_SPACE space; /* JCS_UNKNOWN (0): YCbCr */
    int luma[2];         /* sampling factors: horizontal, vertical; 0: 1 */
    int chroma[2];
    bool progressive;
    bool arithmetic;
    bool separate;                /* a sequential scan for each component */
    const jpeg_scan_info *script; /* other scans than the usual ones */
    int scripted;                 /* how many */
    bool odd_tables;
    unsigned restart;       /* MCUs between restart markers; 0: none */
    const uint8_t *numbers; /* of the components; NULL: libjpeg's own, and its markers of the colours, too */
    uint8_t jfif_minor;     /* of the version in the JFIF header; 0: libjpeg's own */
    uint32_t width;
    uint32_t height;
};

/* A texture that fills all frequencies; different in each channel. */
static inline void recipe_paint(uint8_t *row, uint32_t width, uint32_t y, unsigned channels) {
    for (uint32_t i = 0; i < width * channels; i++) {
        uint32_t x = i / channels, c = i % channels;
        row[i] = (uint8_t)((x * x + 3 * y * y / 2 + x * y + c * (40 + x)) / 4);
    }
}

/* Steps that no quality gives, one of them of 16 bits. */
static inline void recipe_tables(struct jpeg_compress_struct *cinfo) {
    unsigned steps[DCTSIZE2];
    for (int table = 0; table < 2; table++) {
        for (unsigned k = 0; k < DCTSIZE2; k++) {
            steps[k] = k == 63 ? 300 : 1 + (k * 5 + (unsigned)table) % 23;
        }
        jpeg_add_quant_table(cinfo, table, steps, 100, FALSE);
    }
}

static inline void recipe_apply(struct jpeg_compress_struct *cinfo, const struct jpeg_recipe *recipe) {
    static const jpeg_scan_info separate[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    if (recipe->space != JCS_UNKNOWN) {
        jpeg_set_colorspace(cinfo, recipe->space);
    }
    for (int i = 0; i < cinfo->num_components; i++) {
        const int *factor = i ? recipe->chroma : recipe->luma;
        cinfo->comp_info[i].h_samp_factor = factor[0] ? factor[0] : 1;
        cinfo->comp_info[i].v_samp_factor = factor[1] ? factor[1] : 1;
    }
    for (int i = 0; recipe->numbers && i < cinfo->num_components; i++) {
        cinfo->comp_info[i].component_id = recipe->numbers[i];
        cinfo->write_JFIF_header = cinfo->write_Adobe_marker = FALSE;
    }
    cinfo->arith_code = recipe->arithmetic;
    cinfo->restart_interval = recipe->restart;
    cinfo->JFIF_minor_version = recipe->jfif_minor ? recipe->jfif_minor : cinfo->JFIF_minor_version;
    if (recipe->odd_tables) {
        recipe_tables(cinfo);
    }
    if (recipe->progressive) {
        jpeg_simple_progression(cinfo);
    }
    if (recipe->separate || recipe->script) {
        cinfo->scan_info = recipe->script ? recipe->script : separate;
        cinfo->num_scans = recipe->script ? recipe->scripted : 3;
    }
}

static inline struct buf recipe_file(const struct jpeg_recipe *recipe) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    cinfo.err = recipe_errors(&manager);
    jpeg_create_compress(&cinfo);
    unsigned char *data = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = recipe->width;
    cinfo.image_height = recipe->height;
    bool gray = recipe->space == JCS_GRAYSCALE, cmyk = recipe->space == JCS_CMYK;
    cinfo.input_components = gray ? 1 : cmyk ? 4 : 3;
    cinfo.in_color_space = gray ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&cinfo);
    recipe_apply(&cinfo, recipe);
    jpeg_start_compress(&cinfo, TRUE);
    uint8_t *row = malloc((size_t)recipe->width * 4);
    while (cinfo.next_scanline < recipe->height) {
        recipe_paint(row, recipe->width, cinfo.next_scanline, (unsigned)cinfo.input_components);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(row);
    struct buf file;
    buf_init(&file, 1 << 26);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    return file;
}

/* Whole blocks of one component that hold pixels, row after row. */
struct coefficients {
    int factor[2];
    uint32_t width, height; /* blocks */
    uint16_t steps[DCTSIZE2];
    JBLOCK *blocks;
};

/* A file as libjpeg reads it, to the bit. */
struct coefficient_file {
    int count;
    int max_factor[2];
    bool progressive;
    unsigned restart;
    struct coefficients component[3];
};

static inline void coefficients_copy(struct jpeg_decompress_struct *cinfo, int index, jvirt_barray_ptr array,
                                     struct coefficients *to) {
    const jpeg_component_info *from = &cinfo->comp_info[index];
    *to = (struct coefficients){
        {from->h_samp_factor, from->v_samp_factor}, from->width_in_blocks, from->height_in_blocks, {0}, NULL};
    memcpy(to->steps, from->quant_table->quantval, sizeof(to->steps));
    to->blocks = malloc((size_t)to->width * to->height * sizeof(JBLOCK));
    for (uint32_t y = 0; y < to->height; y++) {
        JBLOCKARRAY row = cinfo->mem->access_virt_barray((j_common_ptr)cinfo, array, y, 1, FALSE);
        memcpy(to->blocks[(size_t)y * to->width], row[0][0], to->width * sizeof(JBLOCK));
    }
}

static inline struct coefficient_file coefficients_read_noting(struct bytes input, long *warnings) {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr manager;
    struct coefficient_file file = {0};
    cinfo.err = recipe_errors(&manager);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, input.data, input.size);
    jpeg_read_header(&cinfo, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&cinfo);
    file.count = cinfo.num_components;
    file.max_factor[0] = cinfo.max_h_samp_factor;
    file.max_factor[1] = cinfo.max_v_samp_factor;
    file.progressive = cinfo.progressive_mode;
    file.restart = cinfo.restart_interval;
    for (int i = 0; i < file.count; i++) {
        coefficients_copy(&cinfo, i, arrays[i], &file.component[i]);
    }
    *warnings = manager.num_warnings;
    jpeg_destroy_decompress(&cinfo);
    return file;
}

static inline struct coefficient_file coefficients_read(struct bytes input) {
    long warnings;
    struct coefficient_file file = coefficients_read_noting(input, &warnings);
    assert_int_equal(warnings, 0);
    return file;
}

static inline void coefficients_free(struct coefficient_file *file) {
    for (int i = 0; i < file->count; i++) {
        free(file->component[i].blocks);
    }
}

/* Feeds planes to a compressor, the last row and column repeated as far as it asks. */
static inline void coefficients_feed(struct jpeg_compress_struct *cinfo, const struct image *image) {
    enum { ROWS = 4 * DCTSIZE, SLACK = 4 * DCTSIZE };
    size_t stride = image->width + SLACK;
    uint8_t *memory = malloc(IMAGE_PLANES_MAX * ROWS * stride);
    JSAMPROW rows[IMAGE_PLANES_MAX][ROWS];
    JSAMPARRAY planes[IMAGE_PLANES_MAX] = {rows[0], rows[1], rows[2]};
    for (uint32_t mcu_row = 0; cinfo->next_scanline < cinfo->image_height; mcu_row++) {
        for (unsigned p = 0; p < image->plane_count; p++) {
            const struct plane *plane = &image->plane[p];
            uint32_t count = (uint32_t)cinfo->comp_info[p].v_samp_factor * DCTSIZE;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t y = mcu_row * count + i;
                const uint8_t *from = plane_row(plane, y < plane->height ? y : plane->height - 1);
                rows[p][i] = memory + (p * ROWS + i) * stride;
                memcpy(rows[p][i], from, plane->width);
                memset(rows[p][i] + plane->width, from[plane->width - 1], stride - plane->width);
            }
        }
        jpeg_write_raw_data(cinfo, planes, (unsigned)cinfo->max_v_samp_factor * DCTSIZE);
    }
    free(memory);
}

/* The coefficients of a whole new picture under the tables and the sampling of `input`. */
static inline struct coefficient_file coefficients_of(const struct image *image, struct bytes input) {
    struct jpeg_decompress_struct model;
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    model.err = cinfo.err = recipe_errors(&manager);
    jpeg_create_decompress(&model);
    jpeg_mem_src(&model, input.data, input.size);
    jpeg_read_header(&model, TRUE);
    jpeg_read_coefficients(&model);
    jpeg_create_compress(&cinfo);
    unsigned char *data = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&cinfo, &data, &size);
    jpeg_copy_critical_parameters(&model, &cinfo);
    bool rgb = image->model == PIXEL_RGB;
    cinfo.in_color_space = rgb ? JCS_RGB : cinfo.jpeg_color_space;
    cinfo.raw_data_in = !rgb;
    jpeg_start_compress(&cinfo, TRUE);
    if (!rgb) {
        coefficients_feed(&cinfo, image);
    }
    while (cinfo.next_scanline < cinfo.image_height) {
        JSAMPROW row = plane_row(&image->plane[0], cinfo.next_scanline);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    jpeg_destroy_decompress(&model);
    struct coefficient_file file = coefficients_read((struct bytes){data, size});
    free(data);
    return file;
}

#endif
