/* SPDX-License-Identifier: MIT */
#include "server/message/multipart.h"

#include <string.h>
#include <strings.h>

static const char type_name[] = "multipart/form-data";

bool multipart_is(const char *content_type) {
    if (!content_type || strncasecmp(content_type, type_name, sizeof type_name - 1) != 0) {
        return false;
    }
    char after = content_type[sizeof type_name - 1];
    return after == '\0' || after == ';' || after == ' ' || after == '\t';
}

/* Finds `name`=value among the ;-separated parameters of a header value and copies the
 * value, unquoted. Returns false when absent, unfinished or longer than `maximum`. */
static bool find_parameter(const char *text, size_t size, const char *name, char *out, size_t maximum) {
    size_t name_size = strlen(name);
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        quoted ^= text[i] == '"';
        i += quoted && text[i] == '\\'; /* an escaped character ends nothing */
        if (quoted || text[i] != ';') {
            continue;
        }
        size_t at = i + 1;
        while (at < size && (text[at] == ' ' || text[at] == '\t')) {
            at++;
        }
        if (size - at <= name_size || strncasecmp(text + at, name, name_size) != 0 ||
            text[at + name_size] != '=') {
            continue;
        }
        at += name_size + 1;
        bool in_quotes = at < size && text[at] == '"';
        at += in_quotes;
        size_t used = 0;
        while (at < size && (in_quotes ? text[at] != '"' : !strchr("; \t", text[at]))) {
            if (in_quotes && text[at] == '\\' && at + 1 < size) {
                at++;
            }
            if (used == maximum) {
                return false;
            }
            out[used++] = text[at++];
        }
        out[used] = '\0';
        return !in_quotes || at < size;
    }
    return false;
}

enum status multipart_begin(struct multipart *multipart, const char *content_type, struct bytes body,
                            struct error *err) {
    *multipart = (struct multipart){0};
    char *boundary = multipart->delimiter + 4;
    memcpy(multipart->delimiter, "\r\n--", 4);
    if (!find_parameter(content_type, strlen(content_type), "boundary", boundary, MULTIPART_BOUNDARY_MAX) ||
        !*boundary) {
        return fail(err, ST_CORRUPT, "Content-Type has no boundary of 1 to 70 characters");
    }
    multipart->delimiter_size = strlen(multipart->delimiter);
    size_t first = multipart->delimiter_size - 2; /* the first delimiter may stand without CR LF */
    if (body.size >= first && memcmp(body.data, multipart->delimiter + 2, first) == 0) {
        multipart->rest = (struct bytes){body.data + first, body.size - first};
        return ST_OK;
    }
    const uint8_t *found = NULL;
    if (body.size > first) { /* the data of an empty body may be NULL */
        found = memmem(body.data, body.size, multipart->delimiter, multipart->delimiter_size);
    }
    if (!found) {
        return fail(err, ST_CORRUPT, "the multipart body does not contain its boundary");
    }
    size_t skipped = (size_t)(found - body.data) + multipart->delimiter_size;
    multipart->rest = (struct bytes){body.data + skipped, body.size - skipped};
    return ST_OK;
}

static bool take(struct bytes *rest, const char *text) {
    size_t size = strlen(text);
    if (rest->size < size || memcmp(rest->data, text, size) != 0) {
        return false;
    }
    rest->data += size;
    rest->size -= size;
    return true;
}

static bool begins(const char *line, size_t size, const char *with) {
    return size >= strlen(with) && strncasecmp(line, with, strlen(with)) == 0;
}

