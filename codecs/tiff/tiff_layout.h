/* SPDX-License-Identifier: MIT
 * How the directory of a TIFF says that a picture is stored, checked as a whole before any memory is taken.
 * Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_LAYOUT_H
#define BLURD_CODECS_TIFF_TIFF_LAYOUT_H

#include "codecs/definition.h"
#include "codecs/tiff/tiff_compression.h"
#include "codecs/tiff/tiff_directory.h"

enum {
    TIFF_SAMPLES_MAX = 16,      /* samples of a pixel */
    TIFF_PIECES_MAX = 1 << 18,  /* strips, or tiles */
    TIFF_PIECE_ROOM = 16 << 20, /* bytes that a tile may have beyond those of the picture */
    TIFF_NO_ALPHA = TIFF_SAMPLES_MAX,
};

enum tiff_layout_colours { /* values of PhotometricInterpretation */
                           TIFF_WHITE_IS_ZERO = 0,
                           TIFF_BLACK_IS_ZERO = 1,
                           TIFF_RGB = 2,
                           TIFF_PALETTE = 3,
                           TIFF_INKS = 5,
                           TIFF_YCBCR = 6,
};

struct tiff_layout {
    struct tiff_directory directory;
    uint32_t width, height;
    uint8_t bits;    /* of a sample: 1 to 16 */
    uint8_t samples; /* of a pixel: 1 to TIFF_SAMPLES_MAX */
    uint8_t colours; /* enum tiff_layout_colours */
    uint8_t alpha;   /* the index of that sample; TIFF_NO_ALPHA: none */
    bool associated; /* colours were multiplied by alpha */
    bool separate;   /* each sample is a plane of its own */
    struct tiff_compression coding;
    uint8_t halving_x,
        halving_y;        /* TIFF_YCBCR that libtiff does not convert: pixels for a sample of Cb and Cr */
    struct bytes palette; /* TIFF_PALETTE: 3 << bits numbers of 16 bits */
    bool tiled;
    uint32_t piece_width, piece_height; /* of a tile or strip: pixels */
    uint32_t columns, rows;             /* of pieces, in each plane */
    uint64_t piece_bytes;               /* of a decoded piece of one plane */
};

/* Reads and checks the directory. ST_CORRUPT, ST_UNSUPPORTED or ST_LIMIT, each with the reason. */
enum status tiff_layout_read(struct tiff_layout *layout, const struct tiff_directory *directory,
                             const struct codec_limits *limits, struct error *err);

/* The shape that it is decoded to. */
struct image_shape tiff_layout_shape(const struct tiff_layout *layout);

/* Samples of colour: 1, 3 or 4. */
unsigned tiff_layout_inks(const struct tiff_layout *layout);

/* Samples of a pixel in a piece: all, or 1 when they are in planes. */
unsigned tiff_layout_stride(const struct tiff_layout *layout);

/* Whether libtiff has libjpeg make RGB of YCbCr. */
bool tiff_layout_is_converted(const struct tiff_layout *layout);

/* Checks that all data lie within the file, none much more than once, and may be enough for the picture.
 * ST_CORRUPT or ST_LIMIT. */
enum status tiff_layout_check_data(const struct tiff_layout *layout, struct error *err);

#endif
