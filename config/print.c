/* SPDX-License-Identifier: MIT
 * Prints the options: help, reference page, sample file and effective configuration. */
#include <string.h>

#include "config/config.h"
#include "config/job/job.h"
#include "config/manual.h"

enum { HELP_WIDTH = 80 };

/* max_body as max-body. */
static void print_dashed(const char *name, FILE *out) {
    for (; *name; name++) {
        fputc(*name == '_' ? '-' : *name, out);
    }
}

/* max_body as MAX_BODY. */
static void print_capitals(const char *name, FILE *out) {
    for (; *name; name++) {
        fputc(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, out);
    }
}

/* Prints words with line breaks; every line starts with `indent`. */
static void print_wrapped(const char *indent, const char *text, FILE *out) {
    size_t column = 0; /* where the next character goes; 0: no line is begun */
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column == 0 || column + 1 + length > HELP_WIDTH) {
            fprintf(out, "%s%s", column == 0 ? "" : "\n", indent);
            column = strlen(indent);
        } else {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* "from 0 to 512 threads; default 0". */
static void describe(const struct option *row, char *text, size_t size) {
    char allowed[160];
    char initial[OPTION_VALUE_MAX];
    option_format_allowed(row, allowed, sizeof allowed);
    option_format_initial(row, initial);
    snprintf(text, size, "%s%s%s; default %s", allowed, *row->unit ? " " : "", row->unit,
             *initial ? initial : "empty");
}

static void print_help(FILE *out) {
    static const char *const usage =
        "Usage: blurd [--OPTION VALUE]...\n"
        "       blurd run JOB IN... -o OUT\n"
        "Serves image filters over HTTP until SIGTERM; or lets a daemon do a job with\n"
        "many files (blurd run --help).\n\n"
        "Every option can also be an environment variable (BLURD_MAX_BODY for --max-body)\n"
        "or a line in a file (max_body = 20MiB). Flags override the environment, which\n"
        "overrides the file. Sizes take KiB, MiB, GiB; times take ms, s, m, h.\n\n";
    fputs(usage, out);
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_VALUE_MAX + 512];
        fputs("  --", out);
        print_dashed(rows[i].name, out);
        fprintf(out, " %s\n", option_placeholder(&rows[i]));
        print_wrapped("      ", rows[i].help, out);
        describe(&rows[i], text, sizeof text);
        print_wrapped("      ", text, out);
    }
    fputs("  --config FILE\n      File to read options from; also BLURD_CONFIG.\n", out);
    const struct config_flag *flags = config_flags(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  --%s\n", flags[i].flag);
        print_wrapped("      ", flags[i].help, out);
    }
}

void job_print_help(FILE *out) {
    static const char *const usage =
        "Usage: blurd run JOB [OPTION]... IN... -o OUT\n"
        "Lets a daemon of its own, or running ones, do one job with many files.\n\n"
        "JOB is an operation with its parameters, as in a URL: 'redact?detect=faces,text'.\n"
        "`run` may be left out. IN are files, with --recursive also folders, or - for a\n"
        "picture on standard input. The own daemon takes the options that `blurd --help`\n"
        "lists, too. Exits with 0 when all files are done, 1 when some are not, and 2 when\n"
        "the command line or the job is wrong.\n\n";
    size_t count;
    const char *letters;
    const struct option *rows = job_options(&count, &letters);
    fputs(usage, out);
    for (size_t i = 0; i < count; i++) {
        fputs("  ", out);
        if (letters[i]) {
            fprintf(out, "-%c, ", letters[i]);
        }
        fputs("--", out);
        print_dashed(rows[i].name, out);
        fprintf(out, "%s%s\n", rows[i].type == OPTION_SWITCH ? "" : " ",
                rows[i].type == OPTION_SWITCH ? "" : option_placeholder(&rows[i]));
        print_wrapped("      ", rows[i].help, out);
    }
}

static void print_markdown_row(const struct option *row, FILE *out) {
    char text[OPTION_VALUE_MAX];
    fprintf(out, "| `%s` | `--", row->name);
    print_dashed(row->name, out);
    fputs("`<br>`BLURD_", out);
    print_capitals(row->name, out);
    option_format_initial(row, text);
    fprintf(out, "` | %s%s%s | ", *text ? "`" : "", *text ? text : "empty", *text ? "`" : "");
    option_format_allowed(row, text, sizeof text);
    fprintf(out, "%s%s%s | %s%s |\n", text, *row->unit ? " " : "", row->unit, row->help,
            row->reloads ? " A reload changes it." : "");
}

