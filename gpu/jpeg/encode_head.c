/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/encode_head.h"

#include "core/jpeg_head.h"

_Static_assert((int)KERNEL_ENCODE_COEFFICIENTS == (int)JPEG_COEFFICIENTS &&
                   (int)KERNEL_ENCODE_TABLES == (int)JPEG_STEP_TABLES &&
                   (int)KERNEL_ENCODE_CODE_BITS == (int)JPEG_CODE_LENGTHS,
               "core/jpeg_head.h and the kernels have other shapes");

static unsigned tables_of(unsigned planes) {
    return planes > 1 ? JPEG_CODE_TABLES : JPEG_CODE_TABLES / 2;
}

void gpu_encode_head_standard(struct jpeg_codes *codes) {
    for (unsigned table = 0; table < JPEG_CODE_TABLES; table++) {
        codes[table] = *jpeg_codes_standard(table);
    }
}

/* Whether jpeg_codes_optimal takes these counts, some of which are not 0 and whose sum has less than 64 bits,
 * and KERNEL_ENCODE_HEAD has room for their symbols. */
static bool may_be_counts(unsigned table, const uint64_t *count) {
    uint64_t any = 0;
    unsigned symbols = 0;
    for (unsigned i = 0; i < JPEG_SYMBOLS; i++) {
        any |= count[i];
        symbols += count[i] > 0;
    }
    return any > 0 && any < UINT64_MAX / 2 / JPEG_SYMBOLS &&
           symbols <= jpeg_codes_size(jpeg_codes_standard(table));
}

enum status gpu_encode_head_optimal(const struct encode_counts *counts, unsigned planes,
                                    struct jpeg_codes *codes, struct error *err) {
    for (unsigned table = 0; table < tables_of(planes); table++) {
        if (!may_be_counts(table, counts->of[table])) {
            return fail(err, ST_DEVICE, "the GPU counts the symbols of a JPEG wrongly");
        }
        jpeg_codes_optimal(table, counts->of[table], &codes[table]);
    }
    return ST_OK;
}

void gpu_encode_head_codes(const struct jpeg_codes *codes, unsigned planes, struct encode_tables *tables) {
    for (unsigned table = 0; table < tables_of(planes) / 2; table++) {
        jpeg_codes_number(&codes[2 * table], tables->dc[table], KERNEL_ENCODE_SIZES);
        jpeg_codes_number(&codes[2 * table + 1], tables->ac[table], JPEG_SYMBOLS);
    }
}

void gpu_encode_head(const struct image *image, const struct jpeg_codes *codes, struct encode_pass *pass) {
    jpeg_head_places(pass->place);
    uint8_t *to = jpeg_head_put_file(pass->head, 0, 1, 1);
    to = jpeg_head_put_frame(to, image, (const uint16_t(*)[KERNEL_ENCODE_COEFFICIENTS])pass->quantiser);
    for (unsigned table = 0; table < tables_of(image->plane_count); table++) {
        to = jpeg_head_put_codes(to, &codes[table]);
    }
    pass->head_size = (uint32_t)(jpeg_head_put_scan(to, image) - pass->head);
}
