/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/coefficients_header.h"

#include <string.h>

enum { SIDE = COEFFICIENTS_SIDE, STEPS = COEFFICIENTS_BLOCK };

/* Stores the steps, which the decoder reads column by column. */
static enum status take_steps(const struct coefficients_head *head, unsigned planes,
                              struct decode_tables *decode, struct error *err) {
    memset(decode, 0, sizeof *decode);
    for (unsigned i = 0; i < planes; i++) {
        for (unsigned k = 0; k < STEPS; k++) {
            if (head->quantiser[i][k] == 0) {
                return fail(err, ST_UNSUPPORTED, "a step of quantisation is 0");
            }
            decode->steps[i][k % SIDE * SIDE + k / SIDE] = head->quantiser[i][k];
        }
    }
    return ST_OK;
}

/* Whether a file can have these steps in a table for luma and one for chroma. */
static bool is_plain(const struct coefficients_head *head, unsigned planes) {
    bool plain =
        planes == 1 || memcmp(head->quantiser[1], head->quantiser[2], sizeof head->quantiser[1]) == 0;
    for (unsigned i = 0; i < planes; i++) {
        for (unsigned k = 0; k < STEPS; k++) {
            plain = plain && head->quantiser[i][k] <= UINT8_MAX;
        }
    }
    return plain;
}

/* Grey pictures have no steps for chroma. */
static void copy_quantisers(const struct coefficients_head *head, unsigned planes,
                            struct jpeg_header *header) {
    for (unsigned table = 0; table < JPEG_QUANTISERS; table++) {
        for (unsigned k = 0; k < STEPS; k++) {
            header->quantiser[table][k] = table == 0 || planes > 1 ? head->quantiser[table][k] : 1;
        }
    }
}

enum status coefficients_header_parse(struct bytes input, const struct image_shape *shape,
                                      struct jpeg_header *header, struct scan_tables *tables,
                                      struct error *err) {
    struct coefficients_layout layout;
    struct coefficients_head head;
    if (!coefficients_lay_out(shape, &layout) || input.size != coefficients_size(&layout)) {
        return fail(err, ST_UNSUPPORTED, "the coefficients are not those of the picture");
    }
    bytes_fetch(&head, input.data, sizeof head);
    *header = (struct jpeg_header){.shape = *shape, .plain = is_plain(&head, layout.planes)};
    for (unsigned i = 0; i < layout.planes; i++) {
        header->h[i] = i > 0 ? 1 : layout.h;
        header->v[i] = i > 0 ? 1 : layout.v;
    }
    copy_quantisers(&head, layout.planes, header);
    memset(&tables->sync, 0, sizeof tables->sync);
    tables->sync.blocks = layout.blocks;
    tables->sync.verdict = SYNC_INTACT;
    return take_steps(&head, layout.planes, &tables->decode, err);
}
