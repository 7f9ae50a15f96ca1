/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/json/json.h"

/* The process has one log; its settings and counts are the only globals of the project. */
static _Atomic enum log_level log_max = LOG_INFO;
static enum log_format log_style = LOG_TEXT;

/* Lines that were not written, in all and since the last note about them. */
static _Atomic int64_t log_lost, log_untold;
static bool log_to_socket;

void log_init(enum log_level level, enum log_format format) {
    log_max = level;
    log_style = format;
}

/* A pipe or a terminal is opened anew, so that the flag is not that of other processes, which share the old
 * one. A socket cannot be; for it each line carries the flag. Files do not wait. */
void log_never_wait(void) {
    struct stat target;
    if (fstat(STDERR_FILENO, &target) != 0) {
        return;
    }
    log_to_socket = S_ISSOCK(target.st_mode);
    if (!S_ISFIFO(target.st_mode) && !S_ISCHR(target.st_mode)) {
        return;
    }
    int own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        dup2(own, STDERR_FILENO);
        close(own);
    }
}

int64_t log_dropped(void) {
    return log_lost;
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
    /* As Cloud Logging has them. */
    static const char *const severities[] = {"ERROR", "WARNING", "INFO", "DEBUG"};
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
        snprintf(head, sizeof head,
                 "{\"time\":\"%s.%03ldZ\",\"severity\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"", stamp, ms,
                 severities[level], names[level], event);
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

/* Writes the line without waiting for a reader, where log_never_wait was called. The look comes first, since
 * the flag cannot be had everywhere: a pipe of another user cannot be opened anew. */
static bool put_out(const struct log_line *line) {
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (log_to_socket) {
        return send(STDERR_FILENO, line->text, line->used, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    }
    return poll(&room, 1, 0) > 0 && write(STDERR_FILENO, line->text, line->used) > 0;
}

/* Says that lines are missing, once the log is read again. */
static void tell_lost(void) {
    int64_t count = log_untold ? atomic_exchange(&log_untold, 0) : 0;
    if (count > 0) {
        log_message(LOG_WARNING, "log",
                    "%" PRId64 " lines before this one were dropped, as the log was not read", count);
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
    if (put_out(line)) {
        tell_lost();
    } else { /* a failed write must not stop the service, nor be retried */
        log_lost++;
        log_untold++;
    }
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
