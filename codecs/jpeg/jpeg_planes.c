/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_planes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/pixels/pixels_strip.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "core/crew.h"
#include "core/deadline.h"
#include "core/jpeg/segments.h"
#include "core/processor.h"
#include "core/tuned.h"

enum {
    BLOCK = COEFFICIENTS_SIDE,
    SEATS = TUNED_JPEG_THREADS,
    PARTS_MAX = 256, /* of a picture */
};

/* A progressive file. */
struct progressive {
    struct jpeg_dec_batch batch[SEATS];
    struct jpeg_dec_part part[JPEG_DEC_COMPONENTS_MAX];
    struct jpeg_dec_scale scale[JPEG_DEC_COMPONENTS_MAX];
    const struct jpeg_dec_level *level;
    const struct codec_limits *limits;
    const struct image *image;
    bool strip; /* the image has memory for one row of MCUs */
    struct coefficients_layout layout;
    struct jpeg_coefficients read;
    uint32_t part_rows, rows_reported; /* rows of MCUs of a part; rows of the picture that were reported */
    unsigned parts, complete;          /* parts from the first one on that have ended */
    atomic_bool ended[PARTS_MAX];
};
enum { STATE = (sizeof(struct progressive) + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT };

static size_t all_bytes(const struct coefficients_layout *layout) {
    return STATE + bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT);
}

size_t jpeg_planes_progressive_bytes(const struct image_shape *shape) {
    struct coefficients_layout layout;
    return coefficients_lay_out(shape, &layout) ? all_bytes(&layout) + jpeg_coefficients_state() : 0;
}

/* ---- the transform ---- */

static void set_scale(struct progressive *file, unsigned plane) {
    struct jpeg_dec_part *part = &file->part[plane];
    struct jpeg_dec_scale *scale = &file->scale[plane];
    uint16_t steps[JPEG_DEC_COEFFICIENTS];
    for (unsigned k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
        steps[k] = file->read.head->quantiser[plane][jpeg_zigzag[k]];
    }
    jpeg_dec_part_set_quantiser(part, steps);
    part->stride = file->image->plane[plane].stride;
    for (unsigned k = 0; k < JPEG_DEC_COEFFICIENTS; k++) {
        unsigned at = file->level->sorts ? k : part->place[k].at;
        int32_t step = k > 0 ? part->place[k].step : part->dc_step;
        scale->step[at] = (int16_t)(file->level->sorts && k > 0 ? 1 : step);
        scale->limit[at] = (int16_t)(JPEG_DEC_VALUE_MAX / abs(step));
    }
}

/* Transforms the blocks of a plane in a row of MCUs. False when a value is unusual. */
static bool transform_plane(struct progressive *file, unsigned seat, unsigned index, uint32_t mcu_y) {
    const struct plane *plane = &file->image->plane[index];
    uint32_t high = index > 0 ? 1 : file->layout.v;
    bool good = true;
    const uint32_t first = mcu_y * high, above = file->strip ? first : 0; /* rows that have no memory */
    for (uint32_t y = first; y < first + high && y * BLOCK < plane->height && good; y++) {
        const struct jpeg_dec_stored row = {
            .values = file->read.values,
            .filled = file->read.filled,
            .row = coefficients_row(&file->layout, index, y),
            .count = (plane->width + BLOCK - 1) / BLOCK,
            .part = &file->part[index],
            .scale = &file->scale[index],
            .to = plane_row(plane, (y - above) * BLOCK),
        };
        good = file->level->transform(&file->batch[seat], &row);
    }
    return good;
}

static enum status transform_row(struct progressive *file, unsigned seat, uint32_t mcu_y, struct error *err) {
    for (unsigned i = 0; i < file->image->plane_count; i++) {
        if (!transform_plane(file, seat, i, mcu_y)) {
            return fail(err, ST_UNSUPPORTED, "JPEG has unusual coefficients");
        }
    }
    return ST_OK;
}

static void tell_rows(struct progressive *file, uint32_t mcu_rows) {
    const uint32_t rows = mcu_rows * BLOCK * file->layout.v;
    file->rows_reported = rows < file->image->height ? rows : file->image->height;
    progress_tell(file->limits->progress, file->rows_reported);
}

