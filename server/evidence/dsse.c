/* SPDX-License-Identifier: MIT */
#include "server/evidence/dsse.h"

#include <string.h>

#include <gnutls/gnutls.h>

#include "core/json/json_reader.h"

enum { TYPE_MAX = 64, SIGNATURES_MAX = 16, SIGNATURE_TEXT_MAX = 2 * REPORT_SIGNATURE_BYTES };

static const char head_format[] = "DSSEv1 %zu %s %zu ";

enum status dsse_base64(struct bytes raw, struct buf *out, struct error *err) {
    const gnutls_datum_t in = {(unsigned char *)(uintptr_t)raw.data, (unsigned)raw.size};
    gnutls_datum_t text = {0};
    if (gnutls_base64_encode2(&in, &text) != 0) {
        return fail(err, ST_BUSY, "out of memory for the report");
    }
    enum status status = buf_append(out, text.data, text.size, err);
    gnutls_free(text.data);
    return status;
}

/* Appends what is signed. */
static enum status append_signed(const char *type, struct bytes text, struct buf *out, struct error *err) {
    enum status status = buf_printf(out, err, head_format, strlen(type), type, text.size);
    return status == ST_OK ? buf_append(out, text.data, text.size, err) : status;
}

enum status dsse_write(struct report_keys *keys, const char *type, struct bytes text, struct buf *out,
                       struct error *err) {
    uint8_t signature[REPORT_SIGNATURE_BYTES];
    struct buf sealed;
    buf_init(&sealed, text.size + 2 * TYPE_MAX);
    enum status status = append_signed(type, text, &sealed, err);
    status = status == ST_OK ? report_keys_sign(keys, buf_bytes(&sealed), signature, err) : status;
    buf_finish(&sealed);
    status = status == ST_OK ? buf_printf(out, err, "{\"payloadType\":\"%s\",\"payload\":\"", type) : status;
    status = status == ST_OK ? dsse_base64(text, out, err) : status;
    status = status == ST_OK ? buf_printf(out, err, "\",\"signatures\":[{\"keyid\":\"%s\",\"sig\":\"",
                                          report_keys_signer(keys))
                             : status;
    status = status == ST_OK ? dsse_base64((struct bytes){signature, sizeof signature}, out, err) : status;
    return status == ST_OK ? buf_printf(out, err, "\"}]}\n") : status;
}

/* One signature. */
struct dsse_signature {
    char keyid[REPORT_KEY_NAME_MAX + 2], sig[SIGNATURE_TEXT_MAX];
};

struct envelope {
    char type[TYPE_MAX];
    char *payload; /* base64 */
    unsigned count;
    struct dsse_signature entry[SIGNATURES_MAX];
};

static bool read_entry(struct json_reader *reader, struct dsse_signature *entry) {
    char name[16];
    bool more;
    if (!json_reader_open(reader, '{')) {
        return false;
    }
    while (json_reader_next(reader, '}', &more) && more) {
        bool read = json_reader_name(reader, name, sizeof name);
        if (read && strcmp(name, "keyid") == 0) {
            read = json_reader_text(reader, entry->keyid, sizeof entry->keyid);
        } else if (read && strcmp(name, "sig") == 0) {
            read = json_reader_text(reader, entry->sig, sizeof entry->sig);
        } else {
            read = read && json_reader_skip(reader);
        }
        if (!read) {
            return false;
        }
    }
    return !more;
}

static bool read_signatures(struct json_reader *reader, struct envelope *envelope) {
    bool more;
    if (!json_reader_open(reader, '[')) {
        return false;
    }
    while (json_reader_next(reader, ']', &more) && more) {
        if (envelope->count == SIGNATURES_MAX || !read_entry(reader, &envelope->entry[envelope->count++])) {
            return false;
        }
    }
    return !more;
}

