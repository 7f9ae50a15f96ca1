/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/baseline/jpeg_enc_scan.h"

#include <endian.h>
#include <string.h>

#include "core/deadline.h"
#include "core/numbers.h"

enum { KEPT_STEP = 1 << 16 /* tokens written between looks at the clock */ };

void jpeg_enc_scan_set(struct jpeg_enc_scan *scan) {
    const struct image *image = scan->image;
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    uint32_t first = 0;
    for (unsigned i = 0; i < image->plane_count; i++) {
        const struct plane *plane = &image->plane[i];
        struct jpeg_enc_component *component = &scan->component[i];
        *component = (struct jpeg_enc_component){.plane = plane,
                                                 .blocks_x = divide_up(plane->width, JPEG_SIDE),
                                                 .blocks_y = divide_up(plane->height, JPEG_SIDE),
                                                 .h = i > 0 ? 1 : 1u << reduced->shift_x,
                                                 .v = i > 0 ? 1 : 1u << reduced->shift_y,
                                                 .first = first,
                                                 .quantiser = &scan->quantiser[i > 0]};
        first += component->h * component->v * JPEG_ENC_MCUS;
    }
    scan->lines = JPEG_SIDE * scan->component[0].v;
    scan->mcus = divide_up(image->width, JPEG_SIDE * scan->component[0].h);
    scan->mcu_rows = divide_up(image->height, scan->lines);
}

void jpeg_enc_coder_set(struct jpeg_enc_coder *coder, const struct jpeg_enc_scan *scan) {
    struct jpeg_enc_piece *piece = &coder->piece;
    jpeg_enc_order_set(&piece->order);
    piece->unit_count = 0;
    for (unsigned i = 0; i < scan->image->plane_count; i++) {
        const struct jpeg_enc_component *component = &scan->component[i];
        coder->last_dc[i] = 0;
        for (uint32_t block = 0; block < component->h * component->v; block++) {
            uint32_t x = block % component->h, y = block / component->h;
            piece->unit[piece->unit_count++] =
                (struct jpeg_enc_unit){.last_dc = &coder->last_dc[i],
                                       .table = i > 0 ? 2 : 0,
                                       .first = component->first + y * component->h * JPEG_ENC_MCUS + x,
                                       .step = component->h};
        }
    }
}

/* Extends the last column, and below the picture the last row, to whole blocks in a row of blocks, so that
 * old contents of the padding neither cost bits nor ring into the picture. */
static void fill_padding(const struct plane *plane, uint32_t first) {
    size_t width = bytes_align_up(plane->width, JPEG_SIDE);
    for (uint32_t y = first; y < first + JPEG_SIDE; y++) {
        uint8_t *row = plane_row(plane, y);
        if (y < plane->height) {
            memset(row + plane->width, row[plane->width - 1], width - plane->width);
        } else {
            memcpy(row, plane_row(plane, plane->height - 1), width);
        }
    }
}

void jpeg_enc_scan_fill(const struct jpeg_enc_scan *scan, uint32_t mcu_row) {
    if (scan->blocks) {
        return;
    }
    if (scan->colours) {
        jpeg_enc_colours_fill(scan->colours, scan->level, mcu_row);
        return;
    }
    for (unsigned i = 0; i < scan->image->plane_count; i++) {
        const struct jpeg_enc_component *component = &scan->component[i];
        for (uint32_t y = mcu_row * component->v; y < (mcu_row + 1) * component->v; y++) {
            if (y < component->blocks_y) {
                fill_padding(component->plane, y * JPEG_SIDE);
            }
        }
    }
}

/* Which coefficients of a block that lies row by row are not 0, in the order of the scan. */
static uint64_t filled_of(const struct jpeg_enc_order *order, const int16_t *block) {
    const uint64_t gather = 0x0102040810204080; /* the lowest bits of eight bytes, to the highest byte */
    uint8_t some[JPEG_COEFFICIENTS];
    uint64_t filled = 0, row;
    for (unsigned k = 0; k < JPEG_COEFFICIENTS; k++) {
        some[k] = block[k] != 0;
    }
    for (unsigned y = 0; y < JPEG_SIDE; y++) {
        memcpy(&row, some + (size_t)y * JPEG_SIDE, sizeof row);
        filled |= order->row[y][le64toh(row) * gather >> 56];
    }
    return filled;
}

