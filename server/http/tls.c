/* SPDX-License-Identifier: MIT */
#include "server/http/tls.h"

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/process/plain_file.h"

enum { PEM_MAX = 1 << 20 /* bytes; a chain has some thousand */ };

struct tls_identity {
    gnutls_x509_crt_t *chain;
    unsigned length;
    gnutls_x509_privkey_t key;
};

/* Reads a file; `what` it is, for the error. The caller frees text->data with free(). */
static enum status load_text(const char *path, const char *what, gnutls_datum_t *text, struct error *err) {
    size_t size = 0;
    struct error cause = {.text = "out of memory"};
    text->data = malloc(PEM_MAX + 1);
    if (!text->data || plain_file_read(path, text->data, PEM_MAX, &size, &cause) != ST_OK) {
        free(text->data);
        return fail(err, ST_ARGUMENT, "cannot read the %s file %s: %s", what, path, cause.text);
    }
    text->size = (unsigned)size;
    return ST_OK;
}

static enum status load_chain(struct tls_identity *identity, const char *path, struct error *err) {
    gnutls_datum_t text;
    enum status status = load_text(path, "certificate", &text, err);
    if (status != ST_OK) {
        return status;
    }
    int error = gnutls_x509_crt_list_import2(&identity->chain, &identity->length, &text, GNUTLS_X509_FMT_PEM,
                                             GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
    free(text.data);
    if (error) {
        return fail(err, ST_ARGUMENT, "%s holds no certificate chain: %s", path, gnutls_strerror(error));
    }
    time_t end = gnutls_x509_crt_get_expiration_time(identity->chain[0]);
    if (end < time(NULL)) {
        return fail(err, ST_ARGUMENT, "the certificate in %s has expired", path);
    }
    return ST_OK;
}

static enum status load_key(struct tls_identity *identity, const char *path, struct error *err) {
    gnutls_datum_t text;
    enum status status = load_text(path, "key", &text, err);
    if (status != ST_OK) {
        return status;
    }
    int error = gnutls_x509_privkey_import2(identity->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    explicit_bzero(text.data, text.size);
    free(text.data);
    return error ? fail(err, ST_ARGUMENT, "%s holds no private key: %s", path, gnutls_strerror(error))
                 : ST_OK;
}

/* Whether both name the same public key. */
static bool belong_together(const struct tls_identity *identity) {
    unsigned char of_chain[32], of_key[32];
    size_t chain_size = sizeof of_chain, key_size = sizeof of_key;
    return gnutls_x509_crt_get_key_id(identity->chain[0], GNUTLS_KEYID_USE_SHA256, of_chain, &chain_size) ==
               0 &&
           gnutls_x509_privkey_get_key_id(identity->key, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) == 0 &&
           chain_size == key_size && memcmp(of_chain, of_key, key_size) == 0;
}

enum status tls_load(struct tls_identity **identity, const char *certificate, const char *key,
                     struct error *err) {
    struct tls_identity *made = calloc(1, sizeof *made);
    if (!made || gnutls_x509_privkey_init(&made->key) != 0) {
        free(made);
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = load_chain(made, certificate, err);
    if (status == ST_OK) {
        status = load_key(made, key, err);
    }
    if (status == ST_OK && !belong_together(made)) {
        status =
            fail(err, ST_ARGUMENT, "the key in %s is not that of the certificate in %s", key, certificate);
    }
    if (status != ST_OK) {
        tls_destroy(made);
        return status;
    }
    *identity = made;
    return ST_OK;
}

void tls_destroy(struct tls_identity *identity) {
    if (identity) {
        for (unsigned i = 0; i < identity->length; i++) {
            gnutls_x509_crt_deinit(identity->chain[i]);
        }
        gnutls_free(identity->chain);
        gnutls_x509_privkey_deinit(identity->key);
        free(identity);
    }
}

int tls_copy(const struct tls_identity *identity, gnutls_pcert_st **chain, unsigned *length,
             gnutls_privkey_t *key) {
    int error = gnutls_privkey_init(key);
    if (error) {
        return error;
    }
    error = gnutls_privkey_import_x509(*key, identity->key, GNUTLS_PRIVKEY_IMPORT_COPY);
    *chain = gnutls_calloc(identity->length, sizeof **chain);
    *length = identity->length;
    unsigned count = 0;
    for (; *chain && error == 0 && count < identity->length; count++) {
        error = gnutls_pcert_import_x509(&(*chain)[count], identity->chain[count], 0);
    }
    if (*chain && error == 0) {
        return 0;
    }
    for (unsigned i = 0; i + 1 < count; i++) { /* all but the one that failed */
        gnutls_pcert_deinit(&(*chain)[i]);
    }
    gnutls_free(*chain);
    gnutls_privkey_deinit(*key);
    return error ? error : GNUTLS_E_MEMORY_ERROR;
}
