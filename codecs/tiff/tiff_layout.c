/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_layout.h"

#include <inttypes.h>

#include "codecs/limits.h"

enum { FORMAT_UNSIGNED = 1, FORMAT_VOID = 4, CMYK = 1 };
enum { EXTRA_ASSOCIATED = 1, EXTRA_UNASSOCIATED = 2 };

/* The number of a tag that has one value, or one for each sample, which must be alike. */
static enum status read_alike(const struct tiff_directory *directory, uint16_t tag, const char *name,
                              uint64_t otherwise, unsigned samples, uint64_t *value, struct error *err) {
    struct tiff_directory_entry entry;
    *value = otherwise;
    if (!tiff_directory_find(directory, tag, &entry)) {
        return ST_OK;
    }
    uint64_t count = tiff_directory_numbers(&entry);
    if (count == 0) {
        return fail(err, ST_CORRUPT, "TIFF is damaged: its %s cannot be read", name);
    }
    *value = tiff_directory_number(directory, &entry, 0);
    bool alike = true;
    for (uint64_t i = 1; i < count && i < samples; i++) {
        alike = alike && tiff_directory_number(directory, &entry, i) == *value;
    }
    return alike
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "TIFF has samples of different %s, which is not supported", name);
}

static enum status read_one(const struct tiff_directory *directory, uint16_t tag, const char *name,
                            uint64_t otherwise, uint64_t *value, struct error *err) {
    return read_alike(directory, tag, name, otherwise, 1, value, err);
}

static enum status read_size(struct tiff_layout *layout, const struct codec_limits *limits,
                             struct error *err) {
    uint64_t width, height;
    enum status status = read_one(&layout->directory, TIFF_TAG_WIDTH, "width", 0, &width, err);
    status =
        status == ST_OK ? read_one(&layout->directory, TIFF_TAG_HEIGHT, "height", 0, &height, err) : status;
    if (status != ST_OK) {
        return status;
    }
    layout->width = width < UINT32_MAX ? (uint32_t)width : UINT32_MAX;
    layout->height = height < UINT32_MAX ? (uint32_t)height : UINT32_MAX;
    return limits_check_size(layout->width, layout->height, limits, err);
}

static enum status check_format(uint64_t format, struct error *err) {
    static const char *const names[] = {[2] = "signed numbers",
                                        [3] = "floating-point numbers",
                                        [5] = "complex numbers",
                                        [6] = "complex numbers"};
    if (format == FORMAT_UNSIGNED || format == FORMAT_VOID) {
        return ST_OK;
    }
    const char *name = format < sizeof(names) / sizeof(*names) ? names[format] : NULL;
    return fail(err, ST_UNSUPPORTED, "TIFF has samples that are %s; only unsigned numbers are supported",
                name ? name : "of an unknown kind");
}

static enum status read_samples(struct tiff_layout *layout, struct error *err) {
    const struct tiff_directory *directory = &layout->directory;
    uint64_t samples, bits, format, planar;
    enum status status = read_one(directory, TIFF_TAG_SAMPLES, "number of samples", 1, &samples, err);
    if (status == ST_OK && (samples == 0 || samples > TIFF_SAMPLES_MAX)) {
        status =
            fail(err, samples == 0 ? ST_CORRUPT : ST_UNSUPPORTED,
                 "TIFF has %" PRIu64 " samples a pixel; 1 to %d are supported", samples, TIFF_SAMPLES_MAX);
    }
    layout->samples = status == ST_OK ? (uint8_t)samples : 1;
    status = status == ST_OK
                 ? read_alike(directory, TIFF_TAG_SAMPLE_FORMAT, "kinds", 1, layout->samples, &format, err)
                 : status;
    status = status == ST_OK ? check_format(format, err) : status;
    status = status == ST_OK ? read_alike(directory, TIFF_TAG_BITS, "bits", 1, layout->samples, &bits, err)
                             : status;
    if (status == ST_OK && (bits < 1 || bits > 16)) {
        status = fail(err, bits == 0 ? ST_CORRUPT : ST_UNSUPPORTED,
                      "TIFF has samples of %" PRIu64 " bits; 1 to 16 are supported", bits);
    }
    status = status == ST_OK ? read_one(directory, TIFF_TAG_PLANAR, "PlanarConfiguration", 1, &planar, err)
                             : status;
    if (status == ST_OK && planar != 1 && planar != 2) {
        status = fail(err, ST_CORRUPT, "TIFF is damaged: its PlanarConfiguration is %" PRIu64, planar);
    }
    if (status == ST_OK) {
        layout->bits = (uint8_t)bits;
        layout->separate = planar == 2 && samples > 1;
    }
    return status;
}

