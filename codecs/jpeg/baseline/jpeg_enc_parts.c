/* SPDX-License-Identifier: MIT
 * The counts of the parts and the lengths of the codes tell at which bit of a byte each part begins. A part
 * leaves the bits before its first one 0; they are set when the parts are joined. */
#include "codecs/jpeg/baseline/jpeg_enc_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/deadline.h"
#include "core/numbers.h"

enum { BYTES_SHARE = 2 /* memory for a part's tokens, to that for its bytes */ };

static unsigned count_for(uint32_t mcu_rows) {
    uint32_t most = mcu_rows / JPEG_ENC_PART_ROWS;
    return most < JPEG_ENC_PARTS_MAX ? most : JPEG_ENC_PARTS_MAX;
}

unsigned jpeg_enc_parts_seats(const struct jpeg_enc_scan *scan) {
    uint64_t samples = 0;
    for (unsigned i = 0; i < scan->image->plane_count; i++) {
        const struct plane *plane = &scan->image->plane[i];
        samples += (uint64_t)plane->width * plane->height;
    }
    unsigned parts = count_for(scan->mcu_rows);
    if (scan->colours || parts < 2) {
        return 1;
    }
    return min_u32(crew_seats(scan->options->crew, samples), min_u32(parts, JPEG_ENC_SEATS_MAX));
}

size_t jpeg_enc_parts_bytes(uint32_t mcu_rows, size_t kept) {
    unsigned parts = count_for(mcu_rows), seats = min_u32(parts, JPEG_ENC_SEATS_MAX);
    size_t part = sizeof(struct jpeg_enc_part) + sizeof(struct buf) + JPEG_ENC_PIECE_BYTES;
    return parts < 2 ? 0 : parts * part + seats * sizeof(struct jpeg_enc_coder) + kept / BYTES_SHARE;
}

enum status jpeg_enc_parts_init(struct jpeg_enc_parts *parts, struct jpeg_enc_scan *scan, unsigned seats,
                                size_t kept, struct error *err) {
    unsigned count = min_u32(count_for(scan->mcu_rows), seats * CREW_SEAT_PARTS);
    *parts = (struct jpeg_enc_parts){.scan = scan, .count = count, .seats = seats};
    parts->part = calloc(count, sizeof *parts->part);
    parts->bytes = calloc(count, sizeof *parts->bytes);
    parts->coder = aligned_alloc(64, seats * sizeof *parts->coder);
    if (!parts->part || !parts->bytes || !parts->coder) {
        return fail(err, ST_BUSY, "no memory to encode a JPEG");
    }
    for (unsigned i = 0; i < seats; i++) {
        jpeg_enc_coder_set(&parts->coder[i], scan);
    }
    for (uint32_t row = 0; row < scan->mcu_rows; row++) {
        jpeg_enc_scan_fill(scan, row);
    }
    scan->padded = true;
    for (unsigned i = 0; i < count; i++) {
        uint32_t from = (uint32_t)((uint64_t)scan->mcu_rows * i / count);
        uint32_t to = (uint32_t)((uint64_t)scan->mcu_rows * (i + 1) / count);
        jpeg_enc_part_init(&parts->part[i], from, to, kept / count + JPEG_ENC_PIECE_BYTES, parts->coder);
        buf_init(&parts->bytes[i], kept / count / BYTES_SHARE);
    }
    return ST_OK;
}

void jpeg_enc_parts_finish(struct jpeg_enc_parts *parts) {
    for (unsigned i = 0; i < parts->count; i++) {
        if (parts->part) {
            jpeg_enc_part_finish(&parts->part[i]);
        }
        if (parts->bytes) {
            buf_finish(&parts->bytes[i]);
        }
    }
    free(parts->part);
    free(parts->bytes);
    free(parts->coder);
}

static enum status run(struct jpeg_enc_parts *parts,
                       enum status (*part)(void *, unsigned, unsigned, struct error *), struct error *err) {
    const struct crew_work work = {
        .part = part, .context = parts, .parts = parts->count, .seats = parts->seats};
    return crew_run(parts->scan->options->crew, &work, err);
}