/* `size` is that of the memory for the payload. */
static bool read_member(struct json_reader *reader, struct envelope *envelope, size_t size) {
    char name[16];
    if (!json_reader_name(reader, name, sizeof name)) {
        return false;
    }
    return strcmp(name, "payloadType") == 0  ? json_reader_text(reader, envelope->type, sizeof envelope->type)
           : strcmp(name, "payload") == 0    ? json_reader_text(reader, envelope->payload, size)
           : strcmp(name, "signatures") == 0 ? envelope->count == 0 && read_signatures(reader, envelope)
                                             : json_reader_skip(reader);
}

static bool read_all(struct bytes text, struct envelope *envelope) {
    struct json_reader reader;
    bool more;
    json_reader_init(&reader, text);
    if (!json_reader_open(&reader, '{')) {
        return false;
    }
    while (json_reader_next(&reader, '}', &more) && more) {
        if (!read_member(&reader, envelope, text.size + 1)) {
            return false;
        }
    }
    return !more && envelope->payload[0] && json_reader_peek(&reader) == '\0' && reader.at == reader.end;
}

/* Decodes in place: bytes are fewer than letters. Each text has one form, so that no letter can be altered.
 */
static bool decode(char *base64, size_t *size) {
    const gnutls_datum_t in = {(unsigned char *)base64, (unsigned)strlen(base64)};
    gnutls_datum_t raw = {0}, again = {0};
    const bool right = gnutls_base64_decode2(&in, &raw) == 0 && raw.size <= in.size &&
                       gnutls_base64_encode2(&raw, &again) == 0 && again.size == in.size &&
                       memcmp(again.data, base64, in.size) == 0;
    if (right) {
        memcpy(base64, raw.data, raw.size);
        *size = raw.size;
    }
    gnutls_free(raw.data), gnutls_free(again.data);
    return right;
}

static enum status verify(const struct report_keys *keys, struct envelope *envelope, struct bytes sealed,
                          char signer[REPORT_KEY_NAME_MAX + 1], struct error *err) {
    enum status status = fail(err, ST_ARGUMENT, "the report has no signature");
    for (unsigned i = 0; i < envelope->count && status != ST_OK; i++) {
        struct dsse_signature *entry = &envelope->entry[i];
        size_t size = 0;
        if (!decode(entry->sig, &size)) {
            status = fail(err, ST_ARGUMENT, "the signature is no base64");
            continue;
        }
        const struct bytes given = {(const uint8_t *)entry->sig, size};
        status = report_keys_verify(keys, entry->keyid, sealed, given, err);
        if (status == ST_OK) {
            memcpy(signer, entry->keyid, REPORT_KEY_NAME_MAX + 1);
            *err = (struct error){0};
        }
    }
    return status;
}

enum status dsse_read(const struct report_keys *keys, const char *type, struct bytes text, struct slot *slot,
                      struct bytes *payload, char signer[REPORT_KEY_NAME_MAX + 1], struct error *err) {
    struct envelope envelope = {.count = 0};
    struct buf sealed;
    size_t size = 0;
    if (text.size > DSSE_BYTES_MAX) {
        return fail(err, ST_CORRUPT, "the envelope has %zu bytes, the limit is %d", text.size,
                    DSSE_BYTES_MAX);
    }
    envelope.payload = (char *)slot_take(slot, text.size + 1, err);
    uint8_t *room = envelope.payload ? slot_take(slot, text.size + 2 * TYPE_MAX, err) : NULL;
    if (!room) {
        return err->status;
    }
    envelope.payload[0] = '\0';
    if (!read_all(text, &envelope) || strcmp(envelope.type, type) != 0 || !decode(envelope.payload, &size)) {
        return fail(err, ST_CORRUPT, "it is no DSSE envelope of the type %s", type);
    }
    *payload = (struct bytes){(const uint8_t *)envelope.payload, size};
    buf_init_fixed(&sealed, room, text.size + 2 * TYPE_MAX);
    enum status status = append_signed(type, *payload, &sealed, err);
    return status == ST_OK ? verify(keys, &envelope, buf_bytes(&sealed), signer, err) : status;
}
