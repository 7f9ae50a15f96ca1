/* SPDX-License-Identifier: MIT
 * The configuration file: `key = value` lines. A `#` at the start of a line or after
 * white space starts a comment; empty lines are allowed. Knows nothing of options. */
#ifndef BLURD_CONFIG_FILE_H
#define BLURD_CONFIG_FILE_H

#include <stddef.h>

#include "core/status.h"

enum {
    CONFIG_FILE_MAX = 64 * 1024, /* bytes; forty times the example with all its comments */
    CONFIG_LINE_MAX = 2048,      /* bytes; longer than any allowed value */
    CONFIG_PATH_SHOWN = 72,      /* bytes of a path in an error sentence */
};

/* Called for each line that sets something; key and value are trimmed and zero-
 * terminated and live until the call returns. Anything but ST_OK ends the reading. */
typedef enum status (*config_file_line)(void *context, const char *key, const char *value, unsigned line,
                                        struct error *err);

/* Reads the file and calls `each` for its lines in order. ST_ARGUMENT, with the path in
 * the sentence: it cannot be read, is too large, or a line is too long, has a zero byte
 * or no `=`. Also whatever `each` returned. */
enum status config_file_read(const char *path, config_file_line each, void *context, struct error *err);

/* Writes `text` so that it can stand in a log line: control characters become `?`, and
 * what is longer than `size` is cut with `...`. */
void config_show(const char *text, char *shown, size_t size);

#endif
