/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/sequential.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/sequential/jpeg_dec_ring.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "core/deadline.h"
#include "core/jpeg/segments.h"
#include "core/numbers.h"
#include "core/processor.h"

enum { BLOCK = 8, RST0 = 0xD0, RESTARTS = 8, MARKER = 0xFF };

/* Everything that a decoding takes memory for. */
struct sequential {
    const struct jpeg_dec_level *level;
    const struct codec_limits *limits;
    const struct image *image;
    struct jpeg_dec_ring *ring; /* NULL: no thread helps */
    struct jpeg_dec_header header;
    bool strip;          /* the image has memory for one row of MCUs */
    bool last, damaged;  /* the scan is the last one; another decoder has to take the file */
    unsigned seen;       /* one bit for each component that had a scan */
    uint32_t mcus, rows; /* of the scan: MCUs in a row, rows of them */
    uint32_t lines;      /* rows of pixels that a row of MCUs stands for */
    uint32_t until_restart, next_restart;
    uint32_t rows_reported;
    struct jpeg_dec_look dc[JPEG_DEC_COMPONENTS_MAX], ac[JPEG_DEC_COMPONENTS_MAX];
    struct jpeg_dec_scan scan;
};

void sequential_levels(const struct jpeg_dec_level *level[static SEQUENTIAL_LEVELS_MAX + 1]) {
    static const struct {
        const struct jpeg_dec_level *level;
        enum processor_level needs;
    } levels[] = {
#if defined(__x86_64__)
        {&jpeg_dec_level_avx512, PROCESSOR_AVX512},
        {&jpeg_dec_level_avx2, PROCESSOR_AVX2},
#elif defined(__aarch64__)
        {&jpeg_dec_level_neon, PROCESSOR_NEON},
#endif
        {&jpeg_dec_level_baseline, PROCESSOR_BASELINE},
        {&jpeg_dec_level_plain, PROCESSOR_PLAIN},
    };
    unsigned count = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (processor_allows(levels[i].needs)) {
            level[count++] = levels[i].level;
        }
    }
    level[count] = NULL;
}

size_t sequential_bytes(void) {
    return sizeof(struct sequential);
}

uint64_t sequential_samples(const struct image_shape *shape) {
    uint64_t samples = (uint64_t)shape->width * shape->height;
    return shape->model == PIXEL_YCBCR
               ? samples + 2 * (samples >> (shape->chroma_shift_x + shape->chroma_shift_y))
               : samples;
}

size_t sequential_help_bytes(const struct image_shape *shape) {
    return sequential_samples(shape) < JPEG_DEC_RING_LEAST ? 0
                                                           : bytes_align_up(sizeof(struct jpeg_dec_ring), 64);
}

/* Whether the planes are the frame's components. */
static bool is_image(const struct jpeg_dec_header *header, const struct image *image) {
    bool same = header->frame.count == image->plane_count && header->frame.width == image->width &&
                header->frame.height == image->height && header->frame.h_max != 3 &&
                header->frame.v_max != 3 && image->depth == 8;
    for (unsigned i = 0; i < image->plane_count && same; i++) {
        const struct jpeg_component *component = &header->frame.component[i];
        const struct plane *plane = &image->plane[i];
        same = plane->channels == 1 && component->h << plane->shift_x == header->frame.h_max &&
               component->v << plane->shift_y == header->frame.v_max;
    }
    return same;
}

/* Libjpeg's steps have 16 bits with a sign. */
void jpeg_dec_part_set_quantiser(struct jpeg_dec_part *part, const uint16_t *steps) {
    for (unsigned k = 0; k < JPEG_DEC_PLACES; k++) {
        part->place[k] = (struct jpeg_dec_place){0, JPEG_DEC_COEFFICIENTS};
        if (k < JPEG_DEC_COEFFICIENTS) {
            part->place[k] = (struct jpeg_dec_place){(int16_t)steps[k], jpeg_zigzag[k]};
            part->steps[jpeg_zigzag[k]] = (int16_t)steps[k];
        }
    }
    part->dc_step = part->steps[0];
    part->steps[0] = part->place[0].step = 1;
    for (unsigned i = 0; i < JPEG_DEC_COEFFICIENTS / 4; i++) {
        part->steps[JPEG_DEC_COEFFICIENTS + i] = part->steps[i / 4 * BLOCK + i % 4];
    }
}

