/* SPDX-License-Identifier: MIT
 * Scripts that complete command lines of blurd in a shell, made from the tables of options, actions and the
 * options of `blurd run`: options with what they are for, words for choices and switches, files for options
 * that name one, and in place of the first word, behind `run` and behind --benchmark the names of jobs. */
#ifndef BLURD_CONFIG_COMPLETION_COMPLETION_H
#define BLURD_CONFIG_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "config/option.h"

/* What a job can begin with: "redact", and a sentence. */
struct completion_job {
    const char *name, *help;
};

struct completion_jobs {
    const struct completion_job *job; /* borrowed */
    size_t count;
};

/* Each prints the script for one shell. */
void completion_bash(const struct completion_jobs *jobs, FILE *out);
void completion_zsh(const struct completion_jobs *jobs, FILE *out);
void completion_fish(const struct completion_jobs *jobs, FILE *out);

/* What the shells have in common. Prints max_body as max-body. */
void completion_name(const char *name, FILE *out);

/* Prints the first sentence of a help text without its stop, for a word in single quotes: a backslash before
 * each character of `special`, and `quote` in place of each single quote. */
void completion_sentence(const char *help, const char *special, const char *quote, FILE *out);

/* Prints the words that an option may take, with blanks between them. Returns whether there are any. */
bool completion_values(const struct option *row, FILE *out);

/* Prints the names of all jobs, with a separator between them. */
void completion_job_names(const struct completion_jobs *jobs, const char *separator, FILE *out);

/* Help of the words that a command line may begin with beside jobs, and of a job's --help. */
#define COMPLETION_RUN_HELP "Let a daemon do one job with many files"
#define COMPLETION_VERIFY_HELP "Check the report of a redaction"
#define COMPLETION_HELP_HELP "Print the options of jobs"

#endif
