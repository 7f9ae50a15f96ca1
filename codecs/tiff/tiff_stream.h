/* SPDX-License-Identifier: MIT
 * A page of a TIFF file, opened with libtiff. libtiff reads a file that does not exist: the client's,
 * followed by a directory that is written here. It holds what tiff_layout.h has checked, and the client's
 * entries for the places of the data and the tables of JPEGs. So libtiff never reads other tags. Internal to
 * codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_STREAM_H
#define BLURD_CODECS_TIFF_TIFF_STREAM_H

#include "codecs/tiff/tiff_layout.h"
#include "codecs/tiff/tiff_library.h"

enum { TIFF_STREAM_DIRECTORY_MAX = 512, TIFF_STREAM_TEXT_MAX = 200 };

/* All 0 when it holds nothing. Not thread-safe; must not be moved while it is open. */
struct tiff_stream {
    const struct tiff_library *library;
    TIFF *tiff;
    struct bytes file;
    uint64_t position;
    uint64_t directory_at; /* behind the file */
    size_t directory_size;
    uint8_t directory[TIFF_STREAM_DIRECTORY_MAX];
    bool failed; /* libtiff has reported an error, or a warning that stands for one */
    bool memory; /* which is that it got no memory */
    char text[TIFF_STREAM_TEXT_MAX];
};

/* `whole`: strips are read as a whole, otherwise in rows. `memory`: bytes that libtiff may take. The layout
 * and its file must outlive the stream, which is ended with tiff_stream_finish, also after a failure. */
enum status tiff_stream_open(struct tiff_stream *stream, const struct tiff_layout *layout, bool whole,
                             size_t memory, struct error *err);

void tiff_stream_finish(struct tiff_stream *stream);

/* Fails, with libtiff's own words, if libtiff has failed; ST_OK otherwise. */
enum status tiff_stream_check(const struct tiff_stream *stream, bool success, struct error *err);

#endif
