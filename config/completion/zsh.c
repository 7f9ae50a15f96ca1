/* SPDX-License-Identifier: MIT */
#include "config/completion/completion.h"
#include "config/config.h"
#include "config/job/job.h"

/* Words in single quotes, help in brackets. */
#define SPECIAL "\\[]"
#define QUOTE "'\\''"

static const char *const first_words =
    "# The words that are no option, where the line is no job.\n"
    "_blurd_words() {\n"
    "    if (( CURRENT == 2 )); then\n"
    "        local -a commands=('run:" COMPLETION_RUN_HELP "' 'verify:" COMPLETION_VERIFY_HELP "')\n"
    "        _describe -t commands command commands\n"
    "        _blurd_jobs\n"
    "    elif [[ -n ${words[(r)(--|)benchmark]} ]]; then\n"
    "        _blurd_jobs\n"
    "        _files\n"
    "    elif [[ -n ${words[(r)(--|)verify]} ]]; then\n"
    "        _files\n"
    "    fi\n"
    "}\n\n";

static const char *const choice =
    "    case ${${(Q)words[2]}%%\\?*},$(( CURRENT > 2 )) in\n"
    "    run,1) _arguments -s -S : $ours $daemon '1:command:(run)' '2:job:_blurd_jobs' '*:file:_files' ;;\n"
    "    (";
static const char *const tail =
    "),1) _arguments -s -S : $ours $daemon '1:job:' '*:file:_files' ;;\n"
    "    *) _arguments : $daemon $actions '*:word:_blurd_words' ;;\n"
    "    esac\n"
    "}\n\n"
    "if [[ $funcstack[1] == _blurd ]]; then\n    _blurd \"$@\"\nelse\n    compdef _blurd blurd\nfi\n";

static void print_help(const char *help, FILE *out) {
    fputc('[', out);
    completion_sentence(help, SPECIAL, QUOTE, out);
    fputc(']', out);
}

/* ":WORD:(auto on off)" */
static void print_value(const struct option *row, FILE *out) {
    fprintf(out, ":%s:", option_placeholder(row));
    if (row->type == OPTION_FILE) {
        fputs("_files", out);
        return;
    }
    fputs("(", out);
    completion_values(row, out);
    fputs(")", out);
}

static void print_job_row(const struct option *row, char letter, FILE *out) {
    const bool bare = row->type == OPTION_SWITCH;
    if (letter) {
        fprintf(out, "        '(-%c --", letter);
        completion_name(row->name, out);
        fprintf(out, ")'{-%c%s,--", letter, bare ? "" : "+");
        completion_name(row->name, out);
        fprintf(out, "%s}'", bare ? "" : "=");
    } else {
        fputs("        '--", out);
        completion_name(row->name, out);
        fputs(bare ? "" : "=", out);
    }
    print_help(row->help, out);
    if (!bare) {
        print_value(row, out);
    }
    fputs("'\n", out);
}

static void print_options(FILE *out) {
    const char *letters;
    size_t count;
    const struct option *rows = config_options(&count);
    fputs("    local -a daemon=(\n        '--config=[File to read options from]:FILE:_files'\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("        '--", out);
        completion_name(rows[i].name, out);
        fputc('=', out);
        print_help(rows[i].help, out);
        print_value(&rows[i], out);
        fputs("'\n", out);
    }
    fputs("    )\n    local -a ours=(\n        '(- *)--help[" COMPLETION_HELP_HELP "]'\n", out);
    rows = job_options(&count, &letters);
    for (size_t i = 0; i < count; i++) {
        print_job_row(&rows[i], letters[i], out);
    }
    const struct config_flag *flags = config_flags(&count);
    fputs("    )\n    local -a actions=(\n", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "        '--%s", flags[i].flag);
        print_help(flags[i].help, out);
        fputs("'\n", out);
    }
    fputs("    )\n", out);
}

void completion_zsh(const struct completion_jobs *jobs, FILE *out) {
    fputs("#compdef blurd\n# SPDX-License-Identifier: MIT\n"
          "# Completions of blurd for zsh, made by blurd --help-completion-zsh.\n\n"
          "_blurd_jobs() {\n    local -a jobs=(\n",
          out);
    for (size_t i = 0; i < jobs->count; i++) {
        fprintf(out, "        '%s:", jobs->job[i].name);
        completion_sentence(jobs->job[i].help, SPECIAL, QUOTE, out);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe -t jobs job jobs\n}\n\n", out);
    fputs(first_words, out);
    fputs("_blurd() {\n", out);
    print_options(out);
    fputs(choice, out);
    completion_job_names(jobs, "|", out);
    fputs(tail, out);
}
