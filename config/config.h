/* SPDX-License-Identifier: MIT
 * Configuration: built-in defaults, then the file, then the environment, then the
 * command line; the later wins. What options there are says config/options.def.
 *
 *     struct config config;
 *     enum config_action action;
 *     struct error err = {0};
 *     if (config_load(&config, &action, argc, argv, environ, &err)) {
 *         fprintf(stderr, "blurd: %s\n", err.text);
 *         return EX_CONFIG;
 *     }
 *     if (action != CONFIG_RUN) {
 *         return config_answer(action, &config, version, stdout);
 *     }
 *
 * Plain data: load it once, hand it out as const, read it from any thread. */
#ifndef BLURD_CONFIG_CONFIG_H
#define BLURD_CONFIG_CONFIG_H

#include <stdio.h>

#include "config/option.h"

/* CHOICE_log_level_info, CHOICE_cpu_level_auto …; within one option in the table's
 * order, so that log levels can be compared: error < warning < info < debug. */
enum config_choice {
#define OPTION(type, when, name, initial, minimum, maximum, unit, help)
#define CHOICE(option, value) CHOICE_##option##_##value,
#include "config/options.def"
    CHOICE_COUNT
};

/* The member's type comes from the row's, so the two cannot disagree. */
#define CONFIG_MEMBER_WHOLE(name, maximum) uint32_t name;
#define CONFIG_MEMBER_PIXELS(name, maximum) uint64_t name;
#define CONFIG_MEMBER_BYTES(name, maximum) uint64_t name;
#define CONFIG_MEMBER_DURATION(name, maximum) int64_t name##_ms;
#define CONFIG_MEMBER_SWITCH(name, maximum) bool name;
#define CONFIG_MEMBER_CHOICE(name, maximum) enum config_choice name;
#define CONFIG_MEMBER_TEXT(name, maximum) char name[(maximum) + 1];
#define CONFIG_MEMBER_FILE(name, maximum) char name[(maximum) + 1];
#define CONFIG_MEMBER_ADDRESS(name, maximum) char name[(maximum) + 1];

/* One member per row, under its name; durations are milliseconds and end in _ms:
 * config.port, config.max_body, config.header_timeout_ms, config.log_level. */
struct config {
#define OPTION(type, when, name, initial, minimum, maximum, unit, help) CONFIG_MEMBER_##type(name, maximum)
#define CHOICE(option, value)
#include "config/options.def"
};

/* What the command line asks for. */
enum config_action {
    CONFIG_RUN,
#define ACTION(name, flag, needs, help) CONFIG_##name,
#include "config/actions.def"
};

/* A flag that is no option. */
struct config_flag {
    const char *flag; /* without its dashes */
    enum config_action action;
    bool needs_options; /* whether it reads the configuration first */
    const char *help;
};

/* Every option at its default. */
void config_default(struct config *config);

/* Fills *config from all sources and says in *action what to do with it. `envp` is
 * NULL-terminated, as `environ`. Reads the file named by --config or BLURD_CONFIG.
 * ST_ARGUMENT for anything unknown, repeated or out of range: err->parameter is the
 * option's name, or "" when it is unknown, and err->text one sentence with option,
 * value, source and what is allowed. Nothing is printed. When help or version is
 * asked for, nothing else is read: it works with a broken configuration, too. */
enum status config_load(struct config *config, enum config_action *action, int argc, char *const *argv,
                        char *const *envp, struct error *err);

/* The file that config_load reads, NULL: none. Of arguments and variables that it has accepted. */
const char *config_file(int argc, char *const *argv, char *const *envp);

/* The index of the first word behind the last flag that is no option: the job and the files of --benchmark,
 * behind which there are no options. Of arguments that config_load has accepted. */
int config_operands(int argc, char *const *argv);

/* Checks what no single option can say. config_load has done so. */
enum status config_check(const struct config *config, struct error *err);

/* Prints what `action` asks for; `version` is the text for --version, without a line end. Not for CONFIG_RUN,
 * CONFIG_HELP_OPENAPI, the completions, CONFIG_CHECK_HEALTH and CONFIG_BENCHMARK, which the server does.
 * Returns the exit status: 0, or 1 when writing failed. */
int config_answer(enum config_action action, const struct config *config, const char *version, FILE *out);

/* Prints every option as a line that the file accepts, with its value in `effective`; a comment names the
 * value in `config` where that is another one. What --check-config shows. */
void config_print(const struct config *config, const struct config *effective, FILE *out);

/* The word of a choice: "info" for CHOICE_log_level_info. */
const char *config_choice_name(enum config_choice choice);

/* The table's rows, for printing and tests. */
const struct option *config_options(size_t *count);

/* The row of that name, written with dashes or underscores; NULL when there is none. */
const struct option *config_option(const char *name, size_t length);

/* The rows of config/actions.def, in its order. */
const struct config_flag *config_flags(size_t *count);

#endif
