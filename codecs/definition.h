/* SPDX-License-Identifier: MIT
 * Types that codecs and their callers share: limits, header contents, encoding options, and the functions
 * of a codec. */
#ifndef BLURD_CODECS_DEFINITION_H
#define BLURD_CODECS_DEFINITION_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/metadata/density.h"
#include "core/bytes.h"
#include "core/image.h"
#include "core/producer.h"
#include "core/status.h"

struct codec_frames;
struct codec_link;
struct crew;
struct peek;

enum codec_id {
#define FORMAT(id, ...) CODEC_##id,
#include "codecs/formats.def"
    CODEC_COUNT
};

/* Limits on what decoding a picture may cost. */
struct codec_limits {
    uint64_t max_pixels;    /* width * height */
    uint32_t max_side;      /* width, height: pixels */
    uint32_t max_scans;     /* JPEG scans */
    uint32_t max_frames;    /* of an animation */
    uint64_t max_animation; /* pixels of all its frames together, each as large as the canvas */
    uint64_t max_memory;    /* bytes that the codec library may allocate by itself */
    int64_t deadline_ns;    /* CLOCK_MONOTONIC; ST_LIMIT when it passes; 0: none */
    /* JPEG: unfinished progressive blocks are not smoothed. A pixel then depends on other MCUs only
     * through interpolated colour: on the next pixel's, in each direction in which colour is reduced. */
    bool local_blocks;
    uint8_t reduction;               /* JPEG: sides are divided by 1 << reduction, 0 to 3: codec_reduced */
    bool local_colour;               /* JPEG: reduced colour is repeated instead of interpolated */
    bool libjpeg;                    /* JPEG: libjpeg-turbo decodes it, even where the own decoder could */
    bool first_frame;                /* of an animation the first frame is taken, instead of ST_UNSUPPORTED */
    bool partial;                    /* frames_scan: bytes may be missing behind the input */
    uint32_t page;                   /* with first_frame: of a file with pages this one, counted from 0 */
    bool gain_map;                   /* AVIF, HEIC: the gain map of the file's picture, in place of that */
    const struct progress *progress; /* receives decoded rows; may be NULL */
    struct crew *crew;               /* may help, with no effect on the pixels; NULL: none */
    struct codec_link *link;         /* isolated codecs run in its process; NULL: in this one */
    uint8_t *spare;    /* memory that a decoder may use in place of its own: codec_decode_spare */
    size_t spare_size; /* bytes of it */
};

enum {
    METADATA_ICC_MAX = 1 << 20,     /* bytes of an ICC profile that are carried */
    METADATA_CHUNKS_MAX = 64,       /* pieces of metadata that are carried */
    METADATA_MARKERS_MAX = 1000,    /* markers or chunks that a file may have before its pixels */
    METADATA_WRITTEN_MAX = 2 << 20, /* the most bytes of metadata in an encoded picture */
    METADATA_MEMORY_MAX = 6 << 20,  /* heap memory to make them, without the output */
};

enum chunk_kind {
    CHUNK_ICC,                /* an ICC profile, or one of its parts, which are in order */
    CHUNK_ICC_DEFLATED,       /* PNG iCCP: a name, zero, method 0 and a zlib stream */
    CHUNK_COLOUR,             /* PNG gAMA, cHRM, sRGB, cICP, mDCV, cLLI */
    CHUNK_COMMENT,            /* JPEG COM */
    CHUNK_TEXT,               /* PNG tEXt */
    CHUNK_TEXT_DEFLATED,      /* PNG zTXt */
    CHUNK_TEXT_INTERNATIONAL, /* PNG iTXt */
    CHUNK_TIME,               /* PNG tIME */
};

struct metadata_chunk {
    enum chunk_kind kind;
    uint32_t tag;      /* CHUNK_COLOUR: the four letters, big-endian */
    struct bytes data; /* without header and length; borrowed from the input */
};

