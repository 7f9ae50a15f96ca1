/* SPDX-License-Identifier: MIT
 * ITU-T T.81, annex H. */
#include "codecs/jpeg/lossless/sof3.h"

#include <string.h>

#include "codecs/jpeg/sequential/jpeg_dec_bytes.h"
#include "core/deadline.h"

enum { SOF3 = 0xC3, DHT = 0xC4, SOS = 0xDA, DRI = 0xDD, RST0 = 0xD0, RESTARTS = 8, MARKER = 0xFF };
enum { COMPONENTS_MAX = 3, PRECISION = 8, DIFFERENCE_BITS = 16, PREDICTORS = 7 };

struct sof3 {
    struct bytes input;
    size_t at; /* behind the header */
    uint32_t width, height, interval;
    unsigned components, predictor, shift; /* low bits that the file lacks: the point transform */
    uint8_t id[COMPONENTS_MAX];
    const struct jpeg_dec_codes *of[COMPONENTS_MAX];
    bool present[JPEG_TABLES_MAX];
    struct jpeg_dec_codes codes[JPEG_TABLES_MAX];
    bool jfif, ycbcr; /* markers of colours */
    uint32_t next_restart;
    struct jpeg_dec_bits bits;
    struct jpeg_dec_bytes bytes;
};

static enum status damaged(struct error *err, const char *what) {
    return fail(err, ST_CORRUPT, "lossless JPEG is damaged: %s", what);
}

static enum status unsupported(struct error *err, const char *what) {
    return fail(err, ST_UNSUPPORTED, "JPEG is lossless and %s, which is not supported", what);
}

/* ---- header ---- */

static enum status read_frame(struct sof3 *file, struct bytes body, struct error *err) {
    enum { HEAD = 6, EACH = 3 };
    if (body.size < HEAD || body.size != HEAD + (size_t)body.data[5] * EACH) {
        return damaged(err, "its frame header has another size than its components need");
    }
    if (file->components > 0) {
        return damaged(err, "it has two frame headers");
    }
    if (body.data[0] != PRECISION) {
        return fail(err, ST_UNSUPPORTED, "JPEG has %u bits a sample; only 8 are supported", body.data[0]);
    }
    file->height = bytes_be16(body.data + 1);
    file->width = bytes_be16(body.data + 3);
    file->components = body.data[5];
    if (file->components != 1 && file->components != COMPONENTS_MAX) {
        return unsupported(err, "has another number of components than 1 or 3");
    }
    for (unsigned i = 0; i < file->components; i++) {
        const uint8_t *from = body.data + HEAD + (size_t)i * EACH;
        file->id[i] = from[0];
        if (file->components > 1 && from[1] != 0x11) {
            return unsupported(err, "subsampled");
        }
    }
    return file->width > 0 && file->height > 0 ? ST_OK : unsupported(err, "has no size in its header");
}

static bool make_codes(struct sof3 *file, const struct jpeg_code_table *from) {
    struct jpeg_dec_table table = {0};
    memcpy(table.counts, from->counts, sizeof table.counts);
    memcpy(table.symbols, from->symbols, from->count);
    file->present[from->number] = jpeg_dec_codes_make(&file->codes[from->number], &table);
    return file->present[from->number];
}

static enum status read_codes(struct sof3 *file, struct bytes body, struct error *err) {
    while (body.size > 0) {
        struct jpeg_code_table table;
        if (!jpeg_code_table_next(&body, JPEG_TABLES_MAX, &table) ||
            !jpeg_code_table_fits(&table, DIFFERENCE_BITS)) {
            return damaged(err, "a Huffman table");
        }
        if (table.class == 0 && !make_codes(file, &table)) {
            return damaged(err, "a Huffman table has codes that may not be");
        }
    }
    return ST_OK;
}