/* What transform() does, for blocks that are there. */
static void take_blocks(const struct jpeg_enc_scan *scan, const int16_t (*from)[JPEG_COEFFICIENTS],
                        uint32_t count, struct jpeg_enc_piece *piece, uint32_t to) {
    for (uint32_t i = 0; i < count; i++) {
        int16_t *block = piece->blocks.value[to + i];
        for (unsigned k = 0; k < JPEG_COEFFICIENTS && scan->level->sorts; k++) {
            block[k] = from[i][jpeg_zigzag[k]];
        }
        if (!scan->level->sorts) {
            memcpy(block, from[i], sizeof from[i]);
        }
        piece->blocks.filled[to + i] = filled_of(&piece->order, from[i]);
    }
}

/* Transforms the blocks of a component, and sets which of them are real. */
static void transform_component(const struct jpeg_enc_scan *scan, struct jpeg_enc_piece *piece,
                                const struct jpeg_enc_component *component, struct jpeg_enc_unit *unit,
                                uint32_t mcu_row, uint32_t mcu) {
    uint32_t x = mcu * component->h, most = JPEG_ENC_MCUS * component->h;
    uint32_t left = x < component->blocks_x ? component->blocks_x - x : 0, count = left < most ? left : most;
    for (uint32_t i = 0; i < component->v; i++) {
        uint32_t y = mcu_row * component->v + i;
        bool inside = y < component->blocks_y;
        if (inside && count > 0 && scan->blocks) {
            const int16_t(*from)[JPEG_COEFFICIENTS] = scan->blocks->row[component - scan->component][y] + x;
            take_blocks(scan, from, count, piece, component->first + i * most);
        } else if (inside && count > 0) {
            uint32_t row = scan->colours ? i : y;
            const uint8_t *from = plane_row(component->plane, row * JPEG_SIDE) + (size_t)x * JPEG_SIDE;
            scan->level->transform(from, component->plane->stride, component->quantiser, count, piece,
                                   component->first + i * most);
        }
        for (uint32_t k = 0; k < component->h; k++, unit++) {
            unit->real = inside && count > k ? (count - k - 1) / component->h + 1 : 0;
        }
    }
}

/* Finds the tokens of up to JPEG_ENC_MCUS MCUs. */
static uint32_t *find_piece(const struct jpeg_enc_scan *scan, struct jpeg_enc_coder *coder, uint32_t mcu_row,
                            uint32_t mcu, uint32_t *to) {
    struct jpeg_enc_unit *unit = coder->piece.unit;
    uint32_t left = scan->mcus - mcu;
    for (unsigned i = 0; i < scan->image->plane_count; i++) {
        const struct jpeg_enc_component *component = &scan->component[i];
        transform_component(scan, &coder->piece, component, unit, mcu_row, mcu);
        unit += component->h * component->v;
    }
    return scan->level->find(&coder->piece, left < JPEG_ENC_MCUS ? left : JPEG_ENC_MCUS, to);
}

void jpeg_enc_coder_pass(struct jpeg_enc_coder *coder, const struct jpeg_enc_scan *scan, uint32_t mcu_row) {
    find_piece(scan, coder, mcu_row, (scan->mcus - 1) / JPEG_ENC_MCUS * JPEG_ENC_MCUS, coder->token);
}

void jpeg_enc_part_init(struct jpeg_enc_part *part, uint32_t from, uint32_t to, size_t most,
                        const struct jpeg_enc_coder *coder) {
    *part = (struct jpeg_enc_part){.from = from, .to = to, .next = from, .kept_to = from, .keeps = most > 0};
    buf_init(&part->kept, most);
    memcpy(part->kept_dc, coder->last_dc, sizeof part->kept_dc);
}

