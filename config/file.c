/* SPDX-License-Identifier: MIT */
#include "config/file.h"

#include <stdlib.h>
#include <string.h>

#include "core/process/plain_file.h"

struct file_reader {
    const char *shown; /* its path, for error sentences */
    config_file_line each;
    void *context;
};

void config_show(const char *text, char *shown, size_t size) {
    size_t length = strlen(text);
    size_t copied = length < size ? length : size - 1;
    for (size_t i = 0; i < copied; i++) {
        unsigned char c = (unsigned char)text[i];
        shown[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    shown[copied] = '\0';
    if (copied < length && size > 3) {
        memcpy(shown + size - 4, "...", 4);
    }
}

static char *trim(char *text) {
    static const char blank[] = " \t\r\v\f";
    text += strspn(text, blank);
    size_t length = strlen(text);
    while (length > 0 && strchr(blank, text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

static void cut_comment(char *text) {
    for (char *p = text; (p = strchr(p, '#')); p++) {
        if (p == text || p[-1] == ' ' || p[-1] == '\t') {
            *p = '\0';
            return;
        }
    }
}

static enum status read_line(const struct file_reader *reader, char *text, size_t length, unsigned line,
                             struct error *err) {
    if (length > CONFIG_LINE_MAX) {
        return fail_argument(err, "config", "%s line %u is longer than %d bytes", reader->shown, line,
                             CONFIG_LINE_MAX);
    }
    if (memchr(text, '\0', length)) {
        return fail_argument(err, "config", "%s line %u has a zero byte, it must be text", reader->shown,
                             line);
    }
    text[length] = '\0';
    cut_comment(text);
    char *key = trim(text);
    if (*key == '\0') {
        return ST_OK;
    }
    char *equals = strchr(key, '=');
    if (!equals || equals == key) {
        char start[48];
        config_show(key, start, sizeof start);
        return fail_argument(err, "config", "%s line %u is \"%s\", it must be `key = value`", reader->shown,
                             line, start);
    }
    *equals = '\0';
    return reader->each(reader->context, trim(key), trim(equals + 1), line, err);
}

/* `text` has room for one more byte than `size`. */
static enum status read_lines(const struct file_reader *reader, char *text, size_t size, struct error *err) {
    enum status status = ST_OK;
    unsigned line = 1;
    for (size_t start = 0; start < size && !status; line++) {
        char *end = memchr(text + start, '\n', size - start);
        size_t length = end ? (size_t)(end - text) - start : size - start;
        status = read_line(reader, text + start, length, line, err);
        start += length + 1;
    }
    return status;
}

enum status config_file_read(const char *path, config_file_line each, void *context, struct error *err) {
    char shown[CONFIG_PATH_SHOWN];
    config_show(path, shown, sizeof shown);
    struct file_reader reader = {shown, each, context};
    char *text = malloc(CONFIG_FILE_MAX + 2);
    if (!text) {
        return fail(err, ST_BUSY, "no memory to read the configuration file %s", shown);
    }
    size_t size;
    struct error cause = {0};
    enum status status =
        plain_file_read(path, text, CONFIG_FILE_MAX, &size, &cause) == ST_OK
            ? read_lines(&reader, text, size, err)
            : fail_argument(err, "config", "cannot read the configuration file %s: %s", shown, cause.text);
    free(text);
    return status;
}
