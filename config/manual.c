/* SPDX-License-Identifier: MIT */
#include "config/manual.h"

#include <string.h>

#include "config/config.h"
#include "core/version.h"

/* max_body as max-body; roff needs an escape for a real dash. */
static void print_flag(const char *name, const char *dash, FILE *out) {
    fprintf(out, "%s%s", dash, dash);
    for (; *name; name++) {
        if (*name == '_' || *name == '-') {
            fputs(dash, out);
        } else {
            fputc(*name, out);
        }
    }
}

/* Escapes dashes and backslashes, and prints text in backquotes bold. No sentence of the tables begins with a
 * dot or an apostrophe, which would be a command. */
static void print_paragraph(const char *text, FILE *out) {
    bool bold = false;
    for (; *text; text++) {
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", out);
        } else if (*text == '-') {
            fputs("\\-", out);
        } else if (*text == '\\') {
            fputs("\\e", out);
        } else {
            fputc(*text, out);
        }
    }
    fputc('\n', out);
}

static void print_manual_row(const struct option *row, FILE *out) {
    char text[OPTION_VALUE_MAX];
    fputs(".TP\n\\fB", out);
    print_flag(row->name, "\\-", out);
    fprintf(out, "\\fR \\fI%s\\fR\n", option_placeholder(row));
    print_paragraph(row->help, out);
    fputs(".br\n", out);
    option_format_allowed(row, text, sizeof text);
    fprintf(out, "Allowed: %s%s%s; default: ", text, *row->unit ? " " : "", row->unit);
    option_format_initial(row, text);
    print_paragraph(*text ? text : "empty", out);
}

static const char *const head =
    ".\\\" SPDX-License-Identifier: MIT. Made from the tables of options by blurd --help-man.\n"
    ".TH BLURD 8 \"\" \"blurd " BLURD_VERSION "\" \"System Administration\"\n"
    ".SH NAME\nblurd \\- serve image filters over HTTP\n"
    ".SH SYNOPSIS\n.B blurd\n[\\fB\\-\\-\\fIoption value\\fR]...\n"
    ".SH DESCRIPTION\n"
    "Takes JPEG, PNG, WebP, AVIF and HEIC pictures over HTTP and answers with the filtered picture. Runs "
    "until SIGTERM.\n"
    "SIGHUP reloads the configuration. To clients other than browsers \\fBGET /\\fR lists the endpoints.\n"
    ".PP\n"
    "Every option can also be an environment variable (\\fBBLURD_MAX_BODY\\fR for\n"
    "\\fB\\-\\-max\\-body\\fR) or a line in a file (\\fBmax_body = 20MiB\\fR). Flags override the\n"
    "environment, which overrides the file. Sizes take KiB, MiB, GiB; times take ms, s, m, h.\n"
    ".SH OPTIONS\n";

static const char *const tail =
    ".SH ENVIRONMENT\n.TP\n.B PORT\nWorks like \\fBBLURD_PORT\\fR, which overrides it.\n"
    ".SH FILES\n.TP\n.I /etc/blurd/blurd.conf\nThe file that the packaged service reads.\n"
    ".SH EXIT STATUS\n"
    "0 after all requests were finished, 69 when a required GPU does not serve, 75 when requests were cut\n"
    "off, 78 when the configuration is wrong.\n"
    ".SH SEE ALSO\n.BR systemd.socket (5)\n";

void manual_print(FILE *out) {
    size_t count;
    fputs(head, out);
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        print_manual_row(&rows[i], out);
    }
    fputs(".TP\n\\fB\\-\\-config\\fR \\fIFILE\\fR\nFile to read options from; also \\fBBLURD_CONFIG\\fR.\n",
          out);
    const struct config_flag *flags = config_flags(&count);
    for (size_t i = 0; i < count; i++) {
        fputs(".TP\n\\fB", out);
        print_flag(flags[i].flag, "\\-", out);
        fputs("\\fR\n", out);
        print_paragraph(flags[i].help, out);
    }
    fputs(tail, out);
}

/* Names an option's value; a text without a default is a file. */
static void print_completion_row(const struct option *row, FILE *out) {
    bool text = row->type == OPTION_TEXT;
    fputs("    ", out);
    print_flag(row->name, "-", out);
    if (text && !*row->initial_text) {
        fputs(") files=yes ;;\n", out);
        return;
    }
    fputs(") words='", out);
    for (size_t i = 0; row->type == OPTION_CHOICE && i < row->choice_count; i++) {
        if (strcmp(row->choices[i].option, row->name) == 0) {
            fprintf(out, "%s ", row->choices[i].value);
        }
    }
    fprintf(out, "%s' ;;\n", row->type == OPTION_SWITCH ? "on off" : text ? row->initial_text : "");
}

static void print_all_flags(FILE *out) {
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        print_flag(rows[i].name, "-", out);
        fputc(' ', out);
    }
    const struct config_flag *flags = config_flags(&count);
    for (size_t i = 0; i < count; i++) {
        print_flag(flags[i].flag, "-", out);
        fputc(' ', out);
    }
    fputs("--config", out);
}

void manual_print_completion(FILE *out) {
    size_t count;
    fputs(
        "# SPDX-License-Identifier: MIT\n# Completions of blurd for bash, made by blurd --help-completion.\n"
        "_blurd() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} words files=\n"
        "    # bash takes --flag=value for three words\n"
        "    if [ \"$word\" = = ]; then\n        word=\n"
        "    elif [ \"$flag\" = = ]; then\n        flag=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
        "    case $flag in\n    --config) files=yes ;;\n",
        out);
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        print_completion_row(&rows[i], out);
    }
    fputs("    *) words='", out);
    print_all_flags(out);
    fputs("' ;;\n    esac\n"
          "    if [ -n \"$files\" ]; then\n        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    else\n        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n    fi\n"
          "}\ncomplete -F _blurd blurd\n",
          out);
}
