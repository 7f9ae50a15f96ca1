/* SPDX-License-Identifier: MIT
 * Two libjpeg objects under one guard: the source owns the arrays of its coefficients and those of the
 * target, which writes the latter. */
#include "codecs/jpeg/jpeg_turn.h"

#include <inttypes.h>
#include <string.h>

#include "codecs/jpeg/jpeg_blocks.h"
#include "codecs/jpeg/jpeg_writer.h"
#include "core/deadline.h"
#include "core/numbers.h"
#include "core/orient.h"

struct turning {
    struct jpeg_guard guard;
    struct jpeg_reader source;
    struct jpeg_writer target;
    const struct jpeg_turn *turn;
    struct orient_turn how;
    jvirt_barray_ptr *from; /* an array a component */
    jvirt_barray_ptr to[MAX_COMPONENTS];
};

void jpeg_turn_crop(struct jpeg_turn *turn, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    const struct orient_turn how = orient_turn(turn->orientation);
    uint32_t left = how.transpose ? y : x, top = how.transpose ? x : y;
    uint32_t wide = how.transpose ? height : width, high = how.transpose ? width : height;
    turn->x += how.mirror_x ? turn->width - left - wide : left;
    turn->y += how.mirror_y ? turn->height - top - high : top;
    turn->width = wide;
    turn->height = high;
}

/* An edge of the stored picture that becomes the left or the top one. */
static enum status check_edge(const char *name, uint32_t at, uint32_t grid, const struct image_shape *native,
                              struct error *err) {
    return at % grid == 0 ? ST_OK
                          : fail(err, ST_UNSUPPORTED,
                                 "the %s edge of the part lies at %" PRIu32 " of the file's %" PRIu32
                                 " x %" PRIu32 " pixels and cuts blocks; it must be a multiple of %" PRIu32,
                                 name, at, native->width, native->height, grid);
}

enum status jpeg_turn_check(const struct image_shape *native, const struct jpeg_turn *turn,
                            struct error *err) {
    const struct orient_turn how = orient_turn(turn->orientation);
    if (native->model != PIXEL_GRAY && native->model != PIXEL_YCBCR) {
        return fail(err, ST_UNSUPPORTED,
                    "the blocks of a JPEG of these colours or this sampling stay where they are");
    }
    bool planar = native->model == PIXEL_YCBCR;
    uint32_t wide = (uint32_t)DCTSIZE << (planar ? native->chroma_shift_x : 0);
    uint32_t high = (uint32_t)DCTSIZE << (planar ? native->chroma_shift_y : 0);
    uint32_t x = how.mirror_x ? turn->x + turn->width : turn->x;
    uint32_t y = how.mirror_y ? turn->y + turn->height : turn->y;
    enum status status = check_edge(how.mirror_x ? "right" : "left", x, wide, native, err);
    return status == ST_OK ? check_edge(how.mirror_y ? "bottom" : "top", y, high, native, err) : status;
}

/* A component of the target. */
struct turn_part {
    int factor_x, factor_y, max_x, max_y; /* sampling factors */
    JDIMENSION columns, rows;             /* blocks that hold pixels */
};

static struct turn_part part_of(const struct turning *turning, int index) {
    const struct jpeg_decompress_struct *cinfo = &turning->source.cinfo;
    const jpeg_component_info *component = &cinfo->comp_info[index];
    bool transpose = turning->how.transpose;
    struct turn_part part = {
        .factor_x = transpose ? component->v_samp_factor : component->h_samp_factor,
        .factor_y = transpose ? component->h_samp_factor : component->v_samp_factor,
        .max_x = transpose ? cinfo->max_v_samp_factor : cinfo->max_h_samp_factor,
        .max_y = transpose ? cinfo->max_h_samp_factor : cinfo->max_v_samp_factor,
    };
    uint32_t width = transpose ? turning->turn->height : turning->turn->width;
    uint32_t height = transpose ? turning->turn->width : turning->turn->height;
    part.columns = divide_up((uint64_t)width * (uint64_t)part.factor_x, (uint64_t)part.max_x * DCTSIZE);
    part.rows = divide_up((uint64_t)height * (uint64_t)part.factor_y, (uint64_t)part.max_y * DCTSIZE);
    return part;
}