/* The largest value whose product with any step of the scan's components is in range. */
static int32_t largest_value(const struct jpeg_dec_header *header) {
    int32_t largest = 1;
    for (unsigned i = 0; i < header->scan.count; i++) {
        const uint16_t *steps =
            header->quantisers.of[header->frame.component[header->scan.part[i].component].quantiser];
        for (unsigned k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
            int32_t step = (int16_t)steps[k], size = step < 0 ? -step : step;
            largest = size > largest ? size : largest;
        }
    }
    return JPEG_DEC_VALUE_MAX / largest;
}

/* Makes the tables of a component, unless one before it has the same. */
static bool make_tables(struct sequential *decoder, unsigned index, int32_t value_max) {
    const struct jpeg_dec_header *header = &decoder->header;
    const struct jpeg_scan_part *from = &header->scan.part[index];
    struct jpeg_dec_part *part = &decoder->scan.part[index];
    part->dc = NULL;
    part->ac = NULL;
    for (unsigned i = 0; i < index; i++) {
        part->dc = header->scan.part[i].dc == from->dc ? decoder->scan.part[i].dc : part->dc;
        part->ac = header->scan.part[i].ac == from->ac ? decoder->scan.part[i].ac : part->ac;
    }
    bool good = true;
    if (!part->dc) {
        part->dc = &decoder->dc[index];
        good = jpeg_dec_codes_make_look(&decoder->dc[index], &header->dc[from->dc], JPEG_DEC_DC, INT32_MAX);
    }
    if (!part->ac) {
        part->ac = &decoder->ac[index];
        good = good &&
               jpeg_dec_codes_make_look(&decoder->ac[index], &header->ac[from->ac], JPEG_DEC_AC, value_max);
    }
    return good;
}

/* Lays the blocks of a component's part of the MCU out over its plane. */
static void add_units(struct sequential *decoder, struct jpeg_dec_part *part, unsigned component,
                      bool alone) {
    const struct plane *plane = &decoder->image->plane[component];
    const struct jpeg_component *from = &decoder->header.frame.component[component];
    uint32_t h = alone ? 1 : from->h, v = alone ? 1 : from->v;
    size_t below = decoder->strip ? 0 : v * BLOCK * part->stride, across = (size_t)decoder->mcus * h * BLOCK;
    for (uint32_t y = 0; y < v; y++) {
        for (uint32_t x = 0; x < h; x++) {
            decoder->scan.unit[decoder->scan.unit_count++] =
                (struct jpeg_dec_unit){part, plane_row(plane, y * BLOCK) + (size_t)x * BLOCK, h * BLOCK,
                                       (ptrdiff_t)below - (ptrdiff_t)across};
        }
    }
}

static void set_coded(struct jpeg_dec_scan *scan) {
    for (unsigned i = 0; i <= JPEG_DEC_BATCH; i++) {
        struct jpeg_dec_coded *coded = &scan->batch.coded[i];
        coded->part = scan->unit[i % scan->unit_count].part;
        coded->dc = coded->part->dc->entry;
        coded->ac = coded->part->ac->entry;
    }
}

static void set_size(struct sequential *decoder) {
    const struct jpeg_dec_header *header = &decoder->header;
    uint32_t wide = (uint32_t)BLOCK * header->frame.h_max, high = (uint32_t)BLOCK * header->frame.v_max;
    if (header->scan.count == 1) { /* a block is an MCU */
        const struct plane *plane = &decoder->image->plane[header->scan.part[0].component];
        wide = (uint32_t)BLOCK << plane->shift_x;
        high = (uint32_t)BLOCK << plane->shift_y;
    }
    decoder->mcus = divide_up(header->frame.width, wide);
    decoder->rows = divide_up(header->frame.height, high);
    decoder->lines = high;
}

