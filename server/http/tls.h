/* SPDX-License-Identifier: MIT
 * Certificate and key for TLS, which libmicrohttpd speaks through GnuTLS. */
#ifndef BLURD_SERVER_HTTP_TLS_H
#define BLURD_SERVER_HTTP_TLS_H

#include <gnutls/abstract.h>

#include "core/status.h"

/* A certificate chain with its key; immutable. */
struct tls_identity;

/* TLS 1.2 and 1.3, forward secrecy, authenticated ciphers only; no groups that cost much. */
#define TLS_PRIORITIES                                                                                       \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"             \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-SIGN-ALL:+SIGN-ECDSA-SECP256R1-SHA256:"                   \
    "+SIGN-ECDSA-SECP384R1-SHA384:+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SHA384:+SIGN-EDDSA-ED25519:"                \
    "+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-SHA256:+SIGN-RSA-SHA384:"                 \
    "-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE"

/* Reads both files (PEM). ST_ARGUMENT with a sentence when a file cannot be read, the certificate has
 * expired, or the key does not belong to it. */
enum status tls_load(struct tls_identity **identity, const char *certificate, const char *key,
                     struct error *err);
void tls_destroy(struct tls_identity *identity); /* NULL is allowed */

/* Copies certificates and key into objects that the caller frees, as GnuTLS expects from a certificate
 * callback. Returns 0 or an error of GnuTLS, after which nothing has to be freed. */
int tls_copy(const struct tls_identity *identity, gnutls_pcert_st **chain, unsigned *length,
             gnutls_privkey_t *key);

#endif
