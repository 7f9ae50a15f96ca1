/* SPDX-License-Identifier: MIT */
#include "config/option.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    enum option_type type;
    const char *suffix;
    int64_t factor;
};

/* Largest first within a type: option_format takes the first that divides the value. The spelling to print
 * stands before its abbreviations. */
static const struct unit units[] = {
    {OPTION_WHOLE, "", 1},           {OPTION_PIXELS, "MP", MEGAPIXEL},
    {OPTION_PIXELS, "M", MEGAPIXEL}, {OPTION_PIXELS, "", 1},
    {OPTION_BYTES, "GiB", GIB},      {OPTION_BYTES, "MiB", MIB},
    {OPTION_BYTES, "KiB", KIB},      {OPTION_BYTES, "", 1},
    {OPTION_BYTES, "G", GIB},        {OPTION_BYTES, "M", MIB},
    {OPTION_BYTES, "K", KIB},        {OPTION_BYTES, "k", KIB},
    {OPTION_BYTES, "B", 1},          {OPTION_DURATION, "h", HOUR},
    {OPTION_DURATION, "m", MINUTE},  {OPTION_DURATION, "s", SECOND},
    {OPTION_DURATION, "ms", 1},
};

enum { UNIT_COUNT = sizeof units / sizeof *units };

static const struct {
    const char *word;
    bool value;
} switch_words[] = {
    {"true", true}, {"false", false}, {"yes", true}, {"no", false},
    {"on", true},   {"off", false},   {"1", true},   {"0", false},
};

enum { SWITCH_WORDS = sizeof switch_words / sizeof *switch_words };

static bool is_number(enum option_type type) {
    return type == OPTION_WHOLE || type == OPTION_PIXELS || type == OPTION_BYTES || type == OPTION_DURATION;
}

/* The factor of a suffix; 0 when the type has no such unit. */
static int64_t unit_factor(enum option_type type, const char *suffix) {
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (units[i].type == type && strcmp(units[i].suffix, suffix) == 0) {
            return units[i].factor;
        }
    }
    return 0;
}

/* "20 MiB" to 20971520. False for signs, fractions, exponents, and numbers that do not fit. */
static bool parse_number(enum option_type type, const char *text, int64_t *value) {
    int64_t number = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *p - '0', &number)) {
            return false;
        }
    }
    if (p == text) {
        return false;
    }
    while (*p == ' ' && p[1] != '\0') {
        p++;
    }
    if (number == 0 && *p == '\0') { /* zero needs no unit */
        *value = 0;
        return true;
    }
    int64_t factor = unit_factor(type, p);
    return factor != 0 && !__builtin_mul_overflow(number, factor, value);
}