static enum status fail_colours(uint64_t colours, struct error *err) {
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {
        {4, "a transparency mask"},
        {8, "CIE L*a*b*"},
        {9, "ICC L*a*b*"},
        {10, "ITU L*a*b*"},
        {32803, "the colour filter array of a camera's sensor"},
        {32844, "CIE log L"},
        {32845, "CIE log Luv"},
        {34892, "linear raw"},
        {51177, "a depth map"},
        {52527, "a semantic mask"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (names[i].number == colours) {
            return fail(err, ST_UNSUPPORTED,
                        "TIFF has the colours of %s; grey, palettes, RGB, CMYK and YCbCr are supported",
                        names[i].name);
        }
    }
    return fail(err, ST_UNSUPPORTED,
                "TIFF has unknown colours (PhotometricInterpretation %" PRIu64
                "); grey, palettes, RGB, CMYK and YCbCr are supported",
                colours);
}

unsigned tiff_layout_inks(const struct tiff_layout *layout) {
    switch (layout->colours) {
    case TIFF_RGB:
    case TIFF_YCBCR:
        return 3;
    case TIFF_INKS:
        return 4;
    default:
        return 1;
    }
}

unsigned tiff_layout_stride(const struct tiff_layout *layout) {
    return layout->separate ? 1 : layout->samples;
}

bool tiff_layout_is_converted(const struct tiff_layout *layout) {
    return layout->colours == TIFF_YCBCR && layout->coding.number == TIFF_JPEG && !layout->separate;
}

/* Of an extra sample without a meaning nothing is known: it is no alpha. */
static enum status read_alpha(struct tiff_layout *layout, struct error *err) {
    struct tiff_directory_entry entry;
    const unsigned inks = tiff_layout_inks(layout);
    layout->alpha = TIFF_NO_ALPHA;
    if (layout->samples < inks) {
        return fail(err, ST_CORRUPT, "TIFF is damaged: it has %u samples a pixel, and its colours need %u",
                    layout->samples, inks);
    }
    if (!tiff_directory_find(&layout->directory, TIFF_TAG_EXTRA_SAMPLES, &entry)) {
        return ST_OK;
    }
    for (unsigned i = 0; i < tiff_directory_numbers(&entry) && inks + i < layout->samples; i++) {
        uint64_t kind = tiff_directory_number(&layout->directory, &entry, i);
        if (layout->alpha == TIFF_NO_ALPHA && (kind == EXTRA_ASSOCIATED || kind == EXTRA_UNASSOCIATED)) {
            layout->alpha = (uint8_t)(inks + i);
            layout->associated = kind == EXTRA_ASSOCIATED;
        }
    }
    bool plain = layout->colours == TIFF_BLACK_IS_ZERO || layout->colours == TIFF_RGB;
    return !layout->associated || plain
               ? ST_OK
               : fail(err, ST_UNSUPPORTED,
                      "TIFF has colours that were multiplied by alpha and are neither "
                      "RGB nor grey with black as 0, which is not supported");
}

static enum status read_palette(struct tiff_layout *layout, struct error *err) {
    enum { BITS_MAX = 8, SHORT = 3 };
    struct tiff_directory_entry entry;
    if (layout->bits > BITS_MAX) {
        return fail(err, ST_UNSUPPORTED, "TIFF has a palette of %u bits; up to %d are supported",
                    layout->bits, BITS_MAX);
    }
    if (!tiff_directory_find(&layout->directory, TIFF_TAG_COLOUR_MAP, &entry) || entry.type != SHORT ||
        tiff_directory_numbers(&entry) < 3u << layout->bits) {
        return fail(err, ST_CORRUPT, "TIFF is damaged or cut short: it lacks its palette");
    }
    layout->palette = entry.value;
    return ST_OK;
}

static bool is_power(uint64_t n) {
    return n == 1 || n == 2 || n == 4;
}

static enum status read_chroma(struct tiff_layout *layout, struct error *err) {
    struct tiff_directory_entry entry;
    uint64_t x = 2, y = 2; /* the defaults */
    if (tiff_layout_is_converted(layout)) {
        return layout->samples == 3
                   ? ST_OK
                   : fail(err, ST_UNSUPPORTED,
                          "TIFF has YCbCr in JPEG with extra samples, which is not supported");
    }
    if (tiff_directory_find(&layout->directory, TIFF_TAG_CHROMA_SAMPLING, &entry)) {
        bool both = tiff_directory_numbers(&entry) >= 2;
        x = both ? tiff_directory_number(&layout->directory, &entry, 0) : 0;
        y = both ? tiff_directory_number(&layout->directory, &entry, 1) : 0;
    }
    if (!is_power(x) || !is_power(y)) {
        return fail(err, ST_CORRUPT, "TIFF is damaged: its YCbCrSubsampling is invalid");
    }
    layout->halving_x = (uint8_t)x, layout->halving_y = (uint8_t)y;
    bool halved = x > 1 || y > 1;
    if (layout->bits != 8 || (halved && (layout->separate || layout->samples != 3))) {
        return fail(
            err, ST_UNSUPPORTED,
            "TIFF has YCbCr of %u bits in %u samples, %s; only 8 bits are supported, and reduced chroma "
            "only in one plane and without extra samples",
            layout->bits, layout->samples, layout->separate ? "in planes" : "in one plane");
    }
    return ST_OK;
}

static enum status read_colours(struct tiff_layout *layout, struct error *err) {
    uint64_t colours, set;
    enum status status = read_one(&layout->directory, TIFF_TAG_PHOTOMETRIC, "PhotometricInterpretation",
                                  UINT64_MAX, &colours, err);
    if (status != ST_OK) {
        return status;
    }
    if (colours == UINT64_MAX) {
        return fail(err, ST_CORRUPT,
                    "TIFF is damaged: it lacks PhotometricInterpretation, the kind of its colours");
    }
    if (colours > TIFF_YCBCR || colours == 4) {
        return fail_colours(colours, err);
    }
    layout->colours = (uint8_t)colours;
    set = tiff_directory_value(&layout->directory, TIFF_TAG_INK_SET, CMYK);
    if (layout->colours == TIFF_INKS && set != CMYK) {
        return fail(err, ST_UNSUPPORTED, "TIFF has inks that are not CMYK, which is not supported");
    }
    status = read_alpha(layout, err);
    if (status == ST_OK && layout->colours == TIFF_PALETTE) {
        status = read_palette(layout, err);
    }
    return status == ST_OK && layout->colours == TIFF_YCBCR ? read_chroma(layout, err) : status;
}

static enum status read_coding(struct tiff_layout *layout, struct error *err) {
    uint64_t compression, predictor;
    enum status status = read_one(&layout->directory, TIFF_TAG_COMPRESSION, "compression", TIFF_UNCOMPRESSED,
                                  &compression, err);
    status = status == ST_OK
                 ? read_one(&layout->directory, TIFF_TAG_PREDICTOR, "predictor", 1, &predictor, err)
                 : status;
    if (status == ST_OK) {
        status = tiff_compression_check(compression, predictor, layout->samples, layout->bits,
                                        &layout->coding, err);
    }
    return status;
}

static uint32_t divide_up(uint32_t n, uint32_t by) {
    return n / by + (n % by != 0);
}

static void measure(struct tiff_layout *layout) {
    if (layout->halving_x > 1 || layout->halving_y > 1) { /* the samples of Y, then Cb and Cr */
        uint64_t clump = (uint64_t)layout->halving_x * layout->halving_y + 2;
        layout->piece_bytes = clump * divide_up(layout->piece_width, layout->halving_x) *
                              divide_up(layout->piece_height, layout->halving_y);
    } else {
        uint64_t row = (uint64_t)layout->piece_width * tiff_layout_stride(layout) * layout->bits;
        layout->piece_bytes = (row + 7) / 8 * layout->piece_height;
    }
}

static enum status read_pieces(struct tiff_layout *layout, struct error *err) {
    enum { SIDE_MAX = 1 << 20 };
    const struct tiff_directory *directory = &layout->directory;
    uint64_t width = tiff_directory_value(directory, TIFF_TAG_TILE_WIDTH, 0);
    uint64_t height = tiff_directory_value(directory, TIFF_TAG_TILE_HEIGHT, 0);
    layout->tiled = width > 0 && height > 0;
    if (!layout->tiled) {
        width = layout->width;
        height = tiff_directory_value(directory, TIFF_TAG_ROWS_PER_STRIP, layout->height);
        height = height > 0 && height < layout->height ? height : layout->height;
    }
    if (width > SIDE_MAX || height > SIDE_MAX) {
        return fail(err, ST_LIMIT,
                    "TIFF has tiles of %" PRIu64 " x %" PRIu64 " pixels, too many for its picture", width,
                    height);
    }
    layout->piece_width = (uint32_t)width, layout->piece_height = (uint32_t)height;
    layout->columns = divide_up(layout->width, layout->piece_width);
    layout->rows = divide_up(layout->height, layout->piece_height);
    measure(layout);
    return ST_OK;
}

enum status tiff_layout_read(struct tiff_layout *layout, const struct tiff_directory *directory,
                             const struct codec_limits *limits, struct error *err) {
    *layout = (struct tiff_layout){.directory = *directory};
    if (tiff_directory_value(directory, TIFF_TAG_DNG_VERSION, 0) != 0) {
        return fail(err, ST_UNSUPPORTED, "the file is a camera's raw picture (DNG), which is not supported");
    }
    enum status status = read_size(layout, limits, err);
    status = status == ST_OK ? read_samples(layout, err) : status;
    status = status == ST_OK ? read_coding(layout, err) : status;
    status = status == ST_OK ? read_colours(layout, err) : status;
    status = status == ST_OK ? read_pieces(layout, err) : status;
    return status;
}

struct image_shape tiff_layout_shape(const struct tiff_layout *layout) {
    bool alpha = layout->alpha != TIFF_NO_ALPHA;
    bool grey = layout->colours == TIFF_WHITE_IS_ZERO || layout->colours == TIFF_BLACK_IS_ZERO;
    return (struct image_shape){
        .model = grey ? (alpha ? PIXEL_GRAY_ALPHA : PIXEL_GRAY) : (alpha ? PIXEL_RGBA : PIXEL_RGB),
        .depth = layout->bits > 8 ? 16 : 8,
        .width = layout->width,
        .height = layout->height,
    };
}
