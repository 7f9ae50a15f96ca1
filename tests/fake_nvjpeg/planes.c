/* SPDX-License-Identifier: MIT */
#include "tests/fake_nvjpeg/planes.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

enum { PLANES_MAX = 3, ROWS_MAX = 4 * DCTSIZE };

/* Of all planes, an MCU row; libjpeg frees them. */
struct rows {
    JSAMPROW row[PLANES_MAX][ROWS_MAX];
    JSAMPARRAY component[PLANES_MAX];
};

static void leave(j_common_ptr cinfo) {
    longjmp(*(jmp_buf *)cinfo->client_data, 1);
}

static void be_silent(j_common_ptr cinfo) {
    (void)cinfo;
}

static struct jpeg_error_mgr *errors(struct jpeg_error_mgr *manager) {
    jpeg_std_error(manager);
    manager->error_exit = leave;
    manager->output_message = be_silent;
    return manager;
}

static unsigned round_up(unsigned value, int to) {
    return (value + (unsigned)to - 1) / (unsigned)to * (unsigned)to;
}

/* Whole MCUs. */
static void make_rows(j_common_ptr cinfo, struct rows *rows, int plane,
                      const jpeg_component_info *component) {
    unsigned width = round_up(component->width_in_blocks, component->h_samp_factor) * DCTSIZE;
    rows->component[plane] = rows->row[plane];
    for (int i = 0; i < component->v_samp_factor * DCTSIZE; i++) {
        rows->row[plane][i] = cinfo->mem->alloc_large(cinfo, JPOOL_IMAGE, width);
    }
}

/* ---- decoding ---- */

static void store(const struct rows *rows, int plane, const jpeg_component_info *component, unsigned mcu_row,
                  const struct nvjpeg_image *to) {
    unsigned count = (unsigned)component->v_samp_factor * DCTSIZE;
    for (unsigned i = 0; i < count && mcu_row * count + i < component->downsampled_height; i++) {
        memcpy(to->channel[plane] + (mcu_row * count + i) * to->pitch[plane], rows->row[plane][i],
               component->downsampled_width);
    }
}

/* Guarded. */
static void read_planes(struct jpeg_decompress_struct *cinfo, const struct nvjpeg_image *to) {
    struct rows rows;
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE;
    for (int p = 0; p < cinfo->num_components; p++) {
        make_rows((j_common_ptr)cinfo, &rows, p, &cinfo->comp_info[p]);
    }
    for (unsigned mcu_row = 0; cinfo->output_scanline < cinfo->output_height; mcu_row++) {
        jpeg_read_raw_data(cinfo, rows.component, lines);
        for (int p = 0; p < cinfo->num_components; p++) {
            store(&rows, p, &cinfo->comp_info[p], mcu_row, to);
        }
    }
}

static bool same_shape(const struct jpeg_decompress_struct *cinfo, const struct walk *walk) {
    bool same = cinfo->image_width == walk->width && cinfo->image_height == walk->height &&
                cinfo->num_components == walk->components;
    for (int i = 0; i < cinfo->num_components && same; i++) {
        const jpeg_component_info *component = &cinfo->comp_info[i];
        same = (component->h_samp_factor << 4 | component->v_samp_factor) == walk->factors[i];
    }
    return same;
}

bool planes_decode(const unsigned char *data, size_t size, const struct walk *walk,
                   const struct nvjpeg_image *to) {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    cinfo.err = errors(&manager);
    jpeg_create_decompress(&cinfo);
    cinfo.client_data = &jump;
    if (setjmp(jump)) {
        jpeg_destroy_decompress(&cinfo);
        return false;
    }
    jpeg_mem_src(&cinfo, data, size);
    jpeg_read_header(&cinfo, TRUE);
    if (!same_shape(&cinfo, walk)) {
        jpeg_destroy_decompress(&cinfo);
        return false;
    }
    cinfo.raw_data_out = TRUE;
    cinfo.out_color_space = cinfo.jpeg_color_space;
    cinfo.dct_method = JDCT_FLOAT; /* not the CPU's, so that nobody relies on equal samples */
    jpeg_start_decompress(&cinfo);
    read_planes(&cinfo, to);
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    return manager.num_warnings == 0;
}

