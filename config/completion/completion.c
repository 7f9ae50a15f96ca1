/* SPDX-License-Identifier: MIT */
#include "config/completion/completion.h"

#include <string.h>

void completion_name(const char *name, FILE *out) {
    for (; *name; name++) {
        fputc(*name == '_' ? '-' : *name, out);
    }
}

void completion_sentence(const char *help, const char *special, const char *quote, FILE *out) {
    for (; *help && !(*help == '.' && (help[1] == ' ' || help[1] == '\0')); help++) {
        if (*help == '\'') {
            fputs(quote, out);
        } else if (*help != '`') {
            fprintf(out, "%s%c", strchr(special, *help) ? "\\" : "", *help);
        }
    }
}

bool completion_values(const struct option *row, FILE *out) {
    bool any = false;
    for (size_t i = 0; row->type == OPTION_CHOICE && i < row->choice_count; i++) {
        if (strcmp(row->choices[i].option, row->name) == 0) {
            fprintf(out, "%s%s", any ? " " : "", row->choices[i].value);
            any = true;
        }
    }
    if (row->type == OPTION_SWITCH || (row->type == OPTION_TEXT && *row->initial_text)) {
        fputs(row->type == OPTION_SWITCH ? "on off" : row->initial_text, out);
        any = true;
    }
    return any;
}

void completion_job_names(const struct completion_jobs *jobs, const char *separator, FILE *out) {
    for (size_t i = 0; i < jobs->count; i++) {
        fprintf(out, "%s%s", i ? separator : "", jobs->job[i].name);
    }
}
