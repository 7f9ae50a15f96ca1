/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "codecs/peek.h"
#include "codecs/tiff/tiff_codec.h"
#include "codecs/tiff/tiff_metadata.h"
#include "codecs/tiff/tiff_pages.h"
#include "codecs/tiff/tiff_pixels.h"
#include "codecs/tiff/tiff_stream.h"
#include "core/deadline.h"

enum {
    WHOLE_MAX =
        1 << 20, /* bytes of a strip that is read at once: of larger ones rows, which take less memory */
    ROWS_BETWEEN = 64, /* looks at the clock */
};

struct tiff_reading {
    const struct tiff_layout *layout;
    const struct codec_limits *limits;
    struct tiff_stream stream;
    struct tiff_pixels pixels;
    uint8_t *data; /* a piece, or a row */
    size_t data_size;
    bool whole;
};

/* ---- probe ---- */

static enum status read_layout(struct bytes input, const struct codec_limits *limits,
                               struct tiff_layout *layout, unsigned *losses, struct error *err) {
    struct tiff_directory directory;
    if (!tiff_directory_open(&directory, input)) {
        return fail(err, ST_CORRUPT, "TIFF is damaged or cut short: it lacks its header");
    }
    enum status status = tiff_pages_choose(&directory, limits, losses, err);
    status = status == ST_OK ? tiff_layout_read(layout, &directory, limits, err) : status;
    return status == ST_OK ? tiff_layout_check_data(layout, err) : status;
}

enum status tiff_codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                             struct error *err) {
    struct tiff_layout layout;
    enum status status = read_layout(input, limits, &layout, &picture->metadata.losses, err);
    if (status != ST_OK) {
        return status;
    }
    picture->pixels = picture->native = tiff_layout_shape(&layout);
    picture->exact = !layout.coding.lossy;
    return tiff_metadata_read(&layout, &picture->metadata, err);
}

bool tiff_codec_peek(struct bytes input, struct peek *peek) {
    struct tiff_directory directory;
    if (!tiff_directory_open(&directory, input) || !tiff_directory_go(&directory, directory.next)) {
        return false;
    }
    uint64_t width = tiff_directory_value(&directory, TIFF_TAG_WIDTH, 0);
    uint64_t height = tiff_directory_value(&directory, TIFF_TAG_HEIGHT, 0);
    uint64_t colours = tiff_directory_value(&directory, TIFF_TAG_PHOTOMETRIC, TIFF_RGB);
    uint64_t samples = tiff_directory_value(&directory, TIFF_TAG_SAMPLES, 1);
    *peek = (struct peek){
        .width = width < UINT32_MAX ? (uint32_t)width : 0,
        .height = height < UINT32_MAX ? (uint32_t)height : 0,
        .depth = tiff_directory_value(&directory, TIFF_TAG_BITS, 1) > 8 ? 16 : 8,
        .channels = colours <= TIFF_BLACK_IS_ZERO         ? (samples > 1 ? 2 : 1)
                    : samples == 4 && colours == TIFF_RGB ? 4
                                                          : 3,
    };
    return true;
}

/* ---- pieces ---- */

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool has_blocks(const struct tiff_layout *layout) {
    return layout->halving_x > 1 || layout->halving_y > 1;
}

static void complete(const struct tiff_reading *reading, struct tiff_pixels_span span) {
    if (!reading->layout->separate) {
        tiff_pixels_complete(&reading->pixels, span);
    }
}

static void take_piece(const struct tiff_reading *reading, unsigned plane, uint32_t from_x, uint32_t from_y) {
    const struct tiff_layout *layout = reading->layout;
    size_t row = (size_t)(layout->piece_bytes / layout->piece_height);
    if (has_blocks(layout)) {
        tiff_pixels_put_blocks(&reading->pixels, reading->data, from_x, from_y);
    }
    for (uint32_t y = 0; y < layout->piece_height && from_y + y < layout->height; y++) {
        struct tiff_pixels_span span = {from_x, from_y + y,
                                        least(layout->piece_width, layout->width - from_x)};
        if (!has_blocks(layout)) {
            tiff_pixels_put(&reading->pixels, reading->data + y * row, plane, span);
        }
        complete(reading, span);
    }
}

static enum status read_piece(struct tiff_reading *reading, uint32_t piece, struct error *err) {
    const struct tiff_library *library = reading->stream.library;
    TIFF *tiff = reading->stream.tiff;
    tmsize_t size = (tmsize_t)reading->data_size;
    tmsize_t done = reading->layout->tiled ? library->TIFFReadEncodedTile(tiff, piece, reading->data, size)
                                           : library->TIFFReadEncodedStrip(tiff, piece, reading->data, size);
    enum status status = tiff_stream_check(&reading->stream, done >= 0, err);
    return status == ST_OK ? deadline_check(reading->limits->deadline_ns, err) : status;
}

