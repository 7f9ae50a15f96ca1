/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#undef fail /* macros for analysers */
#undef fail_naming
#undef fail_argument

#include <stdio.h>

static const char *const names[ST_COUNT] = {
    [ST_OK] = "ok",
    [ST_ARGUMENT] = "argument",
    [ST_CORRUPT] = "corrupt",
    [ST_UNSUPPORTED] = "unsupported",
    [ST_TOO_LARGE] = "too-large",
    [ST_NOTHING] = "nothing",
    [ST_UNVERIFIED] = "unverified",
    [ST_LIMIT] = "limit",
    [ST_BUSY] = "busy",
    [ST_TIMEOUT] = "timeout",
    [ST_CANCELLED] = "cancelled",
    [ST_DEVICE] = "device",
    [ST_INTERNAL] = "internal",
};

const char *status_name(enum status status) {
    return status < ST_COUNT ? names[status] : "unknown";
}

static void record(struct error *err, enum status status, const char *parameter, const char *format,
                   va_list arguments) {
    if (!err) {
        return;
    }
    err->status = status;
    snprintf(err->parameter, sizeof err->parameter, "%s", parameter);
    vsnprintf(err->text, sizeof err->text, format, arguments);
}

enum status fail(struct error *err, enum status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    record(err, status, "", format, arguments);
    va_end(arguments);
    return status;
}

enum status fail_naming(struct error *err, enum status status, const char *parameter, const char *format,
                        ...) {
    va_list arguments;
    va_start(arguments, format);
    record(err, status, parameter, format, arguments);
    va_end(arguments);
    return status;
}

enum status fail_argument(struct error *err, const char *parameter, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    record(err, ST_ARGUMENT, parameter, format, arguments);
    va_end(arguments);
    return ST_ARGUMENT;
}
