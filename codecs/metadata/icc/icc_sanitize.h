/* SPDX-License-Identifier: MIT
 * Writes ICC profiles anew. Formats and tag types are those of ICC.1:2022 (profile version 4.4), clauses 7 to
 * 10; version 2 has the same layouts and other texts. The input is not trusted. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_ICC_SANITIZE_H
#define BLURD_CODECS_METADATA_ICC_SANITIZE_H

#include "core/bytes.h"

enum { ICC_HEADER_SIZE = 128 };

/* Appends to *output, an empty buffer, a profile of RGB or grey with the colours of `profile`: the colorants,
 * curves, tables, white point, adaptation and code points, each as long as its type says, and up to 63 plain
 * letters of the name. Everything else is left out: private tags, other texts, dates and identifiers, and
 * every byte that no kept element contains. Appends nothing when the profile cannot be read, lacks what
 * defines colours, or does not fit into the buffer. A profile written by this function is written again
 * byte for byte. Fails only with ST_BUSY, without memory. Thread-safe. */
enum status icc_sanitize(struct bytes profile, struct buf *output, struct error *err);

#endif
