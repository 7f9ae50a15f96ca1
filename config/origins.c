/* SPDX-License-Identifier: MIT */
#include "config/origins.h"

#include <stddef.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

enum { PORT_DIGITS = 5, PORT_MAX = 65535, SHOWN_MAX = 100 };

/* An entry of the list, and where the next one begins. False at the end. */
static bool next_entry(const char **cursor, const char **entry, size_t *size) {
    if (!*cursor) {
        return false;
    }
    *entry = *cursor + strspn(*cursor, " ");
    *size = strcspn(*entry, ",");
    *cursor = (*entry)[*size] ? *entry + *size + 1 : NULL;
    while (*size > 0 && (*entry)[*size - 1] == ' ') {
        --*size;
    }
    return true;
}

/* The characters of a host: a name, IPv4 in digits, or IPv6 in brackets. */
static size_t host_size(const char *text) {
    if (*text != '[') {
        return strspn(text, LOWER DIGITS "-._");
    }
    size_t inside = strspn(text + 1, "0123456789abcdef:.");
    return inside > 1 && text[1 + inside] == ']' ? inside + 2 : 0;
}

static bool implies(const char *entry, unsigned port) {
    return (strncmp(entry, "http:", 5) == 0 && port == 80) ||
           (strncmp(entry, "https:", 6) == 0 && port == 443);
}

/* Returns the fault of the entry, or NULL when it has none. */
static const char *fault(const char *entry, size_t size) {
    size_t scheme = strspn(entry, LOWER DIGITS "+-.");
    if (size == 0) {
        return "is empty";
    }
    if (scheme == 0 || scheme > size || strncmp(entry + scheme, "://", 3) != 0) {
        return "must begin with a scheme in lower case, as https:// does";
    }
    size_t end = scheme + 3 + host_size(entry + scheme + 3);
    if (end == scheme + 3) {
        return "has no host in lower case";
    }
    if (entry[end] == ':') {
        unsigned port = 0;
        size_t digits = strspn(entry + end + 1, DIGITS);
        for (size_t i = 0; i < digits && digits <= PORT_DIGITS; i++) {
            port = port * 10 + (unsigned)(entry[end + 1 + i] - '0');
        }
        if (port == 0 || port > PORT_MAX || entry[end + 1] == '0') {
            return "has a port that is none from 1 to 65535";
        }
        if (implies(entry, port)) {
            return "names the port that its scheme implies, which browsers leave out";
        }
        end += 1 + digits;
    }
    return end == size ? NULL : "must end after its host or port, without a path";
}

enum status origins_check(const char *list, struct error *err) {
    const char *cursor = *list ? list : NULL;
    const char *entry;
    size_t size;
    while (next_entry(&cursor, &entry, &size)) {
        const char *wrong = fault(entry, size);
        if (wrong) {
            return fail_argument(err, "cors_origins", "cors_origins: \"%.*s\" %s",
                                 (int)(size < SHOWN_MAX ? size : SHOWN_MAX), entry, wrong);
        }
    }
    return ST_OK;
}

bool origins_include(const char *list, const char *origin) {
    size_t length = strlen(origin);
    const char *cursor = *list ? list : NULL;
    const char *entry;
    size_t size;
    while (next_entry(&cursor, &entry, &size)) {
        if (size == length && memcmp(entry, origin, size) == 0) {
            return true;
        }
    }
    return false;
}
