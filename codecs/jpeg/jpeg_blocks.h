/* SPDX-License-Identifier: MIT
 * Whether the blocks of a JPEG can be written to another one. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_BLOCKS_H
#define BLURD_CODECS_JPEG_JPEG_BLOCKS_H

#include "codecs/jpeg/jpeg_reader.h"

/* Guarded, once the header is read. ST_UNSUPPORTED: coding, colours, sampling or tables do not allow it, or
 * ST_LIMIT: the coefficients need too much memory. `use` ends the sentence: "patched". */
enum status jpeg_blocks_check(const struct jpeg_reader *reader, const char *use);

/* Its part about tables, for a second time behind the scans, which may bring other tables. */
enum status jpeg_blocks_check_tables(const struct jpeg_reader *reader, const char *use);

#endif
