/* SPDX-License-Identifier: MIT
 * JPEGs of all kinds that the own decoders know, for comparisons with libjpeg-turbo. */
#ifndef BLURD_TESTS_JPEG_RECIPES_H
#define BLURD_TESTS_JPEG_RECIPES_H

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/codecs/jpeg/jpeg_random.h"

static inline struct codec_limits turbo_limits(void) {
    struct codec_limits limits = fixture_limits();
    limits.libjpeg = true;
    return limits;
}

/* Components apart, bands of all widths, and as many bits apart as there may be. */
static const jpeg_scan_info apart[] = {{1, {2}, 0, 0, 0, 0},  {1, {0}, 0, 0, 0, 0},  {1, {1}, 0, 0, 0, 0},
                                       {1, {0}, 1, 1, 0, 0},  {1, {0}, 2, 63, 0, 0}, {1, {1}, 1, 63, 0, 0},
                                       {1, {2}, 1, 62, 0, 0}, {1, {2}, 63, 63, 0, 0}};
static const jpeg_scan_info bits[] = {
    {3, {0, 1, 2}, 0, 0, 0, 3}, {3, {0, 1, 2}, 0, 0, 3, 2}, {1, {0}, 1, 63, 0, 4}, {1, {1}, 1, 63, 0, 1},
    {1, {0}, 1, 63, 4, 3},      {1, {0}, 1, 63, 3, 2},      {1, {2}, 1, 63, 0, 0}, {3, {0, 1, 2}, 0, 0, 2, 1},
    {1, {0}, 1, 20, 2, 1},      {1, {0}, 21, 63, 2, 1},     {1, {1}, 1, 63, 1, 0}, {1, {0}, 1, 63, 1, 0},
    {3, {0, 1, 2}, 0, 0, 1, 0},
};
#define SCRIPT(scans) .script = (scans), .scripted = (int)(sizeof(scans) / sizeof *(scans))

static const struct jpeg_recipe recipes[] = {
    {.name = "progressive 4:4:4", .progressive = true},
    {.name = "progressive 4:2:0", .luma = {2, 2}, .progressive = true},
    {.name = "progressive 4:2:2", .luma = {2, 1}, .progressive = true},
    {.name = "progressive 4:4:0", .luma = {1, 2}, .progressive = true},
    {.name = "progressive 4:1:1", .luma = {4, 1}, .progressive = true},
    {.name = "progressive 4:1:0", .luma = {4, 2}, .progressive = true},
    {.name = "progressive 1x4", .luma = {1, 4}, .progressive = true},
    {.name = "progressive 2x4", .luma = {2, 4}, .progressive = true},
    {.name = "progressive 2x2, all", .luma = {2, 1}, .chroma = {2, 1}, .progressive = true},
    {.name = "progressive 4x2, 2x1", .luma = {2, 2}, .chroma = {2, 1}, .progressive = true},
    {.name = "progressive grey", .space = JCS_GRAYSCALE, .progressive = true},
    {.name = "progressive grey 2x2", .space = JCS_GRAYSCALE, .luma = {2, 2}, .progressive = true},
    {.name = "progressive grey 3x1", .space = JCS_GRAYSCALE, .luma = {3, 1}, .progressive = true},
    {.name = "progressive, restart 1", .luma = {2, 2}, .restart = 1, .progressive = true},
    {.name = "progressive, restart 3", .luma = {2, 1}, .restart = 3, .progressive = true},
    {.name = "progressive, odd tables", .luma = {2, 2}, .odd_tables = true, .progressive = true},
    {.name = "bands", .luma = {2, 2}, SCRIPT(apart)},
    {.name = "bands, restarts", .luma = {1, 2}, .restart = 4, SCRIPT(apart)},
    {.name = "bits", SCRIPT(bits)},
    {.name = "bits, 4:2:0", .luma = {2, 2}, .odd_tables = true, SCRIPT(bits)},
    {.name = "4:4:4"},
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:2:2", .luma = {2, 1}},
    {.name = "4:4:0", .luma = {1, 2}},
    {.name = "4:1:1", .luma = {4, 1}},
    {.name = "4:1:0", .luma = {4, 2}},
    {.name = "1x4", .luma = {1, 4}},
    {.name = "2x4", .luma = {2, 4}},
    {.name = "2x2, all", .luma = {2, 1}, .chroma = {2, 1}},
    {.name = "4x2, 2x1", .luma = {2, 2}, .chroma = {2, 1}},
    {.name = "grey", .space = JCS_GRAYSCALE},
    {.name = "grey 2x2", .space = JCS_GRAYSCALE, .luma = {2, 2}},
    {.name = "grey 4x1, restarts", .space = JCS_GRAYSCALE, .luma = {4, 1}, .restart = 7},
    {.name = "restart 1", .luma = {2, 2}, .restart = 1},
    {.name = "restart 3", .luma = {2, 1}, .restart = 3},
    {.name = "restart 1000", .restart = 1000},
    {.name = "separate", .separate = true},
    {.name = "separate, 4:2:0", .luma = {2, 2}, .separate = true},
    {.name = "separate, 4:1:1, restarts", .luma = {4, 1}, .separate = true, .restart = 5},
    {.name = "odd tables", .luma = {2, 2}, .odd_tables = true},
    {.name = "odd tables, separate", .luma = {1, 2}, .odd_tables = true, .separate = true},
};
enum { RECIPES = sizeof(recipes) / sizeof(*recipes) };

/* What a file of coefficients is made of: three components of full size, squares of so many blocks. */
struct coefficient_recipe {
    unsigned steps[DCTSIZE2];
    bool optimal, progressive;
    uint32_t blocks;
    /* Fills a row of blocks, which is 0, of row y of a component. */
    void (*put)(void *context, JBLOCKROW row, uint32_t y);
    void *context;
};

static inline void coefficients_put(struct jpeg_compress_struct *cinfo, jvirt_barray_ptr array,
                                    const struct coefficient_recipe *recipe) {
    for (uint32_t y = 0; y < recipe->blocks; y++) {
        JBLOCKROW row = cinfo->mem->access_virt_barray((j_common_ptr)cinfo, array, y, 1, TRUE)[0];
        memset(row, 0, recipe->blocks * sizeof *row);
        recipe->put(recipe->context, row, y);
    }
}

static inline struct buf coefficients_write(const struct coefficient_recipe *recipe) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    unsigned char *data = NULL;
    unsigned long size = 0;
    const uint32_t blocks = recipe->blocks;
    jvirt_barray_ptr array[3];
    cinfo.err = recipe_errors(&manager);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = cinfo.image_height = blocks * DCTSIZE;
    cinfo.input_components = 3;
    cinfo.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&cinfo);
    cinfo.comp_info[0].h_samp_factor = cinfo.comp_info[0].v_samp_factor = 1;
    jpeg_add_quant_table(&cinfo, 0, recipe->steps, 100, FALSE);
    jpeg_add_quant_table(&cinfo, 1, recipe->steps, 100, FALSE);
    cinfo.optimize_coding = recipe->optimal;
    if (recipe->progressive) {
        jpeg_simple_progression(&cinfo);
    }
    for (int i = 0; i < 3; i++) {
        array[i] = cinfo.mem->request_virt_barray((j_common_ptr)&cinfo, JPOOL_IMAGE, TRUE, blocks, blocks, 1);
    }
    jpeg_write_coefficients(&cinfo, array);
    for (int i = 0; i < 3; i++) {
        coefficients_put(&cinfo, array[i], recipe);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    struct buf file;
    buf_init(&file, 1 << 26);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    return file;
}

#endif