static enum status read_segment(struct sof3 *file, const struct jpeg_segment *segment, struct error *err) {
    enum { ADOBE_TRANSFORM = 11 };
    struct bytes body = segment->data;
    switch (segment->marker) {
    case SOF3:
        return read_frame(file, body, err);
    case DHT:
        return read_codes(file, body, err);
    case DRI:
        file->interval = body.size == 2 ? bytes_be16(body.data) : 0;
        return body.size == 2 ? ST_OK : damaged(err, "the restart interval");
    case SEGMENT_APP0:
        file->jfif |= body.size >= 5 && memcmp(body.data, "JFIF", 5) == 0;
        return ST_OK;
    case SEGMENT_APP14:
        file->ycbcr |= body.size > ADOBE_TRANSFORM && memcmp(body.data, "Adobe", 5) == 0 &&
                       body.data[ADOBE_TRANSFORM] != 0;
        return ST_OK;
    default:
        return ST_OK;
    }
}

/* The scan's header at `at`, behind its marker. */
static enum status read_scan(struct sof3 *file, struct error *err) {
    const uint8_t *head = file->input.data + file->at;
    size_t left = file->input.size - file->at, length = 6 + 2 * (size_t)file->components;
    if (file->components == 0 || left < length || bytes_be16(head) < 6) {
        return damaged(err, "it has no frame header before its scan, or ends there");
    }
    if (head[2] != file->components) {
        return unsupported(err, "has a scan for each component");
    }
    const uint8_t *end = head + 3 + 2 * (size_t)file->components;
    if (bytes_be16(head) != length || end[0] < 1 || end[0] > PREDICTORS || (end[2] & 15) >= PRECISION) {
        return damaged(err, "the scan's header");
    }
    for (unsigned i = 0; i < file->components; i++) {
        unsigned table = head[4 + 2 * i] >> 4;
        if (head[3 + 2 * i] != file->id[i] || table >= JPEG_TABLES_MAX || !file->present[table]) {
            return damaged(err, "a component of the scan is unknown or lacks a table");
        }
        file->of[i] = &file->codes[table];
    }
    file->predictor = end[0];
    file->shift = end[2] & 15;
    file->at += length;
    return ST_OK;
}

/* Everything before the data, in a number of segments that jpeg_read_head has limited. */
static enum status open_file(struct sof3 *file, struct bytes input, struct error *err) {
    struct jpeg_segment segment;
    enum status status = ST_OK;
    *file = (struct sof3){.input = input};
    while (status == ST_OK && jpeg_next_segment(input, &file->at, &segment)) {
        status = read_segment(file, &segment, err);
    }
    if (status != ST_OK) {
        return status;
    }
    if (file->at == 0 || file->at > input.size || input.data[file->at - 1] != SOS) {
        return damaged(err, "it has no scan");
    }
    status = read_scan(file, err);
    if (status == ST_OK && file->components > 1 && (file->jfif || file->ycbcr)) {
        return unsupported(err, "in YCbCr");
    }
    if (status == ST_OK && file->interval % file->width != 0) {
        return damaged(err, "its restart interval is not of whole rows");
    }
    return status;
}

enum status sof3_probe(struct bytes input, struct picture *picture, struct error *err) {
    struct sof3 file;
    enum status status = open_file(&file, input, err);
    if (status != ST_OK) {
        return status;
    }
    picture->pixels = (struct image_shape){
        .model = file.components == 1 ? PIXEL_GRAY : PIXEL_RGB,
        .depth = 8,
        .width = file.width,
        .height = file.height,
    };
    picture->native = picture->pixels;
    picture->lossless = true;
    uint64_t samples = (uint64_t)file.width * file.height * file.components; /* of a bit or more */
    return samples / 8 <= input.size - file.at
               ? ST_OK
               : fail(err, ST_CORRUPT, "JPEG is truncated: %zu bytes cannot hold %u x %u pixels",
                      input.size - file.at, file.width, file.height);
}

/* ---- samples ---- */