/* Guarded, before the source's arrays get their memory. */
static void request_arrays(struct turning *turning) {
    struct jpeg_decompress_struct *cinfo = &turning->source.cinfo;
    for (int i = 0; i < cinfo->num_components; i++) {
        struct turn_part part = part_of(turning, i);
        JDIMENSION x = (JDIMENSION)part.factor_x, y = (JDIMENSION)part.factor_y;
        turning->to[i] =
            cinfo->mem->request_virt_barray((j_common_ptr)cinfo, JPOOL_IMAGE, TRUE,
                                            divide_up(part.columns, x) * x, divide_up(part.rows, y) * y, y);
    }
}

/* Odd frequencies of a mirrored axis change their sign. */
static void turn_block(JCOEFPTR to, const JCOEF *from, struct orient_turn how) {
    for (unsigned v = 0; v < DCTSIZE; v++) {
        for (unsigned u = 0; u < DCTSIZE; u++) {
            bool negative = (how.mirror_x && u % 2) != (how.mirror_y && v % 2);
            JCOEF value = from[v * DCTSIZE + u];
            to[how.transpose ? u * DCTSIZE + v : v * DCTSIZE + u] = negative ? (JCOEF)-value : value;
        }
    }
}

/* Where along an axis of the source block `at` of the target comes from; `begin` and `size` are those of the
 * part in pixels, `scale` is the size of a block in pixels. */
static JDIMENSION source_block(JDIMENSION at, uint32_t begin, uint32_t size, uint32_t scale, bool mirror) {
    return mirror ? (begin + size) / scale - 1 - at : begin / scale + at;
}

/* Guarded. */
static void turn_row(struct turning *turning, int index, const struct turn_part *part, JDIMENSION row) {
    j_common_ptr common = (j_common_ptr)&turning->source.cinfo;
    struct jpeg_memory_mgr *memory = turning->source.cinfo.mem;
    const struct jpeg_turn *turn = turning->turn;
    const struct orient_turn how = turning->how;
    uint32_t across = (uint32_t)(part->max_x / part->factor_x) * DCTSIZE;
    uint32_t down = (uint32_t)(part->max_y / part->factor_y) * DCTSIZE;
    JBLOCKROW to = memory->access_virt_barray(common, turning->to[index], row, 1, TRUE)[0];
    for (JDIMENSION column = 0; column < part->columns; column++) {
        JDIMENSION x = how.transpose ? source_block(row, turn->x, turn->width, down, how.mirror_x)
                                     : source_block(column, turn->x, turn->width, across, how.mirror_x);
        JDIMENSION y = how.transpose ? source_block(column, turn->y, turn->height, across, how.mirror_y)
                                     : source_block(row, turn->y, turn->height, down, how.mirror_y);
        JBLOCKROW from = memory->access_virt_barray(common, turning->from[index], y, 1, FALSE)[0];
        turn_block(to[column], from[x], how);
    }
}

/* Guarded. */
static enum status turn_blocks(struct turning *turning) {
    const struct jpeg_reader *source = &turning->source;
    enum status status = ST_OK;
    for (int i = 0; i < source->cinfo.num_components; i++) {
        struct turn_part part = part_of(turning, i);
        for (JDIMENSION row = 0; row < part.rows && status == ST_OK; row++) {
            status = deadline_check(source->limits->deadline_ns, turning->guard.err);
            if (status == ST_OK) {
                turn_row(turning, i, &part, row);
            }
        }
    }
    return status;
}