static bool is_binary_type(const char *line, size_t size) {
    size_t at = sizeof "Content-Type:" - 1;
    while (at < size && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    return begins(line + at, size - at, "image/") || begins(line + at, size - at, "application/octet-stream");
}

/* Reads one header line of a part; only Content-Disposition and Content-Type matter. */
static enum status read_header(struct part *part, const char *line, size_t size, struct error *err) {
    static const char disposition[] = "Content-Disposition:";
    part->is_binary |= begins(line, size, "Content-Type:") && is_binary_type(line, size);
    if (!begins(line, size, disposition)) {
        return ST_OK;
    }
    if (part->name[0]) {
        return fail(err, ST_CORRUPT, "a multipart part has more than one Content-Disposition");
    }
    if (memchr(line, '\0', size)) {
        return fail(err, ST_CORRUPT, "a multipart part has a zero byte in its header");
    }
    if (!find_parameter(line, size, "name", part->name, MULTIPART_NAME_MAX)) {
        return fail(err, ST_CORRUPT, "a multipart part has no name of at most 63 characters");
    }
    char name[MULTIPART_HEADER_MAX];
    part->is_file = find_parameter(line, size, "filename", name, sizeof name - 1) ||
                    find_parameter(line, size, "filename*", name, sizeof name - 1);
    part->is_unfilled = part->is_file && !name[0];
    return ST_OK;
}

static enum status read_headers(struct bytes *rest, struct part *part, struct error *err) {
    size_t budget = rest->size < MULTIPART_HEADER_MAX ? rest->size : MULTIPART_HEADER_MAX;
    const uint8_t *end = memmem(rest->data, budget, "\r\n\r\n", 4);
    if (rest->size >= 2 && memcmp(rest->data, "\r\n", 2) == 0) {
        return fail(err, ST_CORRUPT, "a multipart part has no header, and so no name");
    }
    if (!end) {
        return fail(err, ST_CORRUPT, "a multipart part has no end of its header within 4 KiB");
    }
    const char *line = (const char *)rest->data;
    while (line < (const char *)end) {
        const char *next = memmem(line, (size_t)((const char *)end + 2 - line), "\r\n", 2);
        enum status status = read_header(part, line, (size_t)(next - line), err);
        if (status != ST_OK) {
            return status;
        }
        line = next + 2;
    }
    size_t used = (size_t)(end + 4 - rest->data);
    rest->data += used;
    rest->size -= used;
    return ST_OK;
}

enum status multipart_next(struct multipart *multipart, struct part *part, bool *found, struct error *err) {
    struct bytes *rest = &multipart->rest;
    *found = false;
    *part = (struct part){0};
    if (take(rest, "--")) {
        return ST_OK; /* closing delimiter; an epilogue may follow and is ignored */
    }
    while (take(rest, " ") || take(rest, "\t")) {
    }
    if (!take(rest, "\r\n")) {
        return fail(err, ST_CORRUPT, "a multipart boundary is not followed by a line end");
    }
    if (++multipart->parts > MULTIPART_PARTS_MAX) {
        return fail(err, ST_CORRUPT, "more than %d multipart parts", MULTIPART_PARTS_MAX);
    }
    const uint8_t *head = rest->data - 2; /* includes the preceding line end, with which a delimiter begins */
    enum status status = read_headers(rest, part, err);
    if (status != ST_OK) {
        return status;
    }
    if (memmem(head, (size_t)(rest->data - head), multipart->delimiter, multipart->delimiter_size)) {
        return fail(err, ST_CORRUPT, "a multipart part ends within its header");
    }
    if (!part->name[0]) {
        return fail(err, ST_CORRUPT, "a multipart part has no name");
    }
    /* A part may be empty: its delimiter's CR LF is then the header's end. */
    struct bytes search = {rest->data - 2, rest->size + 2};
    const uint8_t *end = memmem(search.data, search.size, multipart->delimiter, multipart->delimiter_size);
    if (!end) {
        return fail(err, ST_CORRUPT, "the multipart body is cut short: a part has no end");
    }
    part->data = (struct bytes){rest->data, end > rest->data ? (size_t)(end - rest->data) : 0};
    part->is_unfilled = part->is_unfilled && part->data.size == 0;
    size_t skipped = (size_t)(end - rest->data) + multipart->delimiter_size;
    rest->data += skipped;
    rest->size -= skipped;
    *found = true;
    return ST_OK;
}
