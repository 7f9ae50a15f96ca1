/* SPDX-License-Identifier: MIT
 * tests/http/test_verify.py has keys from openssl and an independent verifier. */
#include "server/evidence/dsse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/core/slot_fixture.h"

/* Of RFC 8410, sections 10.3 and 10.1: a private key in PEM; its public half is below. */
static const char private_key[] = "-----BEGIN PRIVATE KEY-----\n"
                                  "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                                  "-----END PRIVATE KEY-----\n";

static char folder[] = "/tmp/blurd-keys-XXXXXX";
static char path[64];

static int make_key(void **state) {
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/one.pem", folder);
    FILE *file = fopen(path, "w");
    return !file || fputs(private_key, file) < 0 || fclose(file) != 0;
}

static int remove_key(void **state) {
    (void)state;
    return unlink(path) || rmdir(folder);
}

static struct report_keys *load(void) {
    struct report_keys *keys = NULL;
    struct error err = {0};
    if (report_keys_load(&keys, path, "", &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(report_keys_signer(keys), "one");
    return keys;
}

static struct bytes bytes_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static struct buf write_text(struct report_keys *keys, const char *text) {
    struct buf out;
    struct error err = {0};
    buf_init(&out, MIB);
    assert_int_equal(dsse_write(keys, "a/type", bytes_of(text), &out, &err), ST_OK);
    return out;
}

static enum status read_back(const struct report_keys *keys, const char *type, struct bytes envelope,
                             const char *wanted, struct error *err) {
    struct slot_pool *pool = make_pool(64 * MIB);
    struct slot *slot = acquire(pool);
    struct bytes text = {0};
    char signer[REPORT_KEY_NAME_MAX + 1];
    *err = (struct error){0};
    const enum status status = dsse_read(keys, type, envelope, slot, &text, signer, err);
    if (status == ST_OK) {
        assert_int_equal(text.size, strlen(wanted));
        assert_memory_equal(text.data, wanted, text.size);
        assert_string_equal(signer, "one");
    }
    slot_give_back(slot);
    slot_pool_destroy(pool);
    return status;
}

static void test_there_and_back(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "a", "ab", "abc", "\x7f\"\\ \n"};
    struct report_keys *keys = load();
    struct error err;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf envelope = write_text(keys, texts[i]);
        assert_int_equal(read_back(keys, "a/type", buf_bytes(&envelope), texts[i], &err), ST_OK);
        assert_int_equal(read_back(keys, "b/type", buf_bytes(&envelope), texts[i], &err), ST_CORRUPT);
        assert_int_equal(read_back(NULL, "a/type", buf_bytes(&envelope), texts[i], &err), ST_ARGUMENT);
        buf_finish(&envelope);
    }
    report_keys_destroy(keys);
}

/* Every bit of every byte, also those of base64 that decoders pass over. Blanks alone are free. */
static void test_each_altered_byte(void **state) {
    (void)state;
    struct report_keys *keys = load();
    struct buf envelope = write_text(keys, "{\"a\":1}!"); /* two letters of padding */
    struct error err;
    for (size_t at = 0; at < envelope.size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            envelope.data[at] ^= (uint8_t)(1 << bit);
            const bool blank = strchr(" \t\r\n", envelope.data[at]) && envelope.data[at];
            const enum status status = read_back(keys, "a/type", buf_bytes(&envelope), "{\"a\":1}!", &err);
            if (status == ST_OK && !blank) {
                fail_msg("byte %zu, bit %u", at, bit);
            }
            envelope.data[at] ^= (uint8_t)(1 << bit);
        }
    }
    buf_finish(&envelope);
    report_keys_destroy(keys);
}

/* The example of the protocol's text: "DSSEv1 29 http://example.com/HelloWorld 11 hello world". */
static void test_what_is_signed(void **state) {
    (void)state;
    struct report_keys *keys = load();
    struct buf out;
    struct error err = {0};
    uint8_t signature[REPORT_SIGNATURE_BYTES];
    buf_init(&out, MIB);
    assert_int_equal(dsse_write(keys, "http://example.com/HelloWorld", bytes_of("hello world"), &out, &err),
                     ST_OK);
    assert_int_equal(buf_append(&out, "", 1, &err), ST_OK);
    assert_int_equal(report_keys_sign(keys,
                                      bytes_of("DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
                                      signature, &err),
                     ST_OK);
    assert_int_equal(report_keys_verify(keys, "one",
                                        bytes_of("DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
                                        (struct bytes){signature, sizeof signature}, &err),
                     ST_OK);
    assert_non_null(strstr((const char *)out.data, "\"payload\":\"aGVsbG8gd29ybGQ=\""));
    assert_int_equal(read_back(keys, "http://example.com/HelloWorld", (struct bytes){out.data, out.size - 1},
                               "hello world", &err),
                     ST_OK);
    buf_finish(&out);
    report_keys_destroy(keys);
}

static void test_the_public_half(void **state) {
    (void)state;
    char line[REPORT_KEY_LINE_MAX];
    struct report_keys *keys = load();
    report_keys_line(keys, line);
    assert_string_equal(line, "one Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
    report_keys_destroy(keys);
}

/* The first signature that holds counts; ones that do not precede it. */
static void test_several_signatures(void **state) {
    (void)state;
    struct report_keys *keys = load();
    struct buf envelope = write_text(keys, "{}"), many;
    struct error err = {0};
    buf_init(&many, MIB);
    assert_int_equal(buf_append(&envelope, "", 1, &err), ST_OK);
    const char *text = (const char *)envelope.data, *entry = strstr(text, "[{");
    assert_int_equal(buf_printf(&many, &err, "%.*s[{\"keyid\":\"other\",\"sig\":\"AAAA\"},{\"sig\":\"!\"},%s",
                                (int)(entry - text), text, entry + 1),
                     ST_OK);
    assert_int_equal(read_back(keys, "a/type", buf_bytes(&many), "{}", &err), ST_OK);
    assert_int_equal(err.status, ST_OK);
    buf_finish(&many);
    buf_finish(&envelope);
    report_keys_destroy(keys);
}

/* Two values of one name: what was signed is what is read. */
static void test_a_second_payload(void **state) {
    (void)state;
    struct report_keys *keys = load();
    struct buf envelope = write_text(keys, "{}"), twice;
    struct error err = {0};
    buf_init(&twice, MIB);
    assert_int_equal(buf_append(&envelope, "", 1, &err), ST_OK);
    assert_int_equal(buf_printf(&twice, &err, "{\"payload\":\"YQ==\",%s", (const char *)envelope.data + 1),
                     ST_OK);
    assert_int_equal(read_back(keys, "a/type", buf_bytes(&twice), "{}", &err), ST_OK);
    twice.size -= 2;
    assert_int_equal(buf_printf(&twice, &err, ",\"payload\":\"YQ==\"}"), ST_OK);
    assert_int_not_equal(read_back(keys, "a/type", buf_bytes(&twice), "a", &err), ST_OK);
    buf_finish(&twice);
    buf_finish(&envelope);
    report_keys_destroy(keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),     cmocka_unit_test(test_each_altered_byte),
        cmocka_unit_test(test_what_is_signed),     cmocka_unit_test(test_the_public_half),
        cmocka_unit_test(test_several_signatures), cmocka_unit_test(test_a_second_payload),
    };
    return cmocka_run_group_tests(tests, make_key, remove_key);
}
