/* SPDX-License-Identifier: MIT
 * Types of options: how the text of a value becomes the member of a struct and back.
 * Knows nothing of which options exist; that is config/options.def. */
#ifndef BLURD_CONFIG_OPTION_H
#define BLURD_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Factors for the table's numbers. Durations are stored in milliseconds. */
#define KIB 1024LL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define MEGAPIXEL 1000000LL
#define SECOND 1000LL
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

enum option_type {
    OPTION_WHOLE,    /* digits; stored as uint32_t */
    OPTION_PIXELS,   /* digits, or with M or MP for a million; uint64_t */
    OPTION_BYTES,    /* digits, or with B, K or KiB, M or MiB, G or GiB (powers of 1024); uint64_t */
    OPTION_DURATION, /* digits with ms, s, m or h, and 0 alone; milliseconds as int64_t */
    OPTION_SWITCH,   /* true, false, yes, no, on, off, 1, 0; bool */
    OPTION_CHOICE,   /* one of the values of the table; enum config_choice */
    OPTION_TEXT,     /* any characters but control characters; char[maximum + 1] */
    OPTION_FILE,     /* the same, and names a file or a folder */
    OPTION_ADDRESS,  /* a numeric IPv4 or IPv6 address, or unix:PATH; char[maximum + 1] */
};

/* unix:PATH is a socket in the file system. */
#define OPTION_LOCAL_PREFIX "unix:"
enum {
    OPTION_LOCAL_PATH_MAX = 107, /* bytes; sockaddr_un's, without the ending zero */
    OPTION_ADDRESS_MAX = (int)sizeof OPTION_LOCAL_PREFIX - 1 + OPTION_LOCAL_PATH_MAX,
};

/* One value of a CHOICE option. */
struct option_choice {
    const char *option; /* name of the option that it belongs to */
    const char *value;
};

/* The column `when` of the table, as a truth value. */
enum { OPTION_START = false, OPTION_RELOAD = true };

/* One row of the table. */
struct option {
    const char *name; /* with underscores */
    enum option_type type;
    bool reloads;             /* may change while the daemon runs */
    size_t offset;            /* of the member in the struct that is filled */
    int64_t initial;          /* default; TEXT, FILE and ADDRESS: initial_text */
    const char *initial_text; /* NULL for the other types */
    int64_t minimum, maximum; /* inclusive; TEXT, FILE and ADDRESS: of the length in bytes */
    const char *unit;         /* "threads"; "" when the type says it */
    const char *help;
    const struct option_choice *choices; /* all CHOICE values of the table, all options mixed */
    size_t choice_count;
};

/* The default of a row, by its type: a number or a string; the other of the two is absent. */
#define OPTION_INITIAL_WHOLE(value) .initial = (value)
#define OPTION_INITIAL_PIXELS(value) .initial = (value)
#define OPTION_INITIAL_BYTES(value) .initial = (value)
#define OPTION_INITIAL_DURATION(value) .initial = (value)
#define OPTION_INITIAL_SWITCH(value) .initial = (value)
#define OPTION_INITIAL_CHOICE(value) .initial = (value)
#define OPTION_INITIAL_TEXT(value) .initial_text = (value)
#define OPTION_INITIAL_FILE(value) .initial_text = (value)
#define OPTION_INITIAL_ADDRESS(value) .initial_text = (value)

enum { OPTION_VALUE_MAX = 1100 }; /* option_format's longest text, with the ending zero */

/* Parses `text` (zero-terminated) into the member of *target. On failure *target is
 * unchanged and the error says only what is allowed ("it must be from 0 to 65535"): the
 * caller knows where the value came from. */
enum status option_parse(const struct option *row, const char *text, void *target, struct error *err);

/* Sets the member of *target to the row's default. */
void option_set_initial(const struct option *row, void *target);

/* Writes the member's value as option_parse reads it, in the largest unit that divides
 * it ("20MiB"). `text` holds OPTION_VALUE_MAX bytes. */
void option_format(const struct option *row, const void *target, char *text);

/* The same for the default. */
void option_format_initial(const struct option *row, char *text);

/* Writes what is allowed: "from 0 to 65535", "one of text, json". `size` bytes at most. */
void option_format_allowed(const struct option *row, char *text, size_t size);

/* What kind of value it takes, in a word for --help: "SIZE", "TIME", "NUMBER". */
const char *option_placeholder(const struct option *row);

#endif
