/* SPDX-License-Identifier: MIT */
#include "detect/codes/reader/codes_read.h"

#include "detect/codes/reader/codes_library.h"

enum {
    PIXEL_BYTES = 24,        /* of the library, for each pixel: copies that are smaller, turned, in bits */
    LIBRARY_BYTES = 32 << 20 /* beside that, for what it finds */
};

static struct codes_library library; /* written by codes_read_open */
static bool is_open;

enum status codes_read_open(const char *path, struct error *err) {
    enum status status = is_open ? ST_OK : codes_library_open(path, &library, err);
    is_open = status == ST_OK;
    return status;
}

size_t codes_read_memory(uint32_t width, uint32_t height) {
    return (size_t)width * height * PIXEL_BYTES + LIBRARY_BYTES;
}

static void invert(const struct plane *plane) {
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            row[x] = (uint8_t)~row[x];
        }
    }
}

static enum status keep(const struct zxing_codes *codes, struct buf *found, struct error *err) {
    const int count = library.ZXing_Barcodes_size(codes);
    enum status status = ST_OK;
    if (count >= CODES_SYMBOLS_MAX) { /* the library stops there, and may have left out others */
        return fail(err, ST_LIMIT, "the picture has more codes than can be hidden, %d at most",
                    CODES_SYMBOLS_MAX - 1);
    }
    for (int i = 0; i < count && status == ST_OK; i++) {
        const struct zxing_position position =
            library.ZXing_Barcode_position(library.ZXing_Barcodes_at(codes, i));
        struct codes_symbol symbol;
        for (int corner = 0; corner < 4; corner++) {
            symbol.corner[corner][0] = position.corner[corner].x;
            symbol.corner[corner][1] = position.corner[corner].y;
        }
        status = found->size / sizeof symbol < CODES_SYMBOLS_MAX
                     ? buf_append(found, &symbol, sizeof symbol, err)
                     : fail(err, ST_LIMIT, "the picture has more codes than can be hidden, %d at most",
                            CODES_SYMBOLS_MAX - 1);
    }
    return status;
}

static enum status read_one(const struct zxing_view *view, const struct zxing_options *options,
                            struct buf *found, struct error *err) {
    struct zxing_codes *codes = library.ZXing_ReadBarcodes(view, options);
    if (!codes) { /* it catches what it throws: it has no memory, or a fault of its own */
        return fail(err, ST_BUSY, "the reader of codes has no memory");
    }
    enum status status = keep(codes, found, err);
    library.ZXing_Barcodes_delete(codes);
    return status;
}

static struct zxing_options *make_options(void) {
    struct zxing_options *options = library.ZXing_ReaderOptions_new();
    if (options) {
        library.ZXing_ReaderOptions_setTryHarder(options, true);
        library.ZXing_ReaderOptions_setTryRotate(options, true);
        library.ZXing_ReaderOptions_setTryInvert(options, false); /* for codes in a square only */
        library.ZXing_ReaderOptions_setTryDownscale(options, true);
        library.ZXing_ReaderOptions_setMaxNumberOfSymbols(options, CODES_SYMBOLS_MAX);
    }
    return options;
}

enum status codes_read(const struct image *grey, struct buf *found, struct error *err) {
    const struct plane *plane = &grey->plane[0];
    if (!is_open) {
        return fail(err, ST_UNSUPPORTED, "codes cannot be read on this machine");
    }
    struct zxing_options *options = make_options();
    struct zxing_view *view = library.ZXing_ImageView_new(plane->data, (int)plane->width, (int)plane->height,
                                                          ZXING_GREY, (int)plane->stride, 1);
    enum status status = options && view ? read_one(view, options, found, err)
                                         : fail(err, ST_BUSY, "the reader of codes has no memory");
    if (status == ST_OK) {
        invert(plane);
        status = read_one(view, options, found, err);
    }
    if (view) {
        library.ZXing_ImageView_delete(view);
    }
    if (options) {
        library.ZXing_ReaderOptions_delete(options);
    }
    return status;
}
