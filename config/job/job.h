/* SPDX-License-Identifier: MIT
 * The command line of `blurd run JOB [OPTION]... IN... -o OUT`. */
#ifndef BLURD_CONFIG_JOB_JOB_H
#define BLURD_CONFIG_JOB_JOB_H

#include "config/config.h"

/* One member for each row of config/job/job.def. */
struct job_options {
#define JOB(type, name, letter, initial, minimum, maximum, unit, help) CONFIG_MEMBER_##type(name, maximum)
#include "config/job/job.def"
};

enum { JOB_WORDS_MAX = 256 };

struct job_line {
    const char *job; /* "redact?detect=faces" */
    struct job_options options;
    const char **operand; /* files and folders, in argv's memory */
    unsigned operands;
    char *daemon[JOB_WORDS_MAX]; /* the program's name, and the options that the daemon gets */
    int daemon_words;
};

/* The rows of the table; *letters gets the short forms, one for each. */
const struct option *job_options(size_t *count, const char **letters);

/* Whether argv[1] is "run" or may be a job: it begins with no dash, and is no flag without its dashes
 * (config/actions.def) unless `is_job` says that it is an operation's name. */
bool job_is_asked(int argc, char *const *argv, bool (*is_job)(const char *name, size_t length));

/* Parses the command line. Options may stand anywhere, up to the word `--`. Options of the daemon
 * (config/options.def) are copied to `daemon`, unchecked. ST_ARGUMENT with a sentence for what is unknown,
 * repeated or out of range. job_finish frees the operands, also after a failure. */
enum status job_parse(struct job_line *line, int argc, char *const *argv, struct error *err);
void job_finish(struct job_line *line);

/* Prints what `blurd run --help` says. */
void job_print_help(FILE *out);

#endif
