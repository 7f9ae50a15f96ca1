/* SPDX-License-Identifier: MIT */
#include "config/completion/completion.h"
#include "config/config.h"
#include "config/job/job.h"

/* Words in single quotes. */
#define SPECIAL "\\"
#define QUOTE "\\'"

static const char *const conditions =
    "# Whether the command line begins a job, wants the name of one, or may have files.\n"
    "function __blurd_in_job\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and string match -qr $__blurd_jobs -- $words[2]\n"
    "end\n"
    "function __blurd_wants_job\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) = 1; or test \"$words[2..-1]\" = run\n"
    "    or contains -- $words[-1] benchmark --benchmark\n"
    "end\n"
    "function __blurd_wants_files\n"
    "    set -l words (commandline -opc)\n"
    "    contains -- benchmark $words; or contains -- --benchmark $words\n"
    "    or contains -- verify $words; or contains -- --verify $words\n"
    "    or begin; __blurd_in_job; and not __blurd_wants_job; end\n"
    "end\n"
    "function __blurd_at_start\n"
    "    test (count (commandline -opc)) = 1\n"
    "end\n\n"
    "complete -c blurd -f\n"
    "complete -c blurd -n __blurd_wants_files -F\n"
    "complete -c blurd -n __blurd_at_start -a run -d '" COMPLETION_RUN_HELP "'\n"
    "complete -c blurd -n __blurd_at_start -a verify -d '" COMPLETION_VERIFY_HELP "'\n"
    "complete -c blurd -l config -r -F -d 'File to read options from'\n";

static void print_help(const char *help, FILE *out) {
    fputs(" -d '", out);
    completion_sentence(help, SPECIAL, QUOTE, out);
    fputs("'\n", out);
}

/* " -l sandbox -x -a 'auto on off'" */
static void print_option(const struct option *row, bool bare, FILE *out) {
    fputs(" -l ", out);
    completion_name(row->name, out);
    if (row->type == OPTION_FILE) {
        fputs(" -r -F", out);
    } else if (!bare) {
        fputs(" -x -a '", out);
        completion_values(row, out);
        fputc('\'', out);
    }
    print_help(row->help, out);
}

void completion_fish(const struct completion_jobs *jobs, FILE *out) {
    const char *letters;
    size_t count;
    fputs("# SPDX-License-Identifier: MIT\n"
          "# Completions of blurd for fish, made by blurd --help-completion-fish.\n"
          "set -g __blurd_jobs '^(run|",
          out);
    completion_job_names(jobs, "|", out);
    fputs(")(\\?|$)'\n\n", out);
    fputs(conditions, out);
    for (size_t i = 0; i < jobs->count; i++) {
        fprintf(out, "complete -c blurd -n __blurd_wants_job -a %s", jobs->job[i].name);
        print_help(jobs->job[i].help, out);
    }
    fputs("complete -c blurd -n __blurd_in_job -l help -d '" COMPLETION_HELP_HELP "'\n", out);
    const struct option *rows = job_options(&count, &letters);
    for (size_t i = 0; i < count; i++) {
        fputs("complete -c blurd -n __blurd_in_job", out);
        if (letters[i]) {
            fprintf(out, " -s %c", letters[i]);
        }
        print_option(&rows[i], rows[i].type == OPTION_SWITCH, out);
    }
    rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        fputs("complete -c blurd", out);
        print_option(&rows[i], false, out);
    }
    const struct config_flag *flags = config_flags(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "complete -c blurd -n 'not __blurd_in_job' -l %s", flags[i].flag);
        print_help(flags[i].help, out);
    }
}
