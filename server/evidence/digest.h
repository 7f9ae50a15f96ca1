/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4), by GnuTLS. */
#ifndef BLURD_SERVER_EVIDENCE_DIGEST_H
#define BLURD_SERVER_EVIDENCE_DIGEST_H

#include "core/bytes.h"
#include "core/status.h"

enum { DIGEST_BYTES = 32, DIGEST_TEXT = 2 * DIGEST_BYTES + 1 /* with its zero */ };

struct digest {
    uint8_t byte[DIGEST_BYTES];
};

/* Thread-safe. ST_BUSY without memory. */
enum status digest_of(struct bytes data, struct digest *digest, struct error *err);

/* The same of a file; blocks. ST_ARGUMENT when it cannot be read. */
enum status digest_file(const char *path, struct digest *digest, struct error *err);

/* Writes it as hexadecimal digits, lower case. Returns `text`. */
const char *digest_text(const struct digest *digest, char text[DIGEST_TEXT]);

#endif
