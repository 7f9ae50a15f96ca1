/* SPDX-License-Identifier: MIT */
#include "server/message/trace.h"

#include <string.h>

enum { FIELD_SIZE = 55 }; /* 00-<32 digits>-<16 digits>-<2 digits> */

/* Offsets of the parts. */
enum { VERSION_AT = 0, TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53 };

/* Digits are lower case; capitals are not allowed. */
static bool is_hex(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'))) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '0') {
            return false;
        }
    }
    return true;
}

/* Later versions may append fields after a dash; version ff is invalid. */
static bool is_valid(const char *value, size_t size) {
    if (size < FIELD_SIZE || value[TRACE_AT - 1] != '-' || value[PARENT_AT - 1] != '-' ||
        value[FLAGS_AT - 1] != '-') {
        return false;
    }
    bool first = memcmp(value, "00", 2) == 0;
    bool length = size == FIELD_SIZE || (!first && value[FIELD_SIZE] == '-');
    return length && is_hex(value + VERSION_AT, 2) && memcmp(value, "ff", 2) != 0 &&
           is_hex(value + TRACE_AT, TRACE_ID_SIZE) && !is_zero(value + TRACE_AT, TRACE_ID_SIZE) &&
           is_hex(value + PARENT_AT, TRACE_PARENT_SIZE) && !is_zero(value + PARENT_AT, TRACE_PARENT_SIZE) &&
           is_hex(value + FLAGS_AT, 2);
}

void trace_header(struct trace *trace, const char *value, size_t size) {
    trace->fields++;
    trace->known = trace->fields == 1 && is_valid(value, size);
    if (trace->known) {
        const char *low = value + FLAGS_AT + 1;
        trace->sampled = strchr("13579bdf", *low) != NULL;
        memcpy(trace->trace_id, value + TRACE_AT, TRACE_ID_SIZE);
        memcpy(trace->parent_id, value + PARENT_AT, TRACE_PARENT_SIZE);
    }
}