static bool start_scan(struct sequential *decoder) {
    const struct jpeg_dec_header *header = &decoder->header;
    struct jpeg_dec_scan *scan = &decoder->scan;
    int32_t value_max = largest_value(header);
    scan->unit_count = 0;
    set_size(decoder);
    for (unsigned i = 0; i < header->scan.count; i++) {
        unsigned component = header->scan.part[i].component;
        if (decoder->seen & 1u << component || !make_tables(decoder, i, value_max)) {
            return false;
        }
        decoder->seen |= 1u << component;
        jpeg_dec_part_set_quantiser(&scan->part[i],
                                    header->quantisers.of[header->frame.component[component].quantiser]);
        scan->part[i].last_dc = 0;
        scan->part[i].stride = decoder->image->plane[component].stride;
        if (scan->part[i].dc_step == 0) {
            return false;
        }
        add_units(decoder, &scan->part[i], component, header->scan.count == 1);
    }
    set_coded(scan);
    decoder->until_restart = header->interval;
    decoder->next_restart = 0;
    jpeg_dec_bytes_start(&scan->bytes, header->input, header->at, &scan->bits);
    return true;
}

/* Steps over the restart marker that has to follow here. */
static bool restart(struct sequential *decoder) {
    struct jpeg_dec_scan *scan = &decoder->scan;
    struct bytes input = decoder->header.input;
    size_t at;
    if (!jpeg_dec_bytes_finish(&scan->bytes, &scan->bits, &at)) {
        return false;
    }
    while (at + 1 < input.size && input.data[at] == MARKER && input.data[at + 1] == MARKER) {
        at++;
    }
    if (at + 1 >= input.size || input.data[at + 1] != RST0 + decoder->next_restart) {
        return false;
    }
    decoder->next_restart = (decoder->next_restart + 1) % RESTARTS;
    decoder->until_restart = decoder->header.interval;
    for (unsigned i = 0; i < decoder->header.scan.count; i++) {
        scan->part[i].last_dc = 0;
    }
    jpeg_dec_bytes_start(&scan->bytes, input, at + 2, &scan->bits);
    return true;
}

static bool decode_row(struct sequential *decoder) {
    uint32_t left = decoder->mcus;
    while (left > 0) {
        uint32_t count = left;
        if (decoder->header.interval > 0) {
            if (decoder->until_restart == 0 && !restart(decoder)) {
                return false;
            }
            count = left < decoder->until_restart ? left : decoder->until_restart;
            decoder->until_restart -= count;
        }
        bool good = decoder->ring ? jpeg_dec_ring_decode(decoder->ring, &decoder->scan, count)
                                  : decoder->level->decode(&decoder->scan, count);
        if (!good) {
            return false;
        }
        left -= count;
    }
    return true;
}

/* Moves the blocks of the MCU on to the next row of MCUs. */
static void next_row(struct sequential *decoder) {
    for (unsigned i = 0; i < decoder->scan.unit_count; i++) {
        struct jpeg_dec_unit *unit = &decoder->scan.unit[i];
        unit->to += unit->down;
    }
}

/* Reports the rows of MCUs that are complete. */
static void tell(struct sequential *decoder, uint32_t mcu_rows) {
    const uint32_t height = decoder->header.frame.height, rows = mcu_rows * decoder->lines;
    const uint32_t complete = rows < height ? rows : height;
    if (decoder->last && complete > decoder->rows_reported) {
        decoder->rows_reported = complete;
        progress_tell(decoder->limits->progress, complete);
    }
}

static void tell_transformed(void *context) {
    struct sequential *decoder = context;
    tell(decoder, jpeg_dec_ring_rows(decoder->ring));
}

static enum status decode_rows(void *context, struct error *err) {
    struct sequential *decoder = context;
    enum status status = ST_OK;
    for (uint32_t row = 0; row < decoder->rows && status == ST_OK; row++) {
        status = deadline_check(decoder->limits->deadline_ns, err);
        if (status == ST_OK && !decode_row(decoder)) {
            decoder->damaged = true;
            return fail(err, ST_CORRUPT, "JPEG is damaged or unusual");
        }
        next_row(decoder);
        if (status == ST_OK) {
            tell(decoder, decoder->ring ? jpeg_dec_ring_rows(decoder->ring) : row + 1);
        }
    }
    return status;
}