static enum status read_pieces(struct tiff_reading *reading, unsigned plane, struct error *err) {
    const struct tiff_layout *layout = reading->layout;
    enum status status = ST_OK;
    uint32_t piece = plane * layout->rows * layout->columns;
    for (uint32_t i = 0; i < layout->rows && status == ST_OK; i++) {
        for (uint32_t j = 0; j < layout->columns && status == ST_OK; j++) {
            status = read_piece(reading, piece++, err);
            if (status == ST_OK) {
                take_piece(reading, plane, j * layout->piece_width, i * layout->piece_height);
            }
        }
    }
    return status;
}

static enum status read_rows(struct tiff_reading *reading, unsigned plane, struct error *err) {
    const struct tiff_layout *layout = reading->layout;
    enum status status = ST_OK;
    for (uint32_t y = 0; y < layout->height && status == ST_OK; y++) {
        int done = reading->stream.library->TIFFReadScanline(reading->stream.tiff, reading->data, y,
                                                             (uint16_t)plane);
        status = tiff_stream_check(&reading->stream, done == 1, err);
        if (status == ST_OK) {
            struct tiff_pixels_span span = {0, y, layout->width};
            tiff_pixels_put(&reading->pixels, reading->data, plane, span);
            complete(reading, span);
        }
        if (status == ST_OK && y % ROWS_BETWEEN == 0) {
            status = deadline_check(reading->limits->deadline_ns, err);
        }
    }
    return status;
}

/* ---- decode ---- */

/* Samples beyond these are of no use, and not read if they are in planes. */
static unsigned planes_of(const struct tiff_layout *layout) {
    unsigned used = layout->alpha == TIFF_NO_ALPHA ? tiff_layout_inks(layout) : layout->alpha + 1u;
    return layout->separate ? used : 1;
}

static enum status read_planes(struct tiff_reading *reading, struct error *err) {
    const struct tiff_layout *layout = reading->layout;
    enum status status = ST_OK;
    for (unsigned plane = 0; plane < planes_of(layout) && status == ST_OK; plane++) {
        bool used = plane < tiff_layout_inks(layout) || plane == layout->alpha;
        if (used || !layout->separate) {
            status = reading->whole ? read_pieces(reading, plane, err) : read_rows(reading, plane, err);
        }
    }
    for (uint32_t y = 0; y < layout->height && status == ST_OK && layout->separate; y++) {
        tiff_pixels_complete(&reading->pixels, (struct tiff_pixels_span){0, y, layout->width});
    }
    return status;
}

/* libtiff measures a piece from the same directory. */
static enum status check_size(const struct tiff_reading *reading, struct error *err) {
    const struct tiff_library *library = reading->stream.library;
    TIFF *tiff = reading->stream.tiff;
    tmsize_t size = !reading->whole          ? library->TIFFScanlineSize(tiff)
                    : reading->layout->tiled ? library->TIFFTileSize(tiff)
                                             : library->TIFFStripSize(tiff);
    return tiff_stream_check(&reading->stream, size >= 0 && (uint64_t)size == reading->data_size, err);
}

static enum status read_picture(struct tiff_reading *reading, const struct image *image, size_t memory,
                                struct error *err) {
    const struct tiff_layout *layout = reading->layout;
    uint64_t piece = layout->piece_bytes;
    reading->whole = layout->tiled || has_blocks(layout) || piece <= WHOLE_MAX;
    reading->data_size = (size_t)(reading->whole ? piece : piece / layout->piece_height);
    enum status status = tiff_pixels_start(&reading->pixels, layout, image, err);
    status =
        status == ST_OK ? tiff_stream_open(&reading->stream, layout, reading->whole, memory, err) : status;
    status = status == ST_OK ? check_size(reading, err) : status;
    if (status != ST_OK) {
        return status;
    }
    reading->data = calloc(1, reading->data_size);
    return reading->data ? read_planes(reading, err)
                         : fail(err, ST_BUSY, "out of memory for a strip or tile");
}

enum status tiff_codec_decode(struct bytes input, const struct picture *picture,
                              const struct codec_limits *limits, const struct image *image,
                              struct error *err) {
    struct tiff_layout layout;
    unsigned losses = 0;
    (void)picture;
    enum status status = read_layout(input, limits, &layout, &losses, err);
    if (status != ST_OK) {
        return status;
    }
    struct picture known = {.pixels = tiff_layout_shape(&layout)};
    struct tiff_reading *reading = calloc(1, sizeof(*reading));
    if (!reading) {
        return fail(err, ST_BUSY, "out of memory for the TIFF reader");
    }
    reading->layout = &layout, reading->limits = limits;
    status = read_picture(reading, image, tiff_codec_decode_bytes(&known, input.size), err);
    tiff_stream_finish(&reading->stream);
    free(reading->data);
    free(reading);
    return status;
}
