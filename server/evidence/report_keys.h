/* SPDX-License-Identifier: MIT
 * The key that signs reports, and the public keys that are trusted to have signed some: Ed25519 (RFC 8032),
 * by GnuTLS. A key has a name, by which a report says who signed it: that of its file without folder and
 * ending. A new key gets a new file, and reports of the old one stay good while its public key is trusted. */
#ifndef BLURD_SERVER_EVIDENCE_REPORT_KEYS_H
#define BLURD_SERVER_EVIDENCE_REPORT_KEYS_H

#include <stdbool.h>

#include "core/bytes.h"
#include "core/status.h"

enum {
    REPORT_KEY_NAME_MAX = 63,
    REPORT_KEY_BYTES = 32,
    REPORT_SIGNATURE_BYTES = 64,
    REPORT_KEYS_MAX = 64, /* that are trusted */
    REPORT_KEY_LINE_MAX = REPORT_KEY_NAME_MAX + 64,
};

/* Immutable, thread-safe. */
struct report_keys;

/* Reads the private key (PEM, PKCS #8), unless `key` is "", and the file of trusted keys, unless `trusted` is
 * "": each line has a name and the base64 of a public key, as report_keys_line writes it. Empty lines and
 * lines that begin with # are comments. The signing key is trusted without a line. ST_ARGUMENT names the file
 * and what is wrong, but never a key. */
enum status report_keys_load(struct report_keys **keys, const char *key, const char *trusted,
                             struct error *err);

/* NULL is allowed. */
void report_keys_destroy(struct report_keys *keys);

/* The name of the key that signs; NULL: there is none, which NULL for the keys means, too. */
const char *report_keys_signer(const struct report_keys *keys);

/* Writes the line of the signing key, which is there: its name, a blank, its public key in base64. */
void report_keys_line(const struct report_keys *keys, char line[REPORT_KEY_LINE_MAX]);

/* Signs with the signing key, which is there. ST_BUSY without memory. */
enum status report_keys_sign(struct report_keys *keys, struct bytes data,
                             uint8_t signature[REPORT_SIGNATURE_BYTES], struct error *err);

/* ST_OK: the key of that name, which is trusted, signed the data. ST_ARGUMENT: no key of that name is
 * trusted, or another one signed, or other data were signed. */
enum status report_keys_verify(const struct report_keys *keys, const char *name, struct bytes data,
                               struct bytes signature, struct error *err);

#endif