static enum status decode_scan(struct sequential *decoder, bool *declined, struct error *err) {
    struct error own = {0};
    enum status status = decoder->ring
                             ? jpeg_dec_ring_run(decoder->ring, decoder->limits->crew, decoder->mcus,
                                                 decode_rows, tell_transformed, decoder, &own)
                             : decode_rows(decoder, &own);
    *declined = decoder->damaged;
    return status == ST_OK || *declined ? ST_OK : fail(err, status, "%s", own.text);
}

/* Moves the header behind the data of a scan that others follow. */
static bool leave_scan(struct sequential *decoder) {
    return jpeg_dec_bytes_finish(&decoder->scan.bytes, &decoder->scan.bits, &decoder->header.at);
}

/* Takes memory for help, if a thread is idle and the limit allows it. Without help nothing fails. */
static struct jpeg_dec_ring *make_ring(const struct sequential *decoder) {
    const struct image_shape shape = image_shape(decoder->image);
    const size_t bytes = sequential_help_bytes(&shape);
    if (decoder->strip || bytes == 0 || sequential_bytes() + bytes > decoder->limits->max_memory) {
        return NULL;
    }
    unsigned seats = crew_seats(decoder->limits->crew, sequential_samples(&shape));
    return seats > 1 ? jpeg_dec_ring_create(decoder->level, seats) : NULL;
}

/* The data of a single scan may end anywhere behind the last row; several need an end marker. */
static enum status decode_scans(struct sequential *decoder, bool *declined, struct error *err) {
    struct jpeg_dec_header *header = &decoder->header;
    enum jpeg_dec_next next = JPEG_DEC_SCAN;
    unsigned all = (1u << header->frame.count) - 1;
    bool several = header->scan.count < header->frame.count;
    *declined = !is_image(header, decoder->image) || (decoder->strip && several);
    decoder->ring = *declined ? NULL : make_ring(decoder);
    enum status status = ST_OK;
    for (uint32_t scans = 1; status == ST_OK && !*declined && next == JPEG_DEC_SCAN; scans++) {
        *declined = scans > decoder->limits->max_scans || !start_scan(decoder);
        if (!*declined) {
            decoder->last = decoder->seen == all;
            status = decode_scan(decoder, declined, err);
        }
        if (status == ST_OK && !*declined && several) {
            *declined = !leave_scan(decoder);
            next = *declined ? next : jpeg_dec_header_next(header);
        } else {
            next = JPEG_DEC_END;
        }
    }
    *declined |= next == JPEG_DEC_UNUSUAL || decoder->seen != all;
    return status;
}

enum status sequential_decode(const struct jpeg_dec_level *level, const struct jpeg_dec_header *header,
                              const struct codec_limits *limits, const struct image *image, bool strip,
                              bool *declined, uint32_t *rows_reported, struct error *err) {
    *declined = true;
    *rows_reported = 0;
    if (sequential_bytes() > limits->max_memory) {
        return ST_OK;
    }
    struct sequential *decoder = aligned_alloc(64, bytes_align_up(sizeof *decoder, 64));
    if (!decoder) {
        return fail(err, ST_BUSY, "no memory to decode a JPEG");
    }
    decoder->level = level;
    decoder->limits = limits;
    decoder->image = image;
    decoder->header = *header;
    decoder->strip = strip;
    decoder->ring = NULL;
    decoder->damaged = false;
    decoder->seen = 0;
    decoder->rows_reported = 0;
    memset(&decoder->scan.batch, 0, sizeof decoder->scan.batch);
    memset(decoder->scan.bytes.window, 0, sizeof decoder->scan.bytes.window);
    enum status status = decode_scans(decoder, declined, err);
    *rows_reported = decoder->rows_reported;
    jpeg_dec_ring_destroy(decoder->ring);
    free(decoder);
    return status;
}