/* The contents of a file except its pixels. Views borrow from the input. */
struct metadata {
    uint8_t orientation;    /* EXIF 1 to 8; 1 when absent or invalid */
    bool upright;           /* the codec decodes upright pixels: orientations in EXIF and XMP do not hold */
    bool xmp_deflated;      /* the packet is a zlib stream */
    bool gain_map;          /* AVIF, HEIC: there is one. A JPEG's is found by codecs/gainmap/gainmap.h */
    struct bytes exif;      /* the TIFF structure, without "Exif\0\0"; empty if none */
    struct bytes xmp;       /* the packet; empty if none */
    struct bytes photoshop; /* JPEG: Photoshop's resources, among which IPTC may be; empty if none */
    struct density density; /* from JFIF or pHYs; EXIF may have one when this is none */
    uint8_t jfif_minor;     /* JPEG: n of its JFIF version 1.n; 1 without one */
    unsigned losses;        /* bits of codecs/metadata/losses.h: metadata that can never be carried */
    uint16_t chunk_count;
    struct metadata_chunk chunk[METADATA_CHUNKS_MAX]; /* colour first, then texts and the time */
    struct buf store; /* holds what a view cannot borrow from the input; codec_picture_finish frees it */
};

/* The result of a probe, from the header alone. */
struct picture {
    enum codec_id codec;
    struct image_shape native; /* as the codec stores it: planar YCbCr where that is exact */
    struct image_shape pixels; /* interleaved: grey, grey+alpha, RGB, RGBA; always possible */
    bool lossless;    /* JPEG: of samples, without blocks, so that it cannot be decoded at a reduced size */
    bool patchable;   /* JPEG: an answer can keep its blocks: codecs/jpeg/jpeg_patch.h */
    bool progressive; /* several scans or interlaced */
    bool exact;      /* with REACH_BEFORE: the file was coded without losses, though its format allows them */
    bool restorable; /* codec_repack can restore a JPEG from the file */
    uint32_t frames; /* of an animation that one decoder goes through (struct codec_sequence); 0: of none */
    uint32_t plays;  /* of these; 0: for ever */
    struct metadata metadata;
};

enum subsampling { SUBSAMPLING_AUTO, SUBSAMPLING_420, SUBSAMPLING_422, SUBSAMPLING_444 };

/* The caller has checked the bounds. */
struct encode_options {
    uint8_t quality;              /* JPEG, WebP, AVIF: 1 to 100 */
    enum subsampling subsampling; /* JPEG; AUTO: as the planes are, else 4:2:0 */
    bool progressive;             /* JPEG */
    bool optimal;       /* JPEG: Huffman tables for this picture; a progressive one always has them */
    bool libjpeg;       /* JPEG: libjpeg-turbo encodes it, even where the own encoder could */
    uint8_t effort;     /* PNG, WebP, AVIF: 0 fastest to 9 smallest */
    bool lossless;      /* WebP */
    bool reduce;        /* PNG: channels and bits that no pixel needs are left out */
    bool keep_metadata; /* false: colour description only (ICC, and chunks of CHUNK_COLOUR) */
    uint32_t pictures;  /* that are encoded before the deadline, this one and those behind it; 0: this one */
    bool upright;       /* the pixels were rotated: write orientation 1 */
    unsigned *
        losses; /* receives bits of codecs/metadata/losses.h: metadata lost without being asked to; or NULL */
    int64_t deadline_ns;     /* CLOCK_MONOTONIC; ST_LIMIT when it passes; 0: none */
    struct crew *crew;       /* may help, with no effect on the bytes; NULL: none */
    struct codec_link *link; /* as in struct codec_limits */
};

/* Base of a codec's own encoding state. */
struct encoding {
    const struct codec *codec;
};

/* Nanoseconds of one core, which predict requests (server/planner/cost.h): photographs of 1920x1080
 * (docs/adr/0015), November 2026, with AVX2 on Zen 3; AVX-512 on Zen 5 takes about half as long. Only the
 * ratios between terms matter; the machine's factor is learnt. */
struct decode_terms {
    float pixel, byte; /* of the picture, of the file */
};

struct encode_extent {
    float pixels;
    float samples; /* with reduced colour counted as such; sides below 16 count as 16 */
    float bytes;   /* of all samples */
    /* Bytes that the file is expected to have if the picture is probably a screenshot or a drawing; else 0.
     */
    float graphic;
};

struct encode_cost {
    float ns;
    uint8_t kind; /* 0 or 1: two kinds of encoding whose factors are learnt apart */
};

/* What the coding of a pixel in a file may depend on, which redaction has to remove with it. The first covers
 * the others. */
enum codec_reach {
    REACH_BEFORE, /* all pixels before, from which blocks are predicted */
    REACH_BLOCK,  /* the pixels of its block, and of the next where colour is interpolated: JPEG */
    REACH_PIXEL,  /* the pixel alone, without losses */
};