/* Only the place of the part in the scan decides where its first differences of DC begin. */
static enum status count_part(void *context, unsigned index, unsigned seat, struct error *err) {
    struct jpeg_enc_parts *parts = context;
    struct jpeg_enc_coder *coder = &parts->coder[seat];
    struct jpeg_enc_part *part = &parts->part[index];
    enum status status = ST_OK;
    memset(coder->last_dc, 0, sizeof coder->last_dc);
    if (part->from > 0) {
        jpeg_enc_coder_pass(coder, parts->scan, part->from - 1);
    }
    memcpy(part->kept_dc, coder->last_dc, sizeof part->kept_dc);
    while (part->next < part->to && status == ST_OK) {
        status = deadline_check(parts->scan->options->deadline_ns, err);
        jpeg_enc_part_count(part, parts->scan, coder);
    }
    return status;
}

enum status jpeg_enc_parts_count(struct jpeg_enc_parts *parts, uint64_t count[JPEG_ENC_INDICES],
                                 struct error *err) {
    enum status status = run(parts, count_part, err);
    for (unsigned i = 0; i < parts->count && status == ST_OK; i++) {
        uint64_t(*of_part)[JPEG_ENC_INDICES] = parts->part[i].count;
        for (unsigned index = 0; index < JPEG_ENC_INDICES; index++) {
            of_part[0][index] += of_part[1][index];
            count[index] += of_part[0][index];
        }
    }
    return status;
}

static uint64_t bits_of(const struct jpeg_enc_part *part, const uint64_t code[JPEG_ENC_INDICES]) {
    uint64_t bits = 0;
    for (unsigned index = 0; index < JPEG_ENC_INDICES; index++) {
        bits += part->count[0][index] * (code[index] % (1 << JPEG_ENC_CODE));
    }
    return bits;
}

/* Bytes that do not fit in the part's memory are dropped: join() makes them again. */
static enum status write_part(void *context, unsigned index, unsigned seat, struct error *err) {
    struct jpeg_enc_parts *parts = context;
    struct jpeg_enc_part *part = &parts->part[index];
    struct buf *bytes = &parts->bytes[index];
    struct jpeg_enc_bits start = part->bits;
    struct error full = {0};
    enum status status = deadline_check(parts->scan->options->deadline_ns, err);
    if (status == ST_OK && part->kept_to == part->to &&
        buf_reserve(bytes, bits_of(part, parts->scan->code) / 8 + 1, &full) == ST_OK &&
        jpeg_enc_part_write(part, parts->scan, &parts->coder[seat], bytes, &full) == ST_OK) {
        return ST_OK;
    }
    buf_finish(bytes);
    part->bits = start;
    return status;
}

/* Appends the bytes of a part behind `bits` of the part before. Their number is not the one counted before if
 * an engine has changed the picture since. */
static enum status join(struct jpeg_enc_part *part, const struct buf *bytes, const struct jpeg_enc_bits *bits,
                        struct buf *output, struct error *err) {
    if (bytes->size == 0) { /* less than a byte, with the bits before */
        uint64_t own = part->bits.count - bits->count;
        part->bits.word |= own < 8 ? bits->word << own : 0;
        return ST_OK;
    }
    uint8_t first[2] = {(uint8_t)(bytes->data[0] | bits->word << (8 - bits->count)), 0};
    if (bits->count == 0) {
        return buf_append(output, bytes->data, bytes->size, err);
    }
    enum status status = buf_append(output, first, first[0] == 0xff ? 2 : 1, err);
    return status == ST_OK ? buf_append(output, bytes->data + 1, bytes->size - 1, err) : status;
}

enum status jpeg_enc_parts_write(struct jpeg_enc_parts *parts, struct buf *output, struct jpeg_enc_bits *bits,
                                 struct error *err) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < parts->count; i++) {
        parts->part[i].bits.count = sum % 8;
        sum += bits_of(&parts->part[i], parts->scan->code);
    }
    enum status status = run(parts, write_part, err);
    *bits = (struct jpeg_enc_bits){0};
    for (unsigned i = 0; i < parts->count && status == ST_OK; i++) {
        struct jpeg_enc_part *part = &parts->part[i];
        const uint64_t below = ((uint64_t)1 << bits->count) - 1;
        bits->word &= below;
        if (parts->bytes[i].data) {
            status = join(part, &parts->bytes[i], bits, output, err);
            buf_finish(&parts->bytes[i]);
        } else {
            part->bits = *bits;
            status = jpeg_enc_part_write(part, parts->scan, parts->coder, output, err);
        }
        *bits = part->bits;
        jpeg_enc_part_finish(part);
    }
    return status;
}
