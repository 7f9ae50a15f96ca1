/* SPDX-License-Identifier: MIT
 * Structured log lines on standard error: text for people, JSON for machines.
 *
 *     struct log_line line;
 *     log_begin(&line, LOG_INFO, "request");
 *     log_string(&line, "id", request->id);
 *     log_number(&line, "status", 200);
 *     log_end(&line);
 *
 * One write(2) a line, so lines of several threads do not mix. Values are escaped: no client can forge a
 * line. A line that is too long is cut between fields. If the log is not read, lines are dropped and counted,
 * and no thread waits. All functions are thread-safe but log_init and log_never_wait, which come first. */
#ifndef BLURD_CORE_LOG_H
#define BLURD_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

enum { LOG_LINE_MAX = 2048 };

struct log_line {
    bool wanted; /* false: below the level; the other calls do nothing */
    size_t used;
    char text[LOG_LINE_MAX];
};

/* Sets what is logged and how. Lines before it are text at LOG_INFO. */
void log_init(enum log_level level, enum log_format format);

/* From now on no line waits for a reader: if a pipe is full, the line is dropped. Standard error becomes a
 * description of its own that does not block. Without /proc, or for a pipe of another user, that is not
 * possible; then a line may still wait when two processes write to a pipe at the moment in which it becomes
 * full. */
void log_never_wait(void);

/* How many lines of this process were dropped. */
int64_t log_dropped(void);

void log_set_level(enum log_level level);

void log_begin(struct log_line *line, enum log_level level, const char *event);
void log_string(struct log_line *line, const char *key, const char *value);
void log_number(struct log_line *line, const char *key, int64_t value);
void log_ms(struct log_line *line, const char *key, int64_t ns); /* not negative; milliseconds, 3 decimals */
void log_end(struct log_line *line);

void log_message(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
