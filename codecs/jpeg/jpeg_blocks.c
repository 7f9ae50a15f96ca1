/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_blocks.h"

enum {
    MCU_BLOCKS_MAX = 10, /* the format's limit for an interleaved scan */
    STEP_MAX = 0xFFFF / 8,
};

/* libjpeg divides by eight times the steps, in 16 bits. The tables are checked again after the scans,
 * which may bring other tables. */
enum status jpeg_blocks_check_tables(const struct jpeg_reader *reader, const char *use) {
    const struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    for (int i = 0; i < cinfo->num_components; i++) {
        int number = cinfo->comp_info[i].quant_tbl_no;
        const JQUANT_TBL *table =
            number >= 0 && number < NUM_QUANT_TBLS ? cinfo->quant_tbl_ptrs[number] : NULL;
        for (int k = 0; k < DCTSIZE2; k++) {
            if (!table || table->quantval[k] == 0 || table->quantval[k] > STEP_MAX) {
                return fail(reader->guard->err, ST_UNSUPPORTED,
                            "a JPEG without usable quantisation tables cannot be %s", use);
            }
        }
    }
    return ST_OK;
}

/* The MCU of a scan with one component is one block; its sampling factors do not count. */
static bool mcu_fits(const struct jpeg_decompress_struct *cinfo) {
    int blocks = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        blocks += cinfo->comp_info[i].h_samp_factor * cinfo->comp_info[i].v_samp_factor;
    }
    return cinfo->num_components == 1 || blocks <= MCU_BLOCKS_MAX;
}

enum status jpeg_blocks_check(const struct jpeg_reader *reader, const char *use) {
    const struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    struct error *err = reader->guard->err;
    bool gray = cinfo->jpeg_color_space == JCS_GRAYSCALE;
    if (cinfo->arith_code || !(gray || cinfo->jpeg_color_space == JCS_YCbCr)) {
        return fail(err, ST_UNSUPPORTED, "only Huffman-coded grey and YCbCr JPEGs can be %s", use);
    }
    if (!jpeg_planes_fit(cinfo, &(struct image_shape){0}) || !mcu_fits(cinfo)) {
        return fail(err, ST_UNSUPPORTED, "a JPEG of this subsampling cannot be %s", use);
    }
    enum status status = jpeg_blocks_check_tables(reader, use);
    return status == ST_OK ? jpeg_reader_check_memory(reader) : status;
}
