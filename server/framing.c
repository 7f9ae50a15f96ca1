/* SPDX-License-Identifier: MIT */
#include "server/framing.h"

#include <string.h>
#include <strings.h>

static void refuse(struct framing *framing, enum problem problem, const char *reason) {
    if (framing->verdict == PROBLEM_NONE) {
        framing->verdict = problem;
        framing->reason = reason;
    }
}

/* RFC 9110 5.6.2: the characters of a field name. */
static bool is_token(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alphanumeric && (c == 0 || !strchr("!#$%&'*+-.^_`|~", c))) {
            return false;
        }
    }
    return size > 0;
}

static bool has_control(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return true;
        }
    }
    return false;
}

/* Digits only, below 2^63: "+5", "5, 5", "0x5" and 2^64 - 1 are all refused. */
static bool parse_length(const char *text, size_t size, uint64_t *length) {
    if (size == 0 || size > 18) {
        return false;
    }
    *length = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        *length = *length * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

static bool named(const char *name, size_t size, const char *wanted) {
    return size == strlen(wanted) && strncasecmp(name, wanted, size) == 0;
}

static void known_header(struct framing *framing, const char *name, size_t name_size, const char *value,
                         size_t value_size) {
    if (named(name, name_size, "Content-Length")) {
        framing->content_lengths++;
        if (!parse_length(value, value_size, &framing->content_length)) {
            refuse(framing, PROBLEM_REQUEST, "Content-Length is not a decimal number");
        }
    } else if (named(name, name_size, "Transfer-Encoding")) {
        framing->transfer_encodings++;
        framing->chunked = named(value, value_size, "chunked");
        if (!framing->chunked) {
            refuse(framing, PROBLEM_TRANSFER, "Transfer-Encoding must be exactly \"chunked\"");
        }
    } else if (named(name, name_size, "Host")) {
        framing->hosts++;
    } else if (named(name, name_size, "Expect")) {
        framing->expects_continue = named(value, value_size, "100-continue");
    }
}

void framing_header(struct framing *framing, const char *name, size_t name_size, const char *value,
                    size_t value_size) {
    framing->headers++;
    framing->header_bytes += name_size + value_size;
    if (framing->headers > HEADER_COUNT_MAX) {
        refuse(framing, PROBLEM_HEADERS, "more than 100 header fields");
    } else if (framing->header_bytes > HEADER_BYTES_MAX) {
        refuse(framing, PROBLEM_HEADERS, "header fields are larger than 16 KiB");
    } else if (!is_token(name, name_size)) {
        refuse(framing, PROBLEM_REQUEST, "a header field has a malformed name");
    } else if (has_control(value, value_size)) {
        refuse(framing, PROBLEM_REQUEST, "a header field contains a control character");
    }
    known_header(framing, name, name_size, value, value_size);
}

void framing_line(struct framing *framing, const char *method, const char *target, const char *end,
                  const char *version) {
    if (method + strlen(method) + 1 != target || end + 1 != version) {
        refuse(framing, PROBLEM_REQUEST, "the request line has a zero byte, or more than single blanks");
    }
}

enum problem framing_judge(struct framing *framing, const char *version) {
    bool http10 = strcmp(version, "HTTP/1.0") == 0;
    if (framing->content_lengths > 1) {
        refuse(framing, PROBLEM_REQUEST, "more than one Content-Length");
    } else if (framing->transfer_encodings > 1) {
        refuse(framing, PROBLEM_REQUEST, "more than one Transfer-Encoding");
    } else if (framing->content_lengths && framing->transfer_encodings) {
        refuse(framing, PROBLEM_REQUEST, "both Content-Length and Transfer-Encoding");
    } else if (http10 && framing->transfer_encodings) {
        refuse(framing, PROBLEM_REQUEST, "Transfer-Encoding in an HTTP/1.0 request");
    } else if (!http10 && framing->hosts != 1) {
        refuse(framing, PROBLEM_REQUEST, "an HTTP/1.1 request needs exactly one Host");
    } else if (http10 && framing->hosts > 1) {
        refuse(framing, PROBLEM_REQUEST, "more than one Host");
    }
    return framing->verdict;
}
