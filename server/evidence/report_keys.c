/* SPDX-License-Identifier: MIT */
#include "server/evidence/report_keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/abstract.h>
#include <gnutls/x509.h>

#include "filters/argument/value.h"

struct public_key {
    char name[REPORT_KEY_NAME_MAX + 1];
    uint8_t byte[REPORT_KEY_BYTES];
};

struct report_keys {
    gnutls_privkey_t signer; /* NULL: none */
    pthread_mutex_t lock;    /* of the signer, which GnuTLS does not say that threads may share */
    unsigned count;
    struct public_key trusted[REPORT_KEYS_MAX]; /* the signer's first, if there is one */
};

static bool is_name(const char *name, size_t size) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return size > 0 && size <= REPORT_KEY_NAME_MAX && strspn(name, letters) >= size;
}

/* The file's name without folder and ending. */
static enum status name_of(const char *path, char name[REPORT_KEY_NAME_MAX + 1], struct error *err) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    const size_t size = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (!is_name(base, size)) {
        return fail(err, ST_ARGUMENT,
                    "%s: the key's name, which is the file's without its ending, must have 1 to %d letters, "
                    "digits, dots, dashes and underscores",
                    path, REPORT_KEY_NAME_MAX);
    }
    memcpy(name, base, size);
    name[size] = '\0';
    return ST_OK;
}

/* GnuTLS keeps the public half of an Ed25519 key as x. */
static enum status take_public(gnutls_x509_privkey_t key, const char *path, struct public_key *public,
                               struct error *err) {
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    gnutls_datum_t x = {0}, y = {0}, k = {0};
    int error = gnutls_x509_privkey_export_ecc_raw(key, &curve, &x, &y, &k);
    const bool right = error == 0 && curve == GNUTLS_ECC_CURVE_ED25519 && x.size == REPORT_KEY_BYTES;
    if (right) {
        memcpy(public->byte, x.data, sizeof public->byte);
    }
    if (k.data) {
        gnutls_memset(k.data, 0, k.size);
    }
    gnutls_free(x.data), gnutls_free(y.data), gnutls_free(k.data);
    return right
               ? ST_OK
               : fail(err, ST_ARGUMENT,
                      "%s holds no Ed25519 key; `openssl genpkey -algorithm ed25519 -out NAME.pem` makes one",
                      path);
}

static enum status import_signer(struct report_keys *keys, gnutls_x509_privkey_t key, const char *path,
                                 struct error *err) {
    gnutls_datum_t text = {0};
    int error = gnutls_load_file(path, &text);
    if (error != 0) {
        return fail(err, ST_ARGUMENT, "cannot read %s: %s", path, gnutls_strerror(error));
    }
    error = gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    gnutls_memset(text.data, 0, text.size);
    gnutls_free(text.data);
    if (error != 0) {
        return fail(err, ST_ARGUMENT, "%s holds no private key in PEM: %s", path, gnutls_strerror(error));
    }
    enum status status = take_public(key, path, &keys->trusted[0], err);
    if (status != ST_OK || gnutls_privkey_init(&keys->signer) != 0 ||
        gnutls_privkey_import_x509(keys->signer, key, GNUTLS_PRIVKEY_IMPORT_COPY) != 0) {
        return status != ST_OK ? status : fail(err, ST_BUSY, "out of memory for the key of reports");
    }
    keys->count = 1;
    return ST_OK;
}

static enum status load_signer(struct report_keys *keys, const char *path, struct error *err) {
    gnutls_x509_privkey_t key;
    enum status status = name_of(path, keys->trusted[0].name, err);
    if (status != ST_OK || gnutls_x509_privkey_init(&key) != 0) {
        return status != ST_OK ? status : fail(err, ST_BUSY, "out of memory for the key of reports");
    }
    status = import_signer(keys, key, path, err);
    gnutls_x509_privkey_deinit(key);
    return status;
}

/* The key of that name; NULL: none. */
static const struct public_key *find(const struct report_keys *keys, const char *name) {
    for (unsigned i = 0; i < keys->count; i++) {
        if (strcmp(keys->trusted[i].name, name) == 0) {
            return &keys->trusted[i];
        }
    }
    return NULL;
}

