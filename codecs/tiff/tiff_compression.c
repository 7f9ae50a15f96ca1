/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_compression.h"

#include <inttypes.h>
#include <stddef.h>

enum { NO_PREDICTOR = 1, HORIZONTAL = 2, FLOATING = 3 };

enum trait {
    LOSSY = 1,
    FAX = 2,       /* 1 bit, 1 sample */
    EIGHT = 4,     /* 8 bits */
    PREDICTED = 8, /* by differences to the pixel on the left */
    UNKNOWN = 16,  /* not supported */
};

static const struct compression {
    uint16_t number;
    uint16_t expansion;
    uint8_t traits;
    const char *name;
} compressions[] = {
    {TIFF_UNCOMPRESSED, 1, 0, "no compression"},
    {2, 0, FAX, "CCITT runs"},
    {3, 0, FAX, "CCITT group 3"},
    {4, 0, FAX, "CCITT group 4"},
    {5, 2730, PREDICTED, "LZW"}, /* 12 bits stand for at most 4096 bytes */
    {TIFF_JPEG, 0, LOSSY | EIGHT, "JPEG"},
    {8, 1032, PREDICTED, "Deflate"}, /* 258 bytes for 2 bits */
    {32946, 1032, PREDICTED, "Deflate"},
    {32771, 0, FAX, "CCITT runs in words"},
    {32773, 64, 0, "PackBits"}, /* 128 bytes for 2 */
    {34925, 0, PREDICTED, "LZMA"},
    {50000, 0, PREDICTED, "Zstandard"},
    {50001, 0, LOSSY | EIGHT, "WebP"},
    {6, 0, UNKNOWN, "JPEG of the old style"},
    {9, 0, UNKNOWN, "JBIG"},
    {10, 0, UNKNOWN, "JBIG in colour"},
    {32766, 0, UNKNOWN, "NeXT"},
    {32767, 0, UNKNOWN, "Sony's raw coding"},
    {32769, 0, UNKNOWN, "Epson's raw coding"},
    {32809, 0, UNKNOWN, "ThunderScan"},
    {32867, 0, UNKNOWN, "Kodak's raw coding"},
    {32908, 0, UNKNOWN, "PixarFilm"},
    {32909, 0, UNKNOWN, "PixarLog"},
    {33003, 0, UNKNOWN, "JPEG 2000"},
    {33004, 0, UNKNOWN, "JPEG 2000"},
    {33005, 0, UNKNOWN, "JPEG 2000"},
    {33007, 0, UNKNOWN, "JPEG of another style"},
    {34661, 0, UNKNOWN, "JBIG"},
    {34676, 0, UNKNOWN, "SGI Log"},
    {34677, 0, UNKNOWN, "SGI Log"},
    {34712, 0, UNKNOWN, "JPEG 2000"},
    {34713, 0, UNKNOWN, "Nikon's raw coding"},
    {34887, 0, UNKNOWN, "LERC"},
    {34892, 0, UNKNOWN, "lossy JPEG of DNG"},
    {34933, 0, UNKNOWN, "PNG"},
    {34934, 0, UNKNOWN, "JPEG XR"},
    {50002, 0, UNKNOWN, "JPEG XL"},
    {52546, 0, UNKNOWN, "JPEG XL"},
};

static const struct compression *find(uint64_t number) {
    for (size_t i = 0; i < sizeof(compressions) / sizeof(*compressions); i++) {
        if (compressions[i].number == number) {
            return &compressions[i];
        }
    }
    return NULL;
}

static enum status check_samples(const struct compression *found, unsigned samples, unsigned bits,
                                 struct error *err) {
    bool fax = (found->traits & FAX) != 0, eight = (found->traits & EIGHT) != 0;
    return (!fax || (bits == 1 && samples == 1)) && (!eight || bits == 8)
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "TIFF has %s with %u samples of %u bits, which is not supported",
                      found->name, samples, bits);
}

static enum status check_predictor(uint64_t predictor, unsigned bits, struct error *err) {
    bool whole = bits == 8 || bits == 16;
    return predictor == NO_PREDICTOR || (predictor == HORIZONTAL && whole)
               ? ST_OK
               : fail(err, predictor > FLOATING || predictor == 0 ? ST_CORRUPT : ST_UNSUPPORTED,
                      "TIFF has the predictor %" PRIu64
                      " with %u bits; 1, and with 8 and 16 bits 2, are supported",
                      predictor, bits);
}

enum status tiff_compression_check(uint64_t number, uint64_t predictor, unsigned samples, unsigned bits,
                                   struct tiff_compression *coding, struct error *err) {
    const struct compression *found = find(number);
    if (!found) {
        return fail(err, ST_UNSUPPORTED, "TIFF has the unknown compression %" PRIu64, number);
    }
    if ((found->traits & UNKNOWN) != 0) {
        return fail(err, ST_UNSUPPORTED, "TIFF is compressed by %s (%" PRIu64 "), which is not supported",
                    found->name, number);
    }
    if ((found->traits & PREDICTED) == 0) {
        predictor = NO_PREDICTOR; /* the tag means nothing for the others */
    }
    *coding = (struct tiff_compression){(uint16_t)number, (uint16_t)predictor, found->expansion,
                                        (found->traits & LOSSY) != 0, found->name};
    enum status status = check_samples(found, samples, bits, err);
    return status == ST_OK ? check_predictor(predictor, bits, err) : status;
}
