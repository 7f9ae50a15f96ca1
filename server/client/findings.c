/* SPDX-License-Identifier: MIT */
#include "server/client/findings.h"

#include <stdarg.h>

static void write_lines(const struct findings *findings, const char *sign, const char *name,
                        const char *remedy, const char *text, va_list values) {
    fprintf(findings->out, "%-5s %-10s ", sign, name);
    vfprintf(findings->out, text, values);
    fputc('\n', findings->out);
    if (remedy) {
        fprintf(findings->out, "%17s%s\n", "", remedy);
    }
}

void findings_good(struct findings *findings, const char *name, const char *text, ...) {
    va_list values;
    va_start(values, text);
    write_lines(findings, "ok", name, NULL, text, values);
    va_end(values);
    findings->good++;
}

void findings_note(struct findings *findings, const char *name, const char *remedy, const char *text, ...) {
    va_list values;
    va_start(values, text);
    write_lines(findings, "note", name, remedy, text, values);
    va_end(values);
    findings->notes++;
}

void findings_fail(struct findings *findings, const char *name, const char *remedy, const char *text, ...) {
    va_list values;
    va_start(values, text);
    write_lines(findings, "WRONG", name, remedy, text, values);
    va_end(values);
    findings->wrong++;
}
