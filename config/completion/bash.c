/* SPDX-License-Identifier: MIT */
#include "config/completion/completion.h"
#include "config/config.h"
#include "config/job/job.h"

static const char *const head =
    "# SPDX-License-Identifier: MIT\n# Completions of blurd for bash, made by blurd --help-completion.\n"
    "_blurd() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} first=${COMP_WORDS[1]}\n"
    "    local before=\" ${COMP_WORDS[*]:1:COMP_CWORD-1} \" words= files= joined= job=\n"
    "    # bash takes --flag=value for three words\n"
    "    if [ \"$word\" = = ]; then\n        word= joined=yes\n"
    "    elif [ \"$flag\" = = ]; then\n        flag=${COMP_WORDS[COMP_CWORD - 2]} joined=yes\n    fi\n";

/* The first word may be a job in quotes. Its name is what stands before the "?". */
static const char *const middle =
    "    first=${first#[\\'\\\"]}\n"
    "    if [ \"$COMP_CWORD\" -gt 1 ] && [[ \" run $jobs \" == *\" ${first%%\\?*} \"* ]]; then\n"
    "        job=yes\n    fi\n"
    "    case $flag in\n    --config) files=yes ;;\n";

static const char *const tail =
    "    *)\n"
    "        if [ -n \"$joined\" ]; then\n"
    "            [[ $flag != --* ]] || words='on off'\n"
    "        elif [ \"$first$COMP_CWORD\" = run2 ] && [[ $word != -* ]]; then\n"
    "            words=$jobs\n"
    "        elif [ -n \"$job\" ] && [[ $word != -* ]]; then\n"
    "            files=yes\n"
    "        elif [ -n \"$job\" ]; then\n"
    "            words=\"$ours $daemon\"\n"
    "        elif [[ $before == *[\\ -]benchmark\\ * ]]; then\n"
    "            words=$jobs files=yes\n"
    "        elif [[ $before == *[\\ -]verify\\ * ]]; then\n"
    "            files=yes\n"
    "        elif [ \"$COMP_CWORD\" = 1 ]; then\n"
    "            words=\"run verify $jobs $daemon $actions\"\n"
    "        else\n"
    "            words=\"$daemon $actions\"\n"
    "        fi\n"
    "        ;;\n    esac\n"
    "    COMPREPLY=()\n"
    "    [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
    "    if [ -n \"$files\" ]; then\n        compopt -o filenames\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n    fi\n"
    "}\ncomplete -F _blurd blurd\n";

static void print_words(const struct option *row, FILE *out) {
    if (row->type == OPTION_FILE) {
        fputs(") files=yes ;;\n", out);
        return;
    }
    fputs(") words='", out);
    completion_values(row, out);
    fputs("' ;;\n", out);
}

/* A case for each option that takes a value: switches of a job take none. */
static void print_cases(FILE *out) {
    const char *letters;
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        fputs("    --", out);
        completion_name(rows[i].name, out);
        print_words(&rows[i], out);
    }
    rows = job_options(&count, &letters);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].type != OPTION_SWITCH) {
            fputs("    --", out);
            completion_name(rows[i].name, out);
            if (letters[i]) {
                fprintf(out, " | -%c", letters[i]);
            }
            print_words(&rows[i], out);
        }
    }
}

/* Variables with the options of the daemon, of a job, and all other flags. */
static void print_flags(FILE *out) {
    const char *letters;
    size_t count;
    const struct option *rows = config_options(&count);
    fputs("    local daemon='--config", out);
    for (size_t i = 0; i < count; i++) {
        fputs(" --", out);
        completion_name(rows[i].name, out);
    }
    fputs("'\n    local ours='--help", out);
    rows = job_options(&count, &letters);
    for (size_t i = 0; i < count; i++) {
        if (letters[i]) {
            fprintf(out, " -%c", letters[i]);
        }
        fputs(" --", out);
        completion_name(rows[i].name, out);
    }
    const struct config_flag *flags = config_flags(&count);
    fputs("'\n    local actions='", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s--%s", i ? " " : "", flags[i].flag);
    }
    fputs("'\n", out);
}

void completion_bash(const struct completion_jobs *jobs, FILE *out) {
    fputs(head, out);
    print_flags(out);
    fputs("    local jobs='", out);
    completion_job_names(jobs, " ", out);
    fputs("'\n", out);
    fputs(middle, out);
    print_cases(out);
    fputs(tail, out);
}
