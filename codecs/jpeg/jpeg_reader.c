/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_reader.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "core/deadline.h"

static void ignore_decompress(j_decompress_ptr cinfo) {
    (void)cinfo;
}

/* Called at the end of the input. A single Huffman-coded scan may lack its EOI marker: it is supplied
 * here, and the entropy decoder itself complains when it needs more bits. With several scans, or
 * arithmetic coding, which silently pads with zeros, only this check notices missing data. */
static void end_data(j_decompress_ptr cinfo) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    struct jpeg_reader *reader = cinfo->client_data;
    if (reader->end_required) {
        jpeg_guard_leave(
            (j_common_ptr)cinfo,
            fail(reader->guard->err, ST_CORRUPT, "JPEG data is cut short: it ends before the picture does"));
    }
    reader->rest.size = 0;
    cinfo->src->next_input_byte = end;
    cinfo->src->bytes_in_buffer = sizeof(end);
}

/* Supplies a small piece of the input at a time. With 512 bytes for each block of an MCU, libjpeg takes a
 * path that is faster (3 to 5 % of decoding) but reads undefined codes as the end of a block. */
static boolean fill_buffer(j_decompress_ptr cinfo) {
    enum { PIECE = 256 };
    struct bytes *rest = &((struct jpeg_reader *)cinfo->client_data)->rest;
    if (rest->size == 0) {
        end_data(cinfo);
        return TRUE;
    }
    size_t size = rest->size < PIECE ? rest->size : PIECE;
    cinfo->src->next_input_byte = rest->data;
    cinfo->src->bytes_in_buffer = size;
    *rest = (struct bytes){rest->data + size, rest->size - size};
    return TRUE;
}

static void skip_data(j_decompress_ptr cinfo, long count) {
    struct jpeg_source_mgr *source = cinfo->src;
    struct bytes *rest = &((struct jpeg_reader *)cinfo->client_data)->rest;
    size_t left = count > 0 ? (size_t)count : 0;
    size_t here = left < source->bytes_in_buffer ? left : source->bytes_in_buffer;
    source->next_input_byte += here;
    source->bytes_in_buffer -= here;
    left -= here;
    if (left > rest->size) {
        end_data(cinfo);
        return;
    }
    *rest = (struct bytes){rest->data + left, rest->size - left};
}

/* Ends the data of a single scan behind its last row. libjpeg would read on, but surplus data may be damaged
 * without harm to the picture. */
static void end_behind_rows(struct jpeg_reader *reader) {
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    if (!reader->end_required && cinfo->input_iMCU_row >= cinfo->total_iMCU_rows) {
        cinfo->unread_marker = 0;
        end_data(cinfo);
    }
}

/* libjpeg calls this for each row of MCUs that it reads or writes. */
static void on_progress(j_common_ptr common) {
    struct jpeg_reader *reader = common->client_data;
    const struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    end_behind_rows(reader);
    if (cinfo->input_scan_number > 0 && (uint32_t)cinfo->input_scan_number > reader->limits->max_scans) {
        jpeg_guard_leave(common, fail(reader->guard->err, ST_LIMIT,
                                      "JPEG has more than %" PRIu32 " scans, which is the limit",
                                      reader->limits->max_scans));
    }
    for (int i = 0; i < cinfo->comps_in_scan; i++) {
        reader->components_seen |= 1u << cinfo->cur_comp_info[i]->component_index;
    }
    enum status status = deadline_check(reader->limits->deadline_ns, reader->guard->err);
    if (status != ST_OK) {
        jpeg_guard_leave(common, status);
    }
}

void jpeg_reader_init(struct jpeg_reader *reader, struct jpeg_guard *guard,
                      const struct codec_limits *limits) {
    memset(reader, 0, sizeof(*reader));
    reader->guard = guard;
    reader->limits = limits;
    reader->cinfo.err = &guard->manager;
}

