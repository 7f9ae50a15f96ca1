/* SPDX-License-Identifier: MIT
 * The own reader of the coefficients of JPEGs with several scans against libjpeg-turbo: the same values, or
 * it refuses. What it reads is complete: libjpeg-turbo has no blocks to smooth. */
#include "codecs/jpeg/jpeg_coefficients.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_reader.h"
#include "core/processor.h"
#include "tests/fuzz/common/fuzz.h"

/* Whether libjpeg-turbo has the same values in a row of blocks. */
static bool same_row(const struct coefficients_layout *layout, const uint8_t *memory, unsigned plane,
                     uint32_t y, JBLOCKROW row, uint32_t width) {
    const int16_t *values = (const int16_t *)(const void *)(memory + sizeof(struct coefficients_head));
    uint32_t h = plane ? 1 : layout->h, v = plane ? 1 : layout->v,
             first = plane ? (uint32_t)layout->h * layout->v + plane - 1 : 0;
    bool same = true;
    for (uint32_t x = 0; x < width; x++) {
        size_t number =
            ((size_t)(y / v) * layout->mcus_x + x / h) * layout->in_mcu + first + y % v * h + x % h;
        for (unsigned k = 0; k < COEFFICIENTS_BLOCK; k++) {
            same = same && values[number * COEFFICIENTS_BLOCK + k % 8 * 8 + k / 8] == row[x][k];
        }
    }
    return same;
}

static bool same_values(struct jpeg_reader *reader, jvirt_barray_ptr *arrays,
                        const struct coefficients_layout *layout, const uint8_t *memory) {
    struct jpeg_decompress_struct *cinfo = &reader->cinfo;
    const struct coefficients_head *head = (const struct coefficients_head *)(const void *)memory;
    bool same = cinfo->num_components == layout->planes;
    for (unsigned i = 0; i < layout->planes && same; i++) {
        const jpeg_component_info *component = &cinfo->comp_info[i];
        same = memcmp(head->quantiser[i], component->quant_table->quantval, sizeof head->quantiser[i]) == 0;
        for (uint32_t y = 0; y < component->height_in_blocks && same; y++) {
            JBLOCKARRAY rows = cinfo->mem->access_virt_barray((j_common_ptr)cinfo, arrays[i], y, 1, FALSE);
            same = same_row(layout, memory, i, y, rows[0], component->width_in_blocks);
        }
    }
    return same;
}

static bool is_complete(const struct jpeg_decompress_struct *cinfo) {
    bool complete = true;
    for (int i = 0; i < cinfo->num_components && cinfo->progressive_mode; i++) {
        for (int k = 0; k < DCTSIZE2; k++) {
            complete = complete && cinfo->coef_bits[i][k] == 0;
        }
    }
    return complete;
}

static void compare(struct bytes input, const struct codec_limits *limits,
                    const struct coefficients_layout *layout, const uint8_t *memory) {
    struct jpeg_guard guard;
    struct jpeg_reader reader;
    struct error err = {0};
    jpeg_guard_init(&guard, ST_CORRUPT, &err);
    jpeg_reader_init(&reader, &guard, limits);
    if (setjmp(guard.jump)) {
        fuzz_require(false, err.text);
    }
    jpeg_reader_open(&reader, input);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&reader.cinfo);
    fuzz_require(is_complete(&reader.cinfo), "no coefficient lacks a bit");
    fuzz_require(same_values(&reader, arrays, layout, memory), "the values are the same");
    jpeg_destroy_decompress(&reader.cinfo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct codec_limits limits = fuzz_limits();
    struct coefficients_layout layout;
    struct picture picture;
    struct error err = {0};
    if (codec_sniff(input) != codec_get(CODEC_JPEG) || codec_probe(input, &limits, &picture, &err) != ST_OK) {
        return 0;
    }
    if (coefficients_lay_out(&picture.native, &layout)) {
        size_t room = bytes_align_up(jpeg_coefficients_bytes(&layout), IMAGE_ALIGNMENT);
        uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, room);
        fuzz_require(memory, "there is memory for coefficients");
        for (int quick = 0; quick <= processor_extracts_bits(); quick++) {
            memset(memory, 0x5A, room);
            const struct jpeg_coefficients_way way = {.quick = quick};
            if (jpeg_coefficients_read_by(&way, input, &limits, &picture.native, memory, &err) == ST_OK) {
                compare(input, &limits, &layout, memory);
            }
        }
        free(memory);
    }
    codec_picture_finish(&picture);
    return 0;
}
