/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/json.h"

/* The process has one log; its two settings are the only globals of the project. */
static _Atomic enum log_level log_max = LOG_INFO;
static enum log_format log_style = LOG_TEXT;

void log_init(enum log_level level, enum log_format format) {
    log_max = level;
    log_style = format;
}

void log_set_level(enum log_level level) {
    log_max = level;
}

/* Appends the whole text or nothing; room for the end of the line remains. */
static void put(struct log_line *line, const char *text) {
    enum { END = 3 };
    size_t length = strlen(text);
    if (line->used + length + END <= sizeof line->text) {
        memcpy(line->text + line->used, text, length + 1);
        line->used += length;
    }
}

static void put_field(struct log_line *line, const char *key, const char *value) {
    char field[LOG_LINE_MAX];
    if (log_style == LOG_JSON) {
        snprintf(field, sizeof field, ",\"%s\":%s", key, value);
    } else {
        snprintf(field, sizeof field, " %s=%s", key, value);
    }
    put(line, field);
}

void log_begin(struct log_line *line, enum log_level level, const char *event) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    line->wanted = level <= log_max;
    line->used = 0;
    if (!line->wanted) {
        return;
    }
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    long ms = now.tv_nsec / 1000000;
    char head[160];
    if (log_style == LOG_JSON) {
        snprintf(head, sizeof head, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\"", stamp, ms,
                 names[level], event);
    } else {
        snprintf(head, sizeof head, "%s.%03ldZ %s %s", stamp, ms, names[level], event);
    }
    put(line, head);
}

enum { VALUE_MAX = LOG_LINE_MAX / 2 }; /* a longer value is cut */

/* Short ASCII values without spaces, quotes or control characters stand as they are. */
static bool is_plain(const char *value) {
    size_t size = 0;
    for (; value[size]; size++) {
        char c = value[size];
        if (size == VALUE_MAX || c <= ' ' || c >= 0x7F || c == '"' || c == '\\' || c == '=') {
            return false;
        }
    }
    return size > 0;
}

void log_string(struct log_line *line, const char *key, const char *value) {
    if (!line->wanted) {
        return;
    }
    if (log_style == LOG_TEXT && is_plain(value)) {
        put_field(line, key, value);
        return;
    }
    char quoted[VALUE_MAX];
    json_string(quoted, sizeof quoted, value);
    put_field(line, key, quoted);
}

void log_number(struct log_line *line, const char *key, int64_t value) {
    if (line->wanted) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, value);
        put_field(line, key, number);
    }
}

void log_ms(struct log_line *line, const char *key, int64_t ns) {
    if (line->wanted) {
        char number[32];
        int64_t us = clock_ns_to_us(ns); /* as in Server-Timing */
        snprintf(number, sizeof number, "%" PRId64 ".%03" PRId64, us / 1000, us % 1000);
        put_field(line, key, number);
    }
}

void log_end(struct log_line *line) {
    if (!line->wanted) {
        return;
    }
    if (log_style == LOG_JSON) {
        line->text[line->used++] = '}';
    }
    line->text[line->used++] = '\n';
    /* A failed write must not stop the service, nor be retried. */
    ssize_t ignored = write(STDERR_FILENO, line->text, line->used);
    (void)ignored;
}

void log_message(enum log_level level, const char *event, const char *format, ...) {
    struct log_line line;
    log_begin(&line, level, event);
    if (!line.wanted) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_string(&line, "message", text);
    log_end(&line);
}