void jpeg_reader_open(struct jpeg_reader *reader, struct bytes input) {
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    jpeg_create_decompress(cinfo);
    cinfo->client_data = reader;
    reader->source = (struct jpeg_source_mgr){
        .init_source = ignore_decompress,
        .fill_input_buffer = fill_buffer,
        .skip_input_data = skip_data,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = ignore_decompress,
    };
    cinfo->src = &reader->source;
    reader->rest = input;
    reader->progress.progress_monitor = on_progress;
    cinfo->progress = &reader->progress;
    uint64_t memory = reader->limits->max_memory;
    cinfo->mem->max_memory_to_use = memory < LONG_MAX ? (long)memory : LONG_MAX;
    reader->end_required = true;
    jpeg_read_header(cinfo, TRUE);
    reader->end_required = cinfo->arith_code || jpeg_has_multiple_scans(cinfo);
}

enum status jpeg_reader_check_scans(const struct jpeg_reader *reader) {
    if (reader->components_seen != (1u << reader->cinfo.num_components) - 1) {
        return fail(reader->guard->err, ST_CORRUPT, "JPEG is incomplete: a colour component has no scan");
    }
    for (int i = 0; i < reader->cinfo.num_components && reader->cinfo.progressive_mode; i++) {
        if (reader->cinfo.coef_bits[i][0] < 0) {
            return fail(reader->guard->err, ST_CORRUPT,
                        "JPEG is incomplete: a colour component has no DC scan");
        }
    }
    return ST_OK;
}

uint64_t jpeg_reader_blocks(const struct jpeg_reader *reader) {
    uint64_t blocks = 0;
    for (int i = 0; i < reader->cinfo.num_components; i++) {
        const jpeg_component_info *component = &reader->cinfo.comp_info[i];
        blocks += (uint64_t)component->width_in_blocks * component->height_in_blocks;
    }
    return blocks;
}

enum status jpeg_reader_check_memory(const struct jpeg_reader *reader) {
    uint64_t memory = jpeg_reader_blocks(reader) * sizeof(JBLOCK);
    if (memory > reader->limits->max_memory) {
        return fail(reader->guard->err, ST_LIMIT,
                    "the coefficients of the JPEG need %" PRIu64 " bytes; the memory limit is %" PRIu64,
                    memory, reader->limits->max_memory);
    }
    return ST_OK;
}

unsigned jpeg_shift_between(int full, int part) {
    return part == full ? 0 : part * 2 == full ? 1 : part * 4 == full ? 2 : 3;
}

bool jpeg_planes_fit(const struct jpeg_decompress_struct *cinfo, struct image_shape *shape) {
    const jpeg_component_info *c = cinfo->comp_info;
    int h = cinfo->max_h_samp_factor, v = cinfo->max_v_samp_factor;
    if (h == 3 || v == 3 || c[0].h_samp_factor != h || c[0].v_samp_factor != v) {
        return false;
    }
    if (cinfo->num_components == 1) {
        return true;
    }
    unsigned shift_x = jpeg_shift_between(h, c[1].h_samp_factor);
    unsigned shift_y = jpeg_shift_between(v, c[1].v_samp_factor);
    shape->chroma_shift_x = (uint8_t)shift_x;
    shape->chroma_shift_y = (uint8_t)shift_y;
    return c[2].h_samp_factor == c[1].h_samp_factor && c[2].v_samp_factor == c[1].v_samp_factor &&
           shift_x <= 2 && shift_y <= 2 && shift_x + shift_y <= 3;
}

bool jpeg_same_planes(const struct jpeg_decompress_struct *cinfo, const struct image *image) {
    struct image_shape planes;
    return cinfo->num_components == 3 && jpeg_planes_fit(cinfo, &planes) &&
           planes.chroma_shift_x == image->plane[1].shift_x &&
           planes.chroma_shift_y == image->plane[1].shift_y;
}