/* Reads a difference; false for a code that does not exist. */
static bool read_difference(struct jpeg_dec_bits *bits, const struct jpeg_dec_codes *codes,
                            int32_t *difference) {
    _Static_assert(JPEG_DEC_CODE_BITS + JPEG_DEC_BITS_VALUE <= JPEG_DEC_BITS_LOADED, "one load is enough");
    jpeg_dec_bits_load(bits);
    uint32_t code = jpeg_dec_codes_find(codes, bits->word), size = code >> 8;
    jpeg_dec_bits_drop(bits, code & 255);
    *difference = size == DIFFERENCE_BITS ? 1 << (DIFFERENCE_BITS - 1) /* has no bits */
                                          : jpeg_dec_bits_value(bits, size);
    return code != 0;
}

/* Whether the data has lasted so far. The window moves on after some samples. */
static bool lasts(struct sof3 *file) {
    return file->bits.at < file->bytes.limit || jpeg_dec_bytes_more(&file->bytes, &file->bits);
}

/* a: to the left, b: above, c: above the left one. */
static int32_t predict(unsigned predictor, int32_t a, int32_t b, int32_t c) {
    switch (predictor) {
    case 1:
        return a;
    case 2:
        return b;
    case 3:
        return c;
    case 4:
        return a + b - c;
    case 5:
        return a + ((b - c) >> 1);
    case 6:
        return b + ((a - c) >> 1);
    default:
        return (a + b) >> 1;
    }
}

/* `above` is NULL for the first row, and behind a restart marker. NULL, or what is wrong. */
static const char *decode_row(struct sof3 *file, uint8_t *row, const uint8_t *above) {
    const unsigned step = file->components, shift = file->shift;
    for (size_t x = 0; x < (size_t)file->width * step; x++) {
        bool first = x < step;
        int32_t a = first ? 0 : row[x - step] >> shift, b = above ? above[x] >> shift : 0, difference;
        int32_t c = first || !above ? 0 : above[x - step] >> shift;
        int32_t expected = !above  ? (first ? 1 << (PRECISION - 1 - shift) : a)
                           : first ? b
                                   : predict(file->predictor, a, b, c);
        bool good = read_difference(&file->bits, file->of[x % step], &difference);
        uint32_t value = (uint32_t)(expected + difference) & 0xFFFF;
        if (!lasts(file)) {
            return "its data ends before the picture does";
        }
        if (!good || value >> (PRECISION - shift) != 0) {
            return good ? "a sample is out of range" : "a bad Huffman code";
        }
        row[x] = (uint8_t)(value << shift);
    }
    return NULL;
}

/* Steps over the restart marker that has to follow here, and over what is left before it. */
static bool restart(struct sof3 *file) {
    size_t at;
    if (!jpeg_dec_bytes_finish(&file->bytes, &file->bits, &at) ||
        jpeg_marker_at(file->input, &at) != RST0 + file->next_restart) {
        return false;
    }
    file->next_restart = (file->next_restart + 1) % RESTARTS;
    jpeg_dec_bytes_start(&file->bytes, file->input, at, &file->bits);
    return true;
}

enum status sof3_decode(struct bytes input, const struct codec_limits *limits, const struct image *image,
                        struct error *err) {
    struct sof3 file;
    enum status status = open_file(&file, input, err);
    if (status != ST_OK) {
        return status;
    }
    const struct plane *plane = &image->plane[0];
    if (image->width != file.width || image->height != file.height || plane->channels != file.components) {
        return fail(err, ST_INTERNAL, "JPEG does not have the shape that was probed");
    }
    jpeg_dec_bytes_start(&file.bytes, input, file.at, &file.bits);
    const uint32_t rows = file.interval > 0 ? file.interval / file.width : file.height;
    for (uint32_t y = 0; y < file.height && status == ST_OK; y++) {
        const uint8_t *above = y % rows == 0 ? NULL : plane_row(plane, y - 1);
        status = deadline_check(limits->deadline_ns, err);
        if (status == ST_OK && y > 0 && !above && !restart(&file)) {
            return damaged(err, "a restart marker is missing or wrong");
        }
        const char *wrong = status == ST_OK ? decode_row(&file, plane_row(plane, y), above) : NULL;
        if (wrong) {
            return damaged(err, wrong);
        }
        progress_tell(limits->progress, status == ST_OK ? y + 1 : 0);
    }
    return status;
}
