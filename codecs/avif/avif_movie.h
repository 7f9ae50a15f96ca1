/* SPDX-License-Identifier: MIT
 * The box `moov` of an AVIF sequence that libavif has written. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_MOVIE_H
#define BLURD_CODECS_AVIF_AVIF_MOVIE_H

#include "core/bytes.h"

/* Appends the file to *output, with what libavif before 1.0 cannot say of it: that its frames are played
 * `plays` times, 0 for ever, by an edit list (ISO/IEC 14496-12, 8.6.6) and the durations of the tracks. Times
 * of creation become 0, so that equal pictures give equal bytes. ST_INTERNAL for a file that no libavif
 * writes, ST_LIMIT and ST_BUSY as buf_reserve. Thread-safe. */
enum status avif_movie_write(struct bytes file, uint32_t plays, struct buf *output, struct error *err);

#endif
