/* SPDX-License-Identifier: MIT
 * Outcomes, and one sentence that explains a failure.
 *
 * Every fallible function returns `enum status` and takes a `struct error *` as its last argument. The
 * function that detects the failure records the sentence and returns in one statement:
 *
 *     return fail(err, ST_CORRUPT, "JPEG data ends after row %u of %u", y, h);
 *
 * A status stands for a reaction of the caller, not for a cause. server/problem.c maps them to HTTP codes. */
#ifndef BLURD_CORE_STATUS_H
#define BLURD_CORE_STATUS_H

#include <stdarg.h>

enum status {
    ST_OK = 0,
    ST_ARGUMENT,    /* a parameter is wrong; error.parameter names it */
    ST_CORRUPT,     /* the picture is damaged, cut short or empty */
    ST_UNSUPPORTED, /* a format or a variant that is not supported */
    ST_TOO_LARGE,   /* more bytes than the body limit */
    ST_NOTHING,     /* what was looked for is not in the picture */
    ST_UNVERIFIED,  /* a proof does not hold */
    ST_LIMIT,       /* legal, but over a limit: pixels, scans, markers, time */
    ST_BUSY,        /* no memory, slot or queue place now; trying again helps */
    ST_TIMEOUT,     /* the peer was too slow */
    ST_CANCELLED,   /* the peer has gone and does not wait for the answer */
    ST_DEVICE,      /* the backend failed; another backend may do it */
    ST_INTERNAL,    /* our own bug */
    ST_COUNT
};

enum { ERROR_PARAMETER_MAX = 32, ERROR_TEXT_MAX = 512 };

/* Filled by fail(); zero-initialise before use. Plain data, may be copied. */
struct error {
    enum status status;
    char parameter[ERROR_PARAMETER_MAX]; /* name of the parameter at fault, or that decided, or "" */
    char text[ERROR_TEXT_MAX];           /* one sentence for people, no internals */
};

/* Records `status` and the formatted sentence in *err (which may be NULL) and returns `status`. A sentence
 * that is too long is cut. The parameter name is cleared. */
enum status fail(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the name of the parameter that decided. */
enum status fail_naming(struct error *err, enum status status, const char *parameter, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a parameter that is wrong: ST_ARGUMENT. */
enum status fail_argument(struct error *err, const char *parameter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Analysers see one file at a time and need to know that fail() returns a failure. */
#ifdef STATIC_ANALYSIS
#define fail(err, status, ...) ((void)(fail)(err, status, __VA_ARGS__), (status))
#define fail_naming(err, status, ...) ((void)(fail_naming)(err, status, __VA_ARGS__), (status))
#define fail_argument(err, ...) ((void)(fail_argument)(err, __VA_ARGS__), ST_ARGUMENT)
#endif

/* A short constant name, "corrupt" for ST_CORRUPT: for logs and metric labels. */
const char *status_name(enum status status);

#endif
