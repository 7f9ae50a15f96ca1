/* SPDX-License-Identifier: MIT */
#include "server/evidence/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gnutls/crypto.h>

enum { PIECE = 64 << 10 };

enum status digest_of(struct bytes data, struct digest *digest, struct error *err) {
    int error = gnutls_hash_fast(GNUTLS_DIG_SHA256, data.data, data.size, digest->byte);
    return error == 0 ? ST_OK : fail(err, ST_BUSY, "SHA-256: %s", gnutls_strerror(error));
}

enum status digest_file(const char *path, struct digest *digest, struct error *err) {
    gnutls_hash_hd_t hash;
    uint8_t piece[PIECE];
    FILE *file = fopen(path, "re");
    if (!file) {
        return fail(err, ST_ARGUMENT, "cannot open %s: %s", path, strerror(errno));
    }
    int error = gnutls_hash_init(&hash, GNUTLS_DIG_SHA256);
    if (error == 0) {
        for (size_t got; error == 0 && (got = fread(piece, 1, sizeof piece, file)) > 0;) {
            error = gnutls_hash(hash, piece, got);
        }
        gnutls_hash_deinit(hash, digest->byte);
    }
    bool read = !ferror(file);
    fclose(file);
    if (!read) {
        return fail(err, ST_ARGUMENT, "cannot read %s", path);
    }
    return error == 0 ? ST_OK : fail(err, ST_BUSY, "SHA-256: %s", gnutls_strerror(error));
}

const char *digest_text(const struct digest *digest, char text[DIGEST_TEXT]) {
    for (unsigned i = 0; i < DIGEST_BYTES; i++) {
        snprintf(text + 2 * (size_t)i, 3, "%02x", digest->byte[i]);
    }
    return text;
}
