/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/encode_head.h"

#include "core/jpeg/segments.h"

_Static_assert((int)KERNEL_ENCODE_COEFFICIENTS == (int)JPEG_COEFFICIENTS &&
                   (int)KERNEL_ENCODE_TABLES == (int)JPEG_QUANTISERS &&
                   (int)KERNEL_ENCODE_CODE_BITS == (int)JPEG_CODE_LENGTHS &&
                   (int)KERNEL_ENCODE_HEAD >= JPEG_WRITE_FILE + JPEG_WRITE_FRAME + JPEG_WRITE_SCAN,
               "core/jpeg/segments.h and the kernels have other shapes");

void gpu_encode_head_standard(struct encode_tables *tables) {
    uint8_t *to = tables->segments;
    for (unsigned table = 0; table < KERNEL_ENCODE_TABLES; table++) {
        const struct jpeg_huffman *dc = jpeg_huffman_standard(2 * table),
                                  *ac = jpeg_huffman_standard(2 * table + 1);
        jpeg_huffman_number(dc, tables->dc[table], KERNEL_ENCODE_SIZES);
        jpeg_huffman_number(ac, tables->ac[table], JPEG_SYMBOLS);
        to = jpeg_write_codes(jpeg_write_codes(to, dc), ac);
        tables->end[table] = (uint32_t)(to - tables->segments);
    }
}

void gpu_encode_head(const struct image *image, struct encode_pass *pass) {
    jpeg_zigzag_places(pass->place);
    uint8_t *to = jpeg_write_file(pass->head, 0, 1, 1);
    to = jpeg_write_frame(to, image, (const uint16_t(*)[KERNEL_ENCODE_COEFFICIENTS])pass->quantiser);
    pass->frame_size = (uint32_t)(to - pass->head);
    pass->head_size = (uint32_t)(jpeg_write_scan(to, image) - pass->head);
}