static bool parse_public(const char *text, uint8_t byte[REPORT_KEY_BYTES]) {
    const gnutls_datum_t in = {(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
    gnutls_datum_t out = {0};
    const bool right = gnutls_base64_decode2(&in, &out) == 0 && out.size == REPORT_KEY_BYTES;
    if (right) {
        memcpy(byte, out.data, REPORT_KEY_BYTES);
    }
    gnutls_free(out.data);
    return right;
}

/* Takes a line without its end. */
static enum status take_line(struct report_keys *keys, const char *path, unsigned number, char *line,
                             struct error *err) {
    char *blank = line + strcspn(line, " \t"), *text = blank + strspn(blank, " \t");
    struct public_key key = {0};
    if (line[0] == '\0' || line[0] == '#') {
        return ST_OK;
    }
    text[strcspn(text, " \t\r")] = '\0';
    if (!is_name(line, (size_t)(blank - line)) || !parse_public(text, key.byte)) {
        return fail(err, ST_ARGUMENT,
                    "%s, line %u: there must be a key's name and the base64 of its 32 bytes", path, number);
    }
    memcpy(key.name, line, (size_t)(blank - line));
    const struct public_key *same = find(keys, key.name);
    if (same && memcmp(same->byte, key.byte, sizeof key.byte) != 0) {
        return fail(err, ST_ARGUMENT, "%s, line %u: there is another key of the name %s", path, number,
                    key.name);
    }
    if (!same && keys->count == REPORT_KEYS_MAX) {
        return fail(err, ST_ARGUMENT, "%s has more than %d keys", path, REPORT_KEYS_MAX);
    }
    if (!same) {
        keys->trusted[keys->count++] = key;
    }
    return ST_OK;
}

static enum status load_trusted(struct report_keys *keys, const char *path, struct error *err) {
    char line[REPORT_KEY_LINE_MAX + 64];
    FILE *file = fopen(path, "re");
    if (!file) {
        return fail(err, ST_ARGUMENT, "cannot open %s: %s", path, strerror(errno));
    }
    enum status status = ST_OK;
    for (unsigned number = 1; status == ST_OK && fgets(line, sizeof line, file); number++) {
        const size_t size = strcspn(line, "\n");
        status = line[size] == '\n' || feof(file)
                     ? (line[size] = '\0', take_line(keys, path, number, line, err))
                     : fail(err, ST_ARGUMENT, "%s, line %u is too long", path, number);
    }
    fclose(file);
    return status;
}

enum status report_keys_load(struct report_keys **keys, const char *key, const char *trusted,
                             struct error *err) {
    struct report_keys *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_mutex_init(&made->lock, NULL);
    enum status status = key[0] ? load_signer(made, key, err) : ST_OK;
    status = status == ST_OK && trusted[0] ? load_trusted(made, trusted, err) : status;
    if (status != ST_OK) {
        report_keys_destroy(made);
        return status;
    }
    *keys = made;
    return ST_OK;
}

void report_keys_destroy(struct report_keys *keys) {
    if (keys) {
        gnutls_privkey_deinit(keys->signer);
        pthread_mutex_destroy(&keys->lock);
        free(keys);
    }
}

const char *report_keys_signer(const struct report_keys *keys) {
    return keys && keys->signer ? keys->trusted[0].name : NULL;
}

void report_keys_line(const struct report_keys *keys, char line[REPORT_KEY_LINE_MAX]) {
    const gnutls_datum_t raw = {(unsigned char *)(uintptr_t)keys->trusted[0].byte, REPORT_KEY_BYTES};
    gnutls_datum_t text = {0};
    const int error = gnutls_base64_encode2(&raw, &text);
    snprintf(line, REPORT_KEY_LINE_MAX, "%s %.*s", keys->trusted[0].name, error == 0 ? (int)text.size : 0,
             error == 0 ? (const char *)text.data : "");
    gnutls_free(text.data);
}

enum status report_keys_sign(struct report_keys *keys, struct bytes data,
                             uint8_t signature[REPORT_SIGNATURE_BYTES], struct error *err) {
    const gnutls_datum_t text = {(unsigned char *)(uintptr_t)data.data, (unsigned)data.size};
    gnutls_datum_t made = {0};
    pthread_mutex_lock(&keys->lock);
    const int error = gnutls_privkey_sign_data2(keys->signer, GNUTLS_SIGN_EDDSA_ED25519, 0, &text, &made);
    pthread_mutex_unlock(&keys->lock);
    const bool right = error == 0 && made.size == REPORT_SIGNATURE_BYTES;
    if (right) {
        memcpy(signature, made.data, REPORT_SIGNATURE_BYTES);
    }
    gnutls_free(made.data);
    return right ? ST_OK : fail(err, ST_BUSY, "the report cannot be signed: %s", gnutls_strerror(error));
}

static bool is_signed(const struct public_key *key, struct bytes data, struct bytes signature) {
    const gnutls_datum_t x = {(unsigned char *)(uintptr_t)key->byte, sizeof key->byte};
    const gnutls_datum_t text = {(unsigned char *)(uintptr_t)data.data, (unsigned)data.size};
    const gnutls_datum_t given = {(unsigned char *)(uintptr_t)signature.data, (unsigned)signature.size};
    gnutls_pubkey_t public;
    if (gnutls_pubkey_init(&public) != 0) {
        return false;
    }
    const bool right = gnutls_pubkey_import_ecc_raw(public, GNUTLS_ECC_CURVE_ED25519, &x, NULL) == 0 &&
                       gnutls_pubkey_verify_data2(public, GNUTLS_SIGN_EDDSA_ED25519, 0, &text, &given) >= 0;
    gnutls_pubkey_deinit(public);
    return right;
}

enum status report_keys_verify(const struct report_keys *keys, const char *name, struct bytes data,
                               struct bytes signature, struct error *err) {
    char quoted[VALUE_QUOTE_MAX];
    const struct public_key *key = keys ? find(keys, name) : NULL;
    if (!key) {
        return fail(err, ST_ARGUMENT, "no key of the name %s is trusted (--report-trust)",
                    value_quote(name, quoted));
    }
    return is_signed(key, data, signature)
               ? ST_OK
               : fail(err, ST_ARGUMENT, "the report is not what the key %s signed", key->name);
}