/* Reports the parts that have ended, on the caller's thread. */
static void tell(struct progressive *file) {
    const unsigned before = file->complete;
    while (file->complete < file->parts &&
           atomic_load_explicit(&file->ended[file->complete], memory_order_acquire)) {
        file->complete++;
    }
    if (file->complete > before) {
        tell_rows(file, file->complete * file->part_rows);
    }
}

static enum status transform_part(void *context, unsigned part, unsigned seat, struct error *err) {
    struct progressive *file = context;
    const uint32_t from = part * file->part_rows, end = from + file->part_rows;
    enum status status = deadline_check(file->limits->deadline_ns, err);
    for (uint32_t y = from; y < end && y < file->layout.mcus_y && status == ST_OK; y++) {
        status = transform_row(file, seat, y, err);
    }
    if (status != ST_OK) {
        return status;
    }
    atomic_store_explicit(&file->ended[part], true, memory_order_release);
    if (seat == 0) {
        tell(file);
    }
    return status;
}

/* Readers of the rows find each row of MCUs in the cache if a single thread transforms. */
static void cut(struct progressive *file, unsigned seats) {
    const uint32_t rows = file->layout.mcus_y;
    file->part_rows = (rows + PARTS_MAX - 1) / PARTS_MAX;
    if (seats > 1 && file->part_rows < TUNED_JPEG_PART_ROWS) {
        file->part_rows = TUNED_JPEG_PART_ROWS;
    }
    file->parts = (rows + file->part_rows - 1) / file->part_rows;
    file->complete = 0;
    for (unsigned i = 0; i < file->parts; i++) {
        atomic_init(&file->ended[i], false);
    }
}

/* The run is not ahead of a filter that follows: bands of rows that are in a cache are better taken first. */
static enum status transform_parts(struct progressive *file, struct error *err) {
    const struct image_shape shape = image_shape(file->image);
    const unsigned idle = crew_seats(file->limits->crew, sequential_samples(&shape));
    const unsigned seats = idle < SEATS ? idle : SEATS;
    memset(file->batch, 0, seats * sizeof file->batch[0]);
    cut(file, seats);
    const struct crew_work work = {
        .part = transform_part, .context = file, .parts = file->parts, .seats = seats};
    enum status status = crew_run(file->limits->crew, &work, err);
    if (status == ST_OK) {
        tell(file);
    }
    return status;
}

static enum status transform_strips(struct progressive *file, struct error *err) {
    enum status status = ST_OK;
    memset(&file->batch[0], 0, sizeof file->batch[0]);
    for (uint32_t y = 0; y < file->layout.mcus_y && status == ST_OK; y++) {
        status = deadline_check(file->limits->deadline_ns, err);
        status = status == ST_OK ? transform_row(file, 0, y, err) : status;
        if (status == ST_OK) {
            tell_rows(file, y + 1);
        }
    }
    return status;
}

static enum status transform_all(struct progressive *file, bool *declined, uint32_t *rows_reported,
                                 struct error *err) {
    struct error own = {0};
    file->rows_reported = 0;
    enum status status = file->strip ? transform_strips(file, &own) : transform_parts(file, &own);
    *rows_reported = file->rows_reported;
    *declined = status == ST_UNSUPPORTED;
    return status == ST_OK || *declined ? ST_OK : fail(err, status, "%s", own.text);
}

/* ---- a file ---- */

static enum status decode_scans(struct progressive *file, const struct jpeg_dec_header *header,
                                bool *declined, uint32_t *rows_reported, struct error *err) {
    const struct image_shape shape = image_shape(file->image);
    const struct jpeg_coefficients_way way = {.quick = processor_extracts_bits(),
                                              .order = file->level->sorts ? JPEG_SCAN : JPEG_ROWS,
                                              .header = header};
    uint8_t *memory = (uint8_t *)file + STATE;
    struct error unusual;
    enum status status =
        jpeg_coefficients_read_by(&way, header->input, file->limits, &shape, memory, &unusual);
    *declined = status == ST_UNSUPPORTED;
    if (status != ST_OK) {
        return *declined ? ST_OK : fail(err, status, "%s", unusual.text);
    }
    file->read = jpeg_coefficients_in(memory, &file->layout);
    for (unsigned i = 0; i < file->layout.planes; i++) {
        set_scale(file, i);
    }
    return transform_all(file, declined, rows_reported, err);
}

