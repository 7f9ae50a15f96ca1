/* SPDX-License-Identifier: MIT
 * A libjpeg compressor into a buffer, with a deadline and metadata, for pixels or coefficients. Internal to
 * codecs/.
 *
 *     jpeg_writer_init
 *     jpeg_writer_take_metadata   not guarded: it takes memory
 *     setjmp
 *     jpeg_writer_open            then libjpeg's parameters
 *     jpeg_writer_set_density     then its start
 *     jpeg_writer_put_metadata    then the picture, jpeg_finish_compress
 *     jpeg_destroy_compress       also after a jump, in any state
 *     jpeg_writer_finish          also after a failure */
#ifndef BLURD_CODECS_JPEG_JPEG_WRITER_H
#define BLURD_CODECS_JPEG_JPEG_WRITER_H

#include "codecs/jpeg/jpeg.h"
#include "codecs/jpeg/jpeg_segments.h"

/* State of writing one picture; libjpeg's client_data points to it. All 0 when it holds nothing. */
struct jpeg_writer {
    struct jpeg_compress_struct cinfo;
    struct jpeg_guard *guard;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    const struct encode_options *options;
    struct buf *output;
    struct jpeg_segments segments; /* metadata; made before the guarded part, freed after it */
    uint8_t *row;                  /* pixels converted for libjpeg; NULL: not needed yet */
};

/* Does not call libjpeg yet. All arguments must outlive *writer; the picture is appended to *output. */
void jpeg_writer_init(struct jpeg_writer *writer, struct jpeg_guard *guard,
                      const struct encode_options *options, struct buf *output);

/* Makes the segments that the options allow; `metadata` may be NULL, `shape` is the picture's. ST_BUSY
 * without memory. */
enum status jpeg_writer_take_metadata(struct jpeg_writer *writer, const struct metadata *metadata,
                                      const struct image_shape *shape);

/* Frees what jpeg_writer_take_metadata made. */
void jpeg_writer_finish(struct jpeg_writer *writer);

/* Guarded. Creates the compressor without parameters. */
void jpeg_writer_open(struct jpeg_writer *writer);

/* Guarded. Replaces the density in the JFIF header. */
void jpeg_writer_set_density(struct jpeg_writer *writer);

/* Guarded. Writes the segments between the JFIF header and the tables, where EXIF readers look. */
void jpeg_writer_put_metadata(struct jpeg_writer *writer);

#endif