/* What says a picture's colours in a file, other than an ICC profile. */
enum codec_colours {
    COLOURS_NONE,   /* without a profile they are sRGB */
    COLOURS_CODES,  /* code points, those of a chunk cICP */
    COLOURS_CHUNKS, /* all chunks of CHUNK_COLOUR */
};

/* The first bytes of a file; "?" stands for any byte. */
struct codec_signature {
    const char *bytes;
    size_t size;
};

/* A codec that the build lacks has only its names, signature, library and `sniff`. */
struct codec {
    const char *name;  /* "jpeg" */
    const char *title; /* "JPEG" */
    const char *mime;  /* "image/jpeg" */
    struct codec_signature signature;
    const char *library;               /* "libwebp", without which it is not built; NULL: it always is */
    bool (*sniff)(struct bytes input); /* NULL: the signature alone tells */
    bool isolated; /* runs in a process of its own (codecs/process/), for want of limits of its library */
    bool pages;    /* a file may have several, of which limits->page is one */
    bool turns;    /* a file says how its picture is turned, for all readers: not a matter of EXIF */
    enum codec_reach reach;
    bool exact;       /* with REACH_BEFORE: a file without planes and alpha has no losses */
    bool planes;      /* encodes PIXEL_YCBCR, in the form that its own `decode` gives */
    bool subsamples;  /* encodes in the asked subsampling */
    bool lossless;    /* encodes without losses when asked to, and then takes no planes */
    bool grey_as_rgb; /* writes grey as RGB, beside which no profile for grey may stand */
    unsigned holds;   /* bits of codecs/metadata/losses.h: what a file has a place for; the rest is lost */
    enum codec_colours colours;
    /* Writes the density as a file of this format holds it, in at most 9 bytes. False: the format cannot hold
     * it. NULL: only EXIF has a place for it. */
    bool (*write_density)(struct density density, uint8_t *bytes);
    bool familiar;   /* clients that take anything know it */
    uint8_t rank;    /* of formats that Accept wants alike the least is written; 0: not by Accept */
    uint8_t quality; /* where a request gives none; 0: that of the parameter */
    uint8_t effort;  /* the same with losses, for pictures of at most effort_pixels */
    uint32_t effort_pixels;
    uint32_t side_max;                /* pixels of a side that a file can hold; 0: as many as a picture has */
    uint32_t byte_pixels;             /* the most pixels that a byte of a file can hold; 0: any number */
    struct decode_terms decode_ns[2]; /* the second of progressive or interlaced files */
    struct encode_cost (*encode_cost)(const struct encode_extent *extent,
                                      const struct encode_options *options);
    enum status (*open)(struct error *err);              /* optional: opens the library, before the sandbox */
    bool (*peek)(struct bytes input, struct peek *peek); /* codecs/peek.h; sets no `codec` */
    const struct codec_frames *frames; /* animations (codecs/frames.h), in the daemon; NULL: none */
    enum status (*probe)(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                         struct error *err);
    /* `picture`: of `probe`; NULL where the codec runs in a process of its own. */
    enum status (*decode)(struct bytes input, const struct picture *picture,
                          const struct codec_limits *limits, const struct image *image, struct error *err);
    /* NULL: the codec only decodes. */
    enum status (*encode)(const struct image *image, const struct encode_options *options,
                          const struct metadata *metadata, struct buf *output, struct error *err);
    /* Optional. Codes a JPEG anew without decoding it, or restores that JPEG, to the byte: codec_repack. */
    enum status (*repack)(struct bytes input, const struct codec_limits *limits, struct buf *output,
                          struct error *err);
    size_t (*decode_bytes)(const struct picture *picture, size_t input);
    size_t (*decode_room)(const struct image_shape *shape);              /* NULL: none is of use */
    size_t (*decode_spare)(const struct picture *picture, size_t input); /* the same */
    size_t (*encode_bytes)(const struct image_shape *shape, const struct encode_options *options);
    /* Optional, all three: encoding while the picture is being made. */
    enum status (*encode_begin)(const struct image *image, const struct encode_options *options,
                                const struct metadata *metadata, struct buf *output,
                                struct encoding **encoding, struct error *err);
    void (*encode_rows)(struct encoding *encoding, uint32_t rows);
    enum status (*encode_end)(struct encoding *encoding, bool complete, struct error *err);
};

#endif