static void transpose_table(JQUANT_TBL *table) {
    for (unsigned v = 0; v < DCTSIZE; v++) {
        for (unsigned u = 0; u < v; u++) {
            UINT16 step = table->quantval[v * DCTSIZE + u];
            table->quantval[v * DCTSIZE + u] = table->quantval[u * DCTSIZE + v];
            table->quantval[u * DCTSIZE + v] = step;
        }
    }
}

/* Guarded. The target's parameters, for a picture of the part's size. */
static void set_target(struct turning *turning) {
    struct jpeg_compress_struct *cinfo = &turning->target.cinfo;
    bool transpose = turning->how.transpose;
    jpeg_copy_critical_parameters(&turning->source.cinfo, cinfo);
    cinfo->image_width = transpose ? turning->turn->height : turning->turn->width;
    cinfo->image_height = transpose ? turning->turn->width : turning->turn->height;
    for (int i = 0; i < cinfo->num_components; i++) {
        struct turn_part part = part_of(turning, i);
        cinfo->comp_info[i].h_samp_factor = part.factor_x;
        cinfo->comp_info[i].v_samp_factor = part.factor_y;
    }
    for (int i = 0; i < NUM_QUANT_TBLS && transpose; i++) {
        if (cinfo->quant_tbl_ptrs[i]) {
            transpose_table(cinfo->quant_tbl_ptrs[i]);
        }
    }
}

/* Guarded. The Huffman tables are computed, as the standard ones lack codes that the input may need. */
static void write_target(struct turning *turning) {
    struct jpeg_compress_struct *cinfo = &turning->target.cinfo;
    jpeg_writer_open(&turning->target);
    set_target(turning);
    jpeg_writer_set_density(&turning->target);
    cinfo->optimize_coding = TRUE;
    if (turning->target.options->progressive) {
        jpeg_simple_progression(cinfo);
    }
    jpeg_write_coefficients(cinfo, turning->to);
    jpeg_writer_put_metadata(&turning->target);
    jpeg_finish_compress(cinfo);
}

static enum status turn_guarded(struct turning *turning, struct bytes input) {
    struct jpeg_reader *source = &turning->source;
    jpeg_reader_open(source, input);
    enum status status = jpeg_blocks_check(source, "turned");
    if (status != ST_OK) {
        return status;
    }
    request_arrays(turning);
    turning->from = jpeg_read_coefficients(&source->cinfo);
    status = jpeg_has_multiple_scans(&source->cinfo) ? jpeg_reader_check_scans(source) : ST_OK;
    status = status == ST_OK ? jpeg_blocks_check_tables(source, "turned") : status;
    if (status != ST_OK) {
        return status;
    }
    turning->guard.otherwise = ST_INTERNAL; /* failures from here on are bugs */
    status = turn_blocks(turning);
    if (status == ST_OK) {
        write_target(turning);
    }
    return status;
}

static void destroy(struct turning *turning) {
    jpeg_destroy_compress(&turning->target.cinfo);
    jpeg_destroy_decompress(&turning->source.cinfo);
}

static enum status run(struct turning *turning, struct bytes input) {
    if (setjmp(turning->guard.jump)) {
        destroy(turning);
        return turning->guard.status;
    }
    enum status status = turn_guarded(turning, input);
    destroy(turning);
    return status;
}

enum status jpeg_turn(struct bytes input, const struct codec_limits *limits, const struct jpeg_turn *turn,
                      const struct image_shape *shape, const struct encode_options *options,
                      const struct metadata *metadata, struct buf *output, struct error *err) {
    struct turning turning = {.turn = turn, .how = orient_turn(turn->orientation)};
    jpeg_guard_init(&turning.guard, ST_CORRUPT, err);
    jpeg_reader_init(&turning.source, &turning.guard, limits);
    jpeg_writer_init(&turning.target, &turning.guard, options, output);
    enum status status = jpeg_writer_take_metadata(&turning.target, metadata, shape);
    if (status == ST_OK) {
        status = run(&turning, input);
    }
    jpeg_writer_finish(&turning.target);
    return status;
}