/* The options of `blurd run`. */
static void print_markdown_job(FILE *out) {
    size_t count;
    const char *letters;
    const struct option *rows = job_options(&count, &letters);
    fputs("\n## Options of `blurd run`\n\n"
          "These are flags only. Switches need no value.\n\n"
          "| flag | default | what it does |\n|---|---|---|\n",
          out);
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_VALUE_MAX];
        option_format_initial(&rows[i], text);
        fputs("| `--", out);
        print_dashed(rows[i].name, out);
        fputc('`', out);
        if (letters[i]) {
            fprintf(out, ", `-%c`", letters[i]);
        }
        fprintf(out, " | %s%s%s | %s |\n", *text ? "`" : "", *text ? text : "empty", *text ? "`" : "",
                rows[i].help);
    }
}

static void print_markdown(FILE *out) {
    static const char *const head =
        "<!-- SPDX-License-Identifier: MIT. Made by `make docs` from config/options.def; edit that. -->\n"
        "# Configuration\n\n"
        "Every option can be given as a flag (`--max-body 20MiB` or `--max-body=20MiB`), as an environment\n"
        "variable (`BLURD_MAX_BODY=20MiB`), or in a file that `--config FILE` or `BLURD_CONFIG` names\n"
        "(`max_body = 20MiB`, one option per line, `#` starts a comment). Flags override the environment, "
        "the\n"
        "environment overrides the file, and the file overrides the defaults.\n"
        "[config/blurd.conf](../config/blurd.conf) lists all options with their defaults.\n\n"
        "* An unknown option, a value that is not allowed, or an option given twice in one place stops the "
        "start\n"
        "  with one sentence and exit status 78. Nothing is ignored or clamped.\n"
        "* `blurd --check-config` prints the effective configuration and exits. Where the daemon chooses a "
        "value\n"
        "  itself, the output shows the value it would choose on this machine.\n"
        "* `PORT`, which serverless platforms set, works like `BLURD_PORT`; `BLURD_PORT` overrides it.\n"
        "* Variables that Kubernetes sets for a service called `blurd` are ignored: `BLURD_SERVICE_HOST`,\n"
        "  `BLURD_PORT=tcp://…`, `BLURD_PORT_80_TCP…`.\n"
        "* Sizes take `KiB`, `MiB`, `GiB` (or `K`, `M`, `G`; powers of 1024). Pixels take `MP` (a million).\n"
        "  Times take `ms`, `s`, `m`, `h`.\n\n"
        "| option | flag, variable | default | allowed | what it does |\n"
        "|---|---|---|---|---|\n";
    fputs(head, out);
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        print_markdown_row(&rows[i], out);
    }
    print_markdown_job(out);
}

static void print_file(FILE *out) {
    fputs("# SPDX-License-Identifier: MIT\n"
          "# Configuration of blurd with its defaults. Made by `make docs` from config/options.def.\n"
          "# Use it with blurd --config FILE. To set an option, remove the `#` before it.\n",
          out);
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_VALUE_MAX + 512];
        fputc('\n', out);
        print_wrapped("# ", rows[i].help, out);
        describe(&rows[i], text, sizeof text);
        print_wrapped("# ", text, out);
        option_format_initial(&rows[i], text);
        fprintf(out, "#%s =%s%s\n", rows[i].name, *text ? " " : "", text);
    }
}

void config_print(const struct config *config, const struct config *effective, FILE *out) {
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_VALUE_MAX];
        char given[OPTION_VALUE_MAX];
        option_format(&rows[i], effective, text);
        option_format(&rows[i], config, given);
        fprintf(out, "%s =%s%s", rows[i].name, *text ? " " : "", text);
        if (strcmp(text, given) != 0) {
            fprintf(out, "  # picked on this machine for %s", given);
        }
        fputc('\n', out);
    }
}

int config_answer(enum config_action action, const struct config *config, const char *version, FILE *out) {
    switch (action) {
    case CONFIG_RUN:
    case CONFIG_HELP_OPENAPI:
    case CONFIG_HELP_COMPLETION:
    case CONFIG_HELP_COMPLETION_ZSH:
    case CONFIG_HELP_COMPLETION_FISH:
    case CONFIG_CHECK_HEALTH:
    case CONFIG_BENCHMARK:
    case CONFIG_DOCTOR:
    case CONFIG_VERIFY:
    case CONFIG_REPORT_PUBLIC_KEY:
        break;
    case CONFIG_HELP_MAN:
        manual_print(out);
        break;
    case CONFIG_HELP:
        print_help(out);
        break;
    case CONFIG_VERSION:
        fprintf(out, "%s\n", version);
        break;
    case CONFIG_CHECK:
        config_print(config, config, out);
        break;
    case CONFIG_HELP_MARKDOWN:
        print_markdown(out);
        break;
    case CONFIG_HELP_FILE:
        print_file(out);
        break;
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : 1;
}