/* ---- encoding ---- */

static const struct {
    int components, h, v; /* sampling factors of the first */
} subsamplings[] = {
    [NVJPEG_CSS_444] = {3, 1, 1}, [NVJPEG_CSS_422] = {3, 2, 1}, [NVJPEG_CSS_420] = {3, 2, 2},
    [NVJPEG_CSS_440] = {3, 1, 2}, [NVJPEG_CSS_411] = {3, 4, 1}, [NVJPEG_CSS_GRAY] = {1, 1, 1},
};

bool planes_know(int chroma) {
    return chroma >= 0 && chroma < (int)(sizeof subsamplings / sizeof *subsamplings) &&
           subsamplings[chroma].components != 0;
}

/* Repeats the last column and the last row up to whole MCUs. */
static void load(const struct rows *rows, int plane, const jpeg_component_info *component, unsigned mcu_row,
                 const struct nvjpeg_image *from) {
    unsigned count = (unsigned)component->v_samp_factor * DCTSIZE;
    unsigned width = component->downsampled_width, height = component->downsampled_height;
    unsigned whole = round_up(component->width_in_blocks, component->h_samp_factor) * DCTSIZE;
    for (unsigned i = 0; i < count; i++) {
        unsigned y = mcu_row * count + i;
        JSAMPROW row = rows->row[plane][i];
        memcpy(row, from->channel[plane] + (y < height ? y : height - 1) * from->pitch[plane], width);
        memset(row + width, row[width - 1], whole - width);
    }
}

/* Guarded. */
static void write_planes(struct jpeg_compress_struct *cinfo, const struct nvjpeg_image *from) {
    struct rows rows;
    unsigned lines = (unsigned)cinfo->max_v_samp_factor * DCTSIZE;
    for (int p = 0; p < cinfo->num_components; p++) {
        make_rows((j_common_ptr)cinfo, &rows, p, &cinfo->comp_info[p]);
    }
    for (unsigned mcu_row = 0; cinfo->next_scanline < cinfo->image_height; mcu_row++) {
        for (int p = 0; p < cinfo->num_components; p++) {
            load(&rows, p, &cinfo->comp_info[p], mcu_row, from);
        }
        jpeg_write_raw_data(cinfo, rows.component, lines);
    }
}

/* Guarded. */
static void set_parameters(struct jpeg_compress_struct *cinfo, const struct planes_shape *shape,
                           const struct planes_coding *coding) {
    cinfo->image_width = (JDIMENSION)shape->width;
    cinfo->image_height = (JDIMENSION)shape->height;
    cinfo->input_components = subsamplings[shape->chroma].components;
    cinfo->in_color_space = cinfo->input_components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, coding->quality, TRUE);
    cinfo->optimize_coding = coding->optimised;
    cinfo->dct_method = JDCT_FLOAT;
    cinfo->raw_data_in = TRUE;
    cinfo->comp_info[0].h_samp_factor = subsamplings[shape->chroma].h;
    cinfo->comp_info[0].v_samp_factor = subsamplings[shape->chroma].v;
}

bool planes_encode(const struct nvjpeg_image *from, const struct planes_shape *shape,
                   const struct planes_coding *coding, unsigned char **data, unsigned long *size) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    *data = NULL;
    cinfo.err = errors(&manager);
    jpeg_create_compress(&cinfo);
    cinfo.client_data = &jump;
    if (setjmp(jump)) {
        jpeg_destroy_compress(&cinfo);
        *data = NULL; /* out of memory, and libjpeg does not tell which buffer is the last */
        return false;
    }
    jpeg_mem_dest(&cinfo, data, size);
    set_parameters(&cinfo, shape, coding);
    jpeg_start_compress(&cinfo, TRUE);
    write_planes(&cinfo, from);
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    return true;
}
