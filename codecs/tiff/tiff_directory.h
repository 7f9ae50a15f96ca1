/* SPDX-License-Identifier: MIT
 * The directories of a TIFF file, whose entries have a tag, a type and values, in either byte order and with
 * offsets of 32 (TIFF) or 64 bits (BigTIFF). The input is not trusted: no offset in it can cause a read
 * outside. Layouts: TIFF 6.0, section 2, and the BigTIFF design of libtiff. Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_DIRECTORY_H
#define BLURD_CODECS_TIFF_TIFF_DIRECTORY_H

#include "core/bytes.h"

enum tiff_directory_tag {
    TIFF_TAG_SUBFILE = 254,
    TIFF_TAG_WIDTH = 256,
    TIFF_TAG_HEIGHT = 257,
    TIFF_TAG_BITS = 258,
    TIFF_TAG_COMPRESSION = 259,
    TIFF_TAG_PHOTOMETRIC = 262,
    TIFF_TAG_FILL_ORDER = 266,
    TIFF_TAG_STRIP_OFFSETS = 273,
    TIFF_TAG_ORIENTATION = 274,
    TIFF_TAG_SAMPLES = 277,
    TIFF_TAG_ROWS_PER_STRIP = 278,
    TIFF_TAG_STRIP_BYTES = 279,
    TIFF_TAG_X_RESOLUTION = 282,
    TIFF_TAG_Y_RESOLUTION = 283,
    TIFF_TAG_PLANAR = 284,
    TIFF_TAG_T4_OPTIONS = 292,
    TIFF_TAG_T6_OPTIONS = 293,
    TIFF_TAG_RESOLUTION_UNIT = 296,
    TIFF_TAG_PREDICTOR = 317,
    TIFF_TAG_COLOUR_MAP = 320,
    TIFF_TAG_TILE_WIDTH = 322,
    TIFF_TAG_TILE_HEIGHT = 323,
    TIFF_TAG_TILE_OFFSETS = 324,
    TIFF_TAG_TILE_BYTES = 325,
    TIFF_TAG_SUBDIRECTORIES = 330,
    TIFF_TAG_INK_SET = 332,
    TIFF_TAG_EXTRA_SAMPLES = 338,
    TIFF_TAG_SAMPLE_FORMAT = 339,
    TIFF_TAG_JPEG_TABLES = 347,
    TIFF_TAG_LUMA = 529,
    TIFF_TAG_CHROMA_SAMPLING = 530,
    TIFF_TAG_REFERENCE_BLACK_WHITE = 532,
    TIFF_TAG_XMP = 700,
    TIFF_TAG_IPTC = 33723,
    TIFF_TAG_PHOTOSHOP = 34377,
    TIFF_TAG_PHOTO = 34665,
    TIFF_TAG_PROFILE = 34675,
    TIFF_TAG_GPS = 34853,
    TIFF_TAG_INTEROP = 40965,
    TIFF_TAG_DNG_VERSION = 50706,
};

enum { TIFF_DIRECTORY_ENTRIES_MAX = 4096 };

struct tiff_directory {
    struct bytes file;
    bool little; /* the byte order of all numbers */
    bool big;    /* BigTIFF */
    uint32_t count;
    uint64_t at;   /* of the first entry */
    uint64_t next; /* offset of the following directory; 0: none */
};

struct tiff_directory_entry {
    uint16_t tag, type;
    uint64_t count;      /* of values */
    struct bytes value;  /* empty when it lies outside of the file */
    struct bytes stored; /* the entry itself: 12 or 20 bytes */
};

/* Reads the file's header. `next` is then the first directory, and there are no entries. False without a
 * header. */
bool tiff_directory_open(struct tiff_directory *directory, struct bytes file);

/* Goes to the directory at `offset`. False, with the directory unchanged, when it lies outside of the file,
 * or has no entry or more than TIFF_DIRECTORY_ENTRIES_MAX. */
bool tiff_directory_go(struct tiff_directory *directory, uint64_t offset);

/* `index` is below count. */
struct tiff_directory_entry tiff_directory_at(const struct tiff_directory *directory, uint32_t index);

/* The first entry with that tag. */
bool tiff_directory_find(const struct tiff_directory *directory, uint16_t tag,
                         struct tiff_directory_entry *entry);

/* The number of values of an entry that lie in the file, for whole numbers of any size; 0 for other types. */
uint64_t tiff_directory_numbers(const struct tiff_directory_entry *entry);

/* The value with that index, which is below tiff_directory_numbers. */
uint64_t tiff_directory_number(const struct tiff_directory *directory,
                               const struct tiff_directory_entry *entry, uint64_t index);

/* The first value of a tag, or `otherwise` without the tag or without a whole number in it. */
uint64_t tiff_directory_value(const struct tiff_directory *directory, uint16_t tag, uint64_t otherwise);

/* A fraction of an entry of fractions, as numerator and denominator. False when there is none. */
bool tiff_directory_ratio(const struct tiff_directory *directory, uint16_t tag, unsigned index,
                          uint32_t ratio[2]);

/* Writes a number of `size` bytes in the file's order. */
void tiff_directory_put(const struct tiff_directory *directory, uint8_t *p, uint64_t value, unsigned size);

#endif
