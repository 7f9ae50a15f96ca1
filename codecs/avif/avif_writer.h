/* SPDX-License-Identifier: MIT
 * What still pictures and sequences share that are written as AVIF: pictures and encoders of libavif.
 * Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_WRITER_H
#define BLURD_CODECS_AVIF_AVIF_WRITER_H

#include "codecs/avif/avif_library.h"
#include "codecs/metadata/carried.h"

struct avif_writer {
    const struct avif_library *library;
    struct encode_options options; /* without pointers */
    struct carried carried;
    uint8_t code[4];     /* of the colours, as in a chunk cICP; */
    bool coded;          /* false: none */
    uint8_t orientation; /* that stays to be done by readers; 1: none */
};

/* Opens the library and makes the metadata of a picture of that shape, whose losses options->losses receives.
 * The caller ends *writer with avif_writer_close, also after a failure. ST_UNSUPPORTED without the library or
 * libaom, ST_BUSY without memory, ST_LIMIT after the deadline. */
enum status avif_writer_open(struct avif_writer *writer, const struct image_shape *shape,
                             const struct encode_options *options, const struct metadata *metadata,
                             struct error *err);

/* Makes what libavif encodes of a picture, with the metadata. It may lend the picture's planes and the
 * writer's metadata. The caller ends *stored with avif_writer_free, also after a failure. ST_BUSY without
 * memory. */
enum status avif_writer_image(const struct avif_writer *writer, const struct image *image, avifImage **stored,
                              struct error *err);
void avif_writer_free(const struct avif_writer *writer, avifImage *stored);

/* Samples of a picture of that shape, with colour reduced as it is written. */
uint64_t avif_writer_samples(const struct avif_writer *writer, const struct image_shape *shape);

/* An encoder of the writer's quality; the effort is from 0, fastest, to 9. The caller destroys it. ST_BUSY
 * without memory. */
enum { AVIF_EFFORTS = 10 };
enum status avif_writer_encoder(const struct avif_writer *writer, unsigned effort, avifEncoder **encoder,
                                struct error *err);

/* Records that libavif failed while it wrote: ST_INTERNAL unless `result` has a more precise status. */
enum status avif_writer_fail(const struct avif_writer *writer, avifResult result, const char *details,
                             struct error *err);

void avif_writer_close(struct avif_writer *writer);

#endif