static void store_number(const struct option *row, int64_t value, void *target) {
    char *member = (char *)target + row->offset;
    switch (row->type) {
    case OPTION_WHOLE:
        memcpy(member, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
        break;
    case OPTION_PIXELS:
    case OPTION_BYTES:
    case OPTION_DURATION: /* an int64_t with the same bytes */
        memcpy(member, &value, sizeof value);
        break;
    case OPTION_SWITCH:
        memcpy(member, &(bool){value != 0}, sizeof(bool));
        break;
    case OPTION_CHOICE: /* gcc and clang give an enum without negatives the size of unsigned */
        memcpy(member, &(unsigned){(unsigned)value}, sizeof(unsigned));
        break;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_ADDRESS:
        break;
    }
}

static int64_t load_number(const struct option *row, const void *target) {
    const char *member = (const char *)target + row->offset;
    int64_t wide = 0;
    unsigned narrow = 0;
    bool truth = false;
    switch (row->type) {
    case OPTION_WHOLE:
    case OPTION_CHOICE:
        memcpy(&narrow, member, sizeof narrow);
        return narrow;
    case OPTION_SWITCH:
        memcpy(&truth, member, sizeof truth);
        return truth;
    case OPTION_PIXELS:
    case OPTION_BYTES:
    case OPTION_DURATION:
        memcpy(&wide, member, sizeof wide);
        return wide;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_ADDRESS:
        break;
    }
    return 0;
}

/* Looks the value up among the words of a switch or choice. */
static bool parse_word(const struct option *row, const char *text, int64_t *value) {
    if (row->type == OPTION_SWITCH) {
        for (size_t i = 0; i < SWITCH_WORDS; i++) {
            if (strcmp(switch_words[i].word, text) == 0) {
                *value = switch_words[i].value;
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; i < row->choice_count; i++) {
        if (strcmp(row->choices[i].option, row->name) == 0 && strcmp(row->choices[i].value, text) == 0) {
            *value = (int64_t)i;
            return true;
        }
    }
    return false;
}

static bool text_is_valid(const struct option *row, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return false;
        }
    }
    struct in6_addr scratch;
    const size_t prefix = sizeof OPTION_LOCAL_PREFIX - 1;
    return row->type != OPTION_ADDRESS || length == 0 ||
           (length > prefix && strncmp(text, OPTION_LOCAL_PREFIX, prefix) == 0) ||
           inet_pton(AF_INET, text, &scratch) == 1 || inet_pton(AF_INET6, text, &scratch) == 1;
}

static enum status refuse(const struct option *row, struct error *err) {
    char allowed[160];
    option_format_allowed(row, allowed, sizeof allowed);
    const char *hint = row->type == OPTION_DURATION ? ", with its unit: ms, s, m or h" : "";
    return fail_argument(err, row->name, "it must be %s%s", allowed, hint);
}

enum status option_parse(const struct option *row, const char *text, void *target, struct error *err) {
    int64_t value = 0;
    if (row->initial_text) {
        size_t length = strlen(text);
        if ((int64_t)length < row->minimum || (int64_t)length > row->maximum ||
            !text_is_valid(row, text, length)) {
            return refuse(row, err);
        }
        memcpy((char *)target + row->offset, text, length + 1);
        return ST_OK;
    }
    if (is_number(row->type)) {
        if (!parse_number(row->type, text, &value) || value < row->minimum || value > row->maximum) {
            return refuse(row, err);
        }
    } else if (!parse_word(row, text, &value)) {
        return refuse(row, err);
    }
    store_number(row, value, target);
    return ST_OK;
}

void option_set_initial(const struct option *row, void *target) {
    if (row->initial_text) {
        memcpy((char *)target + row->offset, row->initial_text, strlen(row->initial_text) + 1);
    } else {
        store_number(row, row->initial, target);
    }
}

static void format_number(const struct option *row, int64_t value, char *text, size_t size) {
    if (row->type == OPTION_SWITCH) {
        snprintf(text, size, "%s", value ? "true" : "false");
        return;
    }
    if (row->type == OPTION_CHOICE) {
        snprintf(text, size, "%s", (size_t)value < row->choice_count ? row->choices[value].value : "?");
        return;
    }
    if (value == 0) {
        snprintf(text, size, "%s", row->type == OPTION_DURATION ? "0s" : "0");
        return;
    }
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (units[i].type == row->type && value % units[i].factor == 0) {
            snprintf(text, size, "%" PRId64 "%s", value / units[i].factor, units[i].suffix);
            return;
        }
    }
}

void option_format(const struct option *row, const void *target, char *text) {
    if (row->initial_text) {
        snprintf(text, OPTION_VALUE_MAX, "%s", (const char *)target + row->offset);
    } else {
        format_number(row, load_number(row, target), text, OPTION_VALUE_MAX);
    }
}

void option_format_initial(const struct option *row, char *text) {
    if (row->initial_text) {
        snprintf(text, OPTION_VALUE_MAX, "%s", row->initial_text);
    } else {
        format_number(row, row->initial, text, OPTION_VALUE_MAX);
    }
}

static void format_choices(const struct option *row, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "one of");
    const char *separator = " ";
    for (size_t i = 0; i < row->choice_count && used < size; i++) {
        if (strcmp(row->choices[i].option, row->name) == 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", separator, row->choices[i].value);
            separator = ", ";
        }
    }
}

void option_format_allowed(const struct option *row, char *text, size_t size) {
    char low[32];
    char high[32];
    switch (row->type) {
    case OPTION_SWITCH:
        snprintf(text, size, "true or false");
        break;
    case OPTION_CHOICE:
        format_choices(row, text, size);
        break;
    case OPTION_TEXT:
    case OPTION_FILE:
        snprintf(text, size, "printable and from %" PRId64 " to %" PRId64 " bytes long", row->minimum,
                 row->maximum);
        break;
    case OPTION_ADDRESS:
        snprintf(text, size, "a numeric IPv4 or IPv6 address, or unix: and a path of up to %d bytes%s",
                 OPTION_LOCAL_PATH_MAX, row->minimum > 0 ? "" : ", or empty");
        break;
    default:
        format_number(row, row->minimum, low, sizeof low);
        format_number(row, row->maximum, high, sizeof high);
        snprintf(text, size, "from %s to %s", low, high);
    }
}

const char *option_placeholder(const struct option *row) {
    switch (row->type) {
    case OPTION_WHOLE:
        return "NUMBER";
    case OPTION_PIXELS:
        return "PIXELS";
    case OPTION_BYTES:
        return "SIZE";
    case OPTION_DURATION:
        return "TIME";
    case OPTION_SWITCH:
        return "SWITCH";
    case OPTION_CHOICE:
        return "WORD";
    case OPTION_TEXT:
        return "TEXT";
    case OPTION_FILE:
        return "FILE";
    case OPTION_ADDRESS:
        return "ADDRESS";
    }
    return "VALUE";
}
