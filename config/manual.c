/* SPDX-License-Identifier: MIT */
#include "config/manual.h"

#include "config/config.h"
#include "config/job/job.h"
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

/* Switches of a job stand alone. What is allowed and the default are left out where they say nothing. */
static void print_job_row(const struct option *row, char letter, FILE *out) {
    char text[OPTION_VALUE_MAX];
    const bool bare = row->type == OPTION_SWITCH;
    fputs(".TP\n", out);
    if (letter) {
        fprintf(out, "\\fB\\-%c\\fR, ", letter);
    }
    fputs("\\fB", out);
    print_flag(row->name, "\\-", out);
    fprintf(out, bare ? "\\fR%s\n" : "\\fR \\fI%s\\fR\n", bare ? "" : option_placeholder(row));
    print_paragraph(row->help, out);
    if (row->type == OPTION_WHOLE) {
        option_format_allowed(row, text, sizeof text);
        fprintf(out, ".br\nAllowed: %s %s; default: ", text, row->unit);
        option_format_initial(row, text);
        print_paragraph(text, out);
    }
}

static const char *const head =
    ".\\\" SPDX-License-Identifier: MIT. Made from the tables of options by blurd --help-man.\n"
    ".TH BLURD 8 \"\" \"blurd " BLURD_VERSION "\" \"System Administration\"\n"
    ".SH NAME\nblurd \\- serve image filters over HTTP, or do a job with many files\n"
    ".SH SYNOPSIS\n.B blurd\n[\\fB\\-\\-\\fIoption value\\fR]...\n"
    ".br\n.B blurd run\n\\fIJOB\\fR [\\fIOPTION\\fR]... \\fIIN\\fR... \\fB\\-o\\fR \\fIOUT\\fR\n"
    ".SH DESCRIPTION\n"
    "Takes JPEG, PNG, WebP, AVIF, HEIC, TIFF, BMP and JPEG XL pictures over HTTP and answers with the "
    "filtered "
    "picture. "
    "Runs "
    "until SIGTERM.\n"
    "SIGHUP reloads the configuration. To clients other than browsers \\fBGET /\\fR lists the endpoints.\n"
    ".PP\n"
    "Every option can also be an environment variable (\\fBBLURD_MAX_BODY\\fR for\n"
    "\\fB\\-\\-max\\-body\\fR) or a line in a file (\\fBmax_body = 20MiB\\fR). Flags override the\n"
    "environment, which overrides the file. Sizes take KiB, MiB, GiB; times take ms, s, m, h.\n"
    ".SH OPTIONS\n";

static const char *const jobs =
    ".SH JOBS WITH FILES\n"
    "\\fBblurd run\\fR lets a daemon do one job with many files, and waits until all are done. A job is an\n"
    "operation with its parameters, as in a URL: \\fB\\(aqredact?detect=faces,text\\(aq\\fR. \\fBrun\\fR "
    "may\n"
    "be left out: a job may begin the command.\n"
    ".PP\n"
    "    blurd run \\(aqredact?detect=faces\\(aq photos \\-r \\-o out\n"
    ".br\n"
    "    blurd \\(aqredact?detect=faces\\(aq photos \\-r \\-o out\n"
    ".PP\n"
    "\\fIIN\\fR are files, with \\fB\\-r\\fR also folders, or \\fB\\-\\fR for a picture on standard input.\n"
    "Options may stand anywhere behind the job; \\fB\\-\\-\\fR ends them. The command starts a daemon of "
    "its\n"
    "own and ends it, unless \\fB\\-\\-server\\fR names running ones. The own daemon takes the options of "
    "the\n"
    "daemon above, too, and its environment and file.\n";

static const char *const tail =
    ".SH ENVIRONMENT\n.TP\n.B PORT\nWorks like \\fBBLURD_PORT\\fR, which overrides it.\n"
    ".SH FILES\n.TP\n.I /etc/blurd/blurd.conf\nThe file that the packaged service reads.\n"
    ".SH EXIT STATUS\n"
    "0 after all requests were finished, 69 when a required GPU does not serve, 75 when requests were cut\n"
    "off, 78 when the configuration is wrong.\n"
    ".PP\n"
    "Of \\fBblurd run\\fR: 0 when all files are done, 1 when some have failed or were not begun, 2 when the\n"
    "command line or the job is wrong.\n"
    ".PP\n"
    "Of \\fBblurd verify\\fR: 0 when the report holds, 1 when it does not, 64 when a file cannot be read,\n"
    "75 when the daemon that checks it did not start or answer, 78 when the configuration is wrong.\n"
    ".PP\n"
    "Of \\fBblurd doctor\\fR: 0 when the daemon can do all that it is configured for, 1 when it cannot, 78\n"
    "when the configuration is wrong. Of \\fB\\-\\-check\\-health\\fR: 0 when the daemon is ready, else 1.\n"
    ".SH SEE ALSO\n.BR systemd.socket (5),\n.UR " BLURD_HOME_URL "\nthe project\n.UE\n";

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
    const char *letters;
    fputs(jobs, out);
    rows = job_options(&count, &letters);
    for (size_t i = 0; i < count; i++) {
        print_job_row(&rows[i], letters[i], out);
    }
    fputs(tail, out);
}