void jpeg_enc_part_finish(struct jpeg_enc_part *part) {
    buf_finish(&part->kept);
}

static enum status write_tokens(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                                struct jpeg_enc_coder *coder, const uint32_t *token, size_t count,
                                struct buf *output, struct error *err) {
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i += JPEG_ENC_WRITE_TOKENS) {
        size_t some = count - i < JPEG_ENC_WRITE_TOKENS ? count - i : JPEG_ENC_WRITE_TOKENS;
        const uint8_t *end = scan->level->write(token + i, some, scan->code, &part->bits, coder->bytes);
        status = buf_append(output, coder->bytes, (size_t)(end - coder->bytes), err);
    }
    return status;
}

enum status jpeg_enc_part_write_row(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                                    struct jpeg_enc_coder *coder, uint32_t mcu_row, struct buf *output,
                                    struct error *err) {
    enum status status = deadline_check(scan->options->deadline_ns, err);
    if (!scan->padded) {
        jpeg_enc_scan_fill(scan, mcu_row);
    }
    for (uint32_t mcu = 0; mcu < scan->mcus && status == ST_OK; mcu += JPEG_ENC_MCUS) {
        const uint32_t *end = find_piece(scan, coder, mcu_row, mcu, coder->token);
        status = write_tokens(part, scan, coder, coder->token, (size_t)(end - coder->token), output, err);
    }
    return status;
}

static void count_tokens(struct jpeg_enc_part *part, const uint32_t *token, size_t count) {
    for (size_t i = 0; i + 1 < count; i += 2) {
        part->count[0][token[i] % JPEG_ENC_INDICES]++;
        part->count[1][token[i + 1] % JPEG_ENC_INDICES]++;
    }
    if (count % 2) {
        part->count[0][token[count - 1] % JPEG_ENC_INDICES]++;
    }
}

void jpeg_enc_part_count(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                         struct jpeg_enc_coder *coder) {
    struct buf *kept = &part->kept;
    size_t before = kept->size;
    if (!scan->padded) {
        jpeg_enc_scan_fill(scan, part->next);
    }
    for (uint32_t mcu = 0; mcu < scan->mcus; mcu += JPEG_ENC_MCUS) {
        part->keeps = part->keeps && buf_reserve(kept, JPEG_ENC_PIECE_BYTES, NULL) == ST_OK;
        uint32_t *to = part->keeps ? (uint32_t *)(void *)(kept->data + kept->size) : coder->token;
        size_t count = (size_t)(find_piece(scan, coder, part->next, mcu, to) - to);
        count_tokens(part, to, count);
        kept->size += part->keeps ? count * sizeof *to : 0;
    }
    bool whole = part->keeps;
    if (!whole && part->kept_to == part->next) {
        kept->size = before;
    }
    part->next++;
    if (whole) {
        part->kept_to = part->next;
        memcpy(part->kept_dc, coder->last_dc, sizeof part->kept_dc);
    }
}

enum status jpeg_enc_part_write(struct jpeg_enc_part *part, const struct jpeg_enc_scan *scan,
                                struct jpeg_enc_coder *coder, struct buf *output, struct error *err) {
    const uint32_t *token = (const uint32_t *)(const void *)part->kept.data;
    size_t count = part->kept.size / sizeof *token;
    enum status status = ST_OK;
    for (size_t i = 0; i < count && status == ST_OK; i += KEPT_STEP) {
        size_t some = count - i < KEPT_STEP ? count - i : KEPT_STEP;
        status = deadline_check(scan->options->deadline_ns, err);
        status = status == ST_OK ? write_tokens(part, scan, coder, token + i, some, output, err) : status;
    }
    memcpy(coder->last_dc, part->kept_dc, sizeof part->kept_dc);
    for (uint32_t row = part->kept_to; row < part->to && status == ST_OK; row++) {
        status = jpeg_enc_part_write_row(part, scan, coder, row, output, err);
    }
    return status;
}