static enum status decode_progressive(const struct jpeg_dec_level *level,
                                      const struct jpeg_dec_header *header, const struct codec_limits *limits,
                                      const struct image *image, bool strip, bool *declined,
                                      uint32_t *rows_reported, struct error *err) {
    const struct image_shape shape = image_shape(image);
    struct coefficients_layout layout;
    if (!coefficients_lay_out(&shape, &layout) ||
        jpeg_planes_progressive_bytes(&shape) > limits->max_memory) {
        return ST_OK;
    }
    struct progressive *file = aligned_alloc(IMAGE_ALIGNMENT, all_bytes(&layout));
    if (!file) {
        return fail(err, ST_BUSY, "no memory to decode a JPEG");
    }
    file->level = level;
    file->limits = limits;
    file->image = image;
    file->strip = strip;
    file->layout = layout;
    enum status status = decode_scans(file, header, declined, rows_reported, err);
    free(file);
    return status;
}

static enum status decode(const struct jpeg_dec_level *level, struct bytes input,
                          const struct codec_limits *limits, const struct image *image, bool strip,
                          bool *declined, uint32_t *rows_reported, struct error *err) {
    struct jpeg_dec_header header;
    *declined = true;
    *rows_reported = 0;
    if (limits->reduction > 0 || jpeg_dec_header_open(&header, input) != JPEG_DEC_SCAN) {
        return ST_OK;
    }
    return (header.progressive ? decode_progressive : sequential_decode)(level, &header, limits, image, strip,
                                                                         declined, rows_reported, err);
}

enum status jpeg_planes_decode_at(const struct jpeg_dec_level *level, struct bytes input,
                                  const struct codec_limits *limits, const struct image *image,
                                  bool *declined, uint32_t *rows_reported, struct error *err) {
    return decode(level, input, limits, image, false, declined, rows_reported, err);
}

enum status jpeg_pixels_decode_at(const struct jpeg_dec_level *level, struct bytes input,
                                  const struct codec_limits *limits, const struct image_shape *planes,
                                  const struct image *image, bool *declined, uint32_t *rows_reported,
                                  struct error *err) {
    struct codec_limits own = *limits;
    struct pixels_strip strip;
    const size_t bytes = pixels_strip_bytes(planes);
    *declined = true;
    *rows_reported = 0;
    if (limits->local_colour || bytes > limits->max_memory) {
        return ST_OK;
    }
    enum status status = pixels_strip_init(&strip, level, planes, image, limits->progress, err);
    if (status != ST_OK) {
        return status;
    }
    own.progress = &strip.taker;
    own.max_memory -= bytes;
    status = decode(level, input, &own, &strip.planes, true, declined, rows_reported, err);
    *rows_reported = strip.reported;
    pixels_strip_finish(&strip);
    return status;
}

enum status jpeg_planes_decode(struct bytes input, const struct codec_limits *limits,
                               const struct image *image, bool *declined, uint32_t *rows_reported,
                               struct error *err) {
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    *declined = true;
    *rows_reported = 0;
    return levels[0]->vectors
               ? jpeg_planes_decode_at(levels[0], input, limits, image, declined, rows_reported, err)
               : ST_OK;
}

enum status jpeg_pixels_decode(struct bytes input, const struct codec_limits *limits,
                               const struct image_shape *planes, const struct image *image, bool *declined,
                               uint32_t *rows_reported, struct error *err) {
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    *declined = true;
    *rows_reported = 0;
    return levels[0]->vectors
               ? jpeg_pixels_decode_at(levels[0], input, limits, planes, image, declined, rows_reported, err)
               : ST_OK;
}
