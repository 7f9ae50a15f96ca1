/* SPDX-License-Identifier: MIT
 * Loading goes through the sources from the weakest to the strongest. The command line
 * is taken apart first, since it says whether and which file to read, but assigned last. */
#include "config/config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "config/endpoint.h"
#include "config/file.h"
#include "config/memory.h"
#include "config/nearest.h"
#include "config/origins.h"

enum {
#define OPTION(type, when, name, initial, minimum, maximum, unit, help) ROW_##name,
#define CHOICE(option, value)
#include "config/options.def"
    ROW_COUNT
};

static const struct option_choice choices[CHOICE_COUNT] = {
#define OPTION(type, when, name, initial, minimum, maximum, unit, help)
#define CHOICE(option, value) {#option, #value},
#include "config/options.def"
};

#define MEMBER_WHOLE(name) name
#define MEMBER_PIXELS(name) name
#define MEMBER_BYTES(name) name
#define MEMBER_DURATION(name) name##_ms
#define MEMBER_SWITCH(name) name
#define MEMBER_CHOICE(name) name
#define MEMBER_TEXT(name) name
#define MEMBER_FILE(name) name
#define MEMBER_ADDRESS(name) name

static const struct option rows[ROW_COUNT] = {
#define OPTION(row_type, row_when, row_name, row_initial, low, high, row_unit, row_help)                     \
    {.name = #row_name,                                                                                      \
     .type = OPTION_##row_type,                                                                              \
     .reloads = OPTION_##row_when,                                                                           \
     .offset = offsetof(struct config, MEMBER_##row_type(row_name)),                                         \
     OPTION_INITIAL_##row_type(row_initial),                                                                 \
     .minimum = (low),                                                                                       \
     .maximum = (high),                                                                                      \
     .unit = (row_unit),                                                                                     \
     .help = (row_help),                                                                                     \
     .choices = choices,                                                                                     \
     .choice_count = CHOICE_COUNT},
#define CHOICE(option, value)
#include "config/options.def"
};

_Static_assert(sizeof(enum config_choice) == sizeof(unsigned), "option_parse stores choices as unsigned");

enum source { SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_COMMAND_LINE };
enum { SPELLING_MAX = 64, SHOWN_MAX = 48 };

static const struct config_flag actions[] = {
#define ACTION(name, flag, needs, help) {flag, CONFIG_##name, needs, help},
#include "config/actions.def"
};
enum { ACTION_COUNT = sizeof actions / sizeof *actions };

/* The parsed command line, with pointers into argv. */
struct command_line {
    enum config_action action;
    bool answered;    /* the action needs no configuration */
    int operands;     /* where the words behind --benchmark or --verify begin */
    const char *file; /* --config, or NULL */
    const char *value[ROW_COUNT];
};

struct file_state {
    struct config *config;
    const char *shown;        /* path, for sentences */
    unsigned line[ROW_COUNT]; /* where the key stood; 0: not yet */
};

const struct option *config_options(size_t *count) {
    *count = ROW_COUNT;
    return rows;
}

const struct config_flag *config_flags(size_t *count) {
    *count = ACTION_COUNT;
    return actions;
}

const char *config_choice_name(enum config_choice choice) {
    return choice < CHOICE_COUNT ? choices[choice].value : "unknown";
}

void config_default(struct config *config) {
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        option_set_initial(&rows[i], config);
    }
}

const struct option *config_option(const char *name, size_t length) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t k = 0;
        while (k < length && rows[i].name[k] && rows[i].name[k] == (name[k] == '-' ? '_' : name[k])) {
            k++;
        }
        if (k == length && rows[i].name[k] == '\0') {
            return &rows[i];
        }
    }
    return NULL;
}

/* The name as it is written in that source: max_body, BLURD_MAX_BODY, --max-body. */
static void spell(enum source source, const char *name, char spelling[SPELLING_MAX]) {
    static const char *const prefixes[] = {"", "BLURD_", "--"};
    snprintf(spelling, SPELLING_MAX, "%s%s", prefixes[source], name);
    for (char *p = spelling + strlen(prefixes[source]); *p; p++) {
        if (source == SOURCE_ENVIRONMENT) {
            *p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
        } else if (source == SOURCE_COMMAND_LINE && *p == '_') {
            *p = '-';
        }
    }
}

/* `spelling` is the option's name as the user wrote it, `where` the source for people. */
static enum status assign(struct config *config, const struct option *row, const char *spelling,
                          const char *where, const char *value, struct error *err) {
    struct error reason = {0};
    if (option_parse(row, value, config, &reason) == ST_OK) {
        return ST_OK;
    }
    char shown[SHOWN_MAX];
    config_show(value, shown, sizeof shown);
    return fail_argument(err, row->name, "%s is \"%s\" (%s), %s", spelling, shown, where, reason.text);
}

static enum status unknown(enum source source, const char *given, const char *where, struct error *err) {
    const char *words[ROW_COUNT + ACTION_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        words[count++] = rows[i].name;
    }
    if (source != SOURCE_FILE) {
        words[count++] = "config";
    }
    for (size_t i = 0; source == SOURCE_COMMAND_LINE && i < ACTION_COUNT; i++) {
        words[count++] = actions[i].flag;
    }
    char shown[SHOWN_MAX];
    char meant[SPELLING_MAX];
    config_show(given, shown, sizeof shown);
    const char *bare = given + (source == SOURCE_ENVIRONMENT ? strlen("BLURD_") : strspn(given, "-"));
    spell(source, words[nearest_word(bare, words, count)], meant);
    return fail(err, ST_ARGUMENT, "%s (%s) is not an option, did you mean %s?", shown, where, meant);
}

static enum status file_line(void *context, const char *key, const char *value, unsigned line,
                             struct error *err) {
    struct file_state *state = context;
    char where[CONFIG_PATH_SHOWN + 24];
    snprintf(where, sizeof where, "%s line %u", state->shown, line);
    const struct option *row = config_option(key, strlen(key));
    if (!row) {
        return unknown(SOURCE_FILE, key, where, err);
    }
    unsigned *seen = &state->line[row - rows];
    if (*seen) {
        return fail_argument(err, row->name, "%s stands twice in %s, in line %u and line %u", row->name,
                             state->shown, *seen, line);
    }
    *seen = line;
    return assign(state->config, row, row->name, where, value, err);
}

static enum status load_file(struct config *config, const char *path, struct error *err) {
    char shown[CONFIG_PATH_SHOWN];
    config_show(path, shown, sizeof shown);
    struct file_state state = {.config = config, .shown = shown};
    return config_file_read(path, file_line, &state, err);
}

/* Kubernetes sets variables for every service of the namespace. Those of blurd or blurd-canary resemble
 * options: BLURD_SERVICE_HOST, BLURD_PORT=tcp://10.0.0.1:80, BLURD_PORT_80_TCP_ADDR. They are ignored. */
static bool is_service_link(const char *name, const char *value) {
    const char *port = strstr(name, "_PORT");
    return strstr(name, "_SERVICE_HOST") || strstr(name, "_SERVICE_PORT") ||
           (port && (strstr(value, "://") || (port[5] == '_' && isdigit((unsigned char)port[6]))));
}

/* The row of an environment variable's name without its prefix; capitals only. */
static const struct option *find_variable(const char *bare) {
    char lower[SPELLING_MAX];
    size_t length = strlen(bare);
    if (length >= sizeof lower) {
        return NULL;
    }
    for (size_t i = 0; i <= length; i++) {
        if (bare[i] == '-' || islower((unsigned char)bare[i])) {
            return NULL;
        }
        lower[i] = (char)tolower((unsigned char)bare[i]);
    }
    return config_option(lower, length);
}

static enum status load_variable(struct config *config, const char *entry, struct error *err) {
    const char *equals = strchr(entry, '=');
    if (strncmp(entry, "BLURD_", 6) != 0 || !equals) {
        return ST_OK;
    }
    char name[SPELLING_MAX];
    if (snprintf(name, sizeof name, "%.*s", (int)(equals - entry), entry) >= (int)sizeof name) {
        memcpy(name + sizeof name - 4, "...", 4);
    }
    if (strcmp(name, "BLURD_CONFIG") == 0 || is_service_link(name, equals + 1)) {
        return ST_OK;
    }
    const struct option *row = find_variable(name + 6);
    return row ? assign(config, row, name, "environment", equals + 1, err)
               : unknown(SOURCE_ENVIRONMENT, name, "environment", err);
}

/* The value of a variable; NULL when it is not set. */
static const char *variable(char *const *envp, const char *name) {
    size_t length = strlen(name);
    for (; envp && *envp; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=') {
            return *envp + length + 1;
        }
    }
    return NULL;
}

static enum status load_environment(struct config *config, char *const *envp, struct error *err) {
    const char *port = variable(envp, "PORT"); /* set by serverless platforms; BLURD_PORT wins */
    enum status status = port ? assign(config, &rows[ROW_port], "PORT", "environment", port, err) : ST_OK;
    for (; envp && *envp && !status; envp++) {
        status = load_variable(config, *envp, err);
    }
    return status;
}

/* The row of a flag without its dashes; NULL when it is none. */
static const struct config_flag *find_action(const char *flag) {
    const char *name = strcmp(flag, "h") == 0 ? "help" : flag;
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(actions[i].flag, name) == 0) {
            return &actions[i];
        }
    }
    return NULL;
}

/* Takes `--name=value` or `--name value` at argv[*index] and moves *index to its last word. */
static enum status take_option(struct command_line *line, char *const *argv, int *index, struct error *err) {
    const char *flag = argv[*index];
    size_t length = strcspn(flag, "=");
    char shown[SHOWN_MAX];
    char name[SPELLING_MAX];
    snprintf(name, sizeof name, "%.*s", (int)length, flag);
    config_show(name, shown, sizeof shown);
    const char **place = NULL;
    const struct option *row = length > 2 ? config_option(flag + 2, length - 2) : NULL;
    if (row) {
        place = &line->value[row - rows];
    } else if (strcmp(name, "--config") == 0) {
        place = &line->file;
    } else {
        return unknown(SOURCE_COMMAND_LINE, name, "command line", err);
    }
    if (*place) {
        return fail_argument(err, row ? row->name : "config", "%s is given twice (command line)", shown);
    }
    if (flag[length] == '=') {
        *place = flag + length + 1;
        return ST_OK;
    }
    if (!argv[*index + 1]) {
        return fail_argument(err, row ? row->name : "config", "%s needs a value (command line)", shown);
    }
    *place = argv[++*index];
    return ST_OK;
}

/* The first word may be a flag without its dashes. */
static enum status read_command_line(struct command_line *line, int argc, char *const *argv,
                                     struct error *err) {
    enum status status = ST_OK;
    for (int i = 1; i < argc && status == ST_OK; i++) {
        char shown[SHOWN_MAX];
        config_show(argv[i], shown, sizeof shown);
        const bool dashes = strncmp(argv[i], "--", 2) == 0 || strcmp(argv[i], "-h") == 0;
        const struct config_flag *found =
            dashes || i == 1 ? find_action(argv[i] + strspn(argv[i], "-")) : NULL;
        if (!dashes && !found) {
            line->operands = i;
            return line->action == CONFIG_VERIFY
                       ? ST_OK
                       : fail(err, ST_ARGUMENT,
                              "\"%s\" (command line) is not an option, options start with --", shown);
        }
        status = found ? ST_OK : take_option(line, argv, &i, err);
        line->operands = i + 1;
        line->action = found ? found->action : line->action;
        line->answered = found && !found->needs_options;
        if (line->answered || (found && line->action == CONFIG_BENCHMARK)) {
            return ST_OK;
        }
    }
    return status;
}

static enum status load_command_line(struct config *config, const struct command_line *line,
                                     struct error *err) {
    enum status status = ST_OK;
    for (size_t i = 0; i < ROW_COUNT && !status; i++) {
        if (line->value[i]) {
            char spelling[SPELLING_MAX];
            spell(SOURCE_COMMAND_LINE, rows[i].name, spelling);
            status = assign(config, &rows[i], spelling, "command line", line->value[i], err);
        }
    }
    return status;
}

enum status config_check(const struct config *config, struct error *err) {
    if (config->memory > 0 && config->memory < (uint64_t)MEMORY_MIN_MIB << 20) {
        return fail_argument(err, "memory", "--memory is below %d MiB, which is the least; 0 picks",
                             MEMORY_MIN_MIB);
    }
    if (config->memory > 0 && config->max_body > config->memory) {
        char body[OPTION_VALUE_MAX], memory[OPTION_VALUE_MAX];
        option_format(&rows[ROW_max_body], config, body);
        option_format(&rows[ROW_memory], config, memory);
        return fail_argument(err, "max_body", "max_body is %.24s, it must be at most memory, which is %.24s",
                             body, memory);
    }
    if (!config->tls_cert[0] != !config->tls_key[0]) {
        const char *lacking = config->tls_cert[0] ? "tls_key" : "tls_cert";
        return fail_argument(err, lacking, "%s is empty: tls_cert and tls_key go together", lacking);
    }
    if (origins_check(config->cors_origins, err) != ST_OK ||
        endpoint_check(config->otlp_endpoint, err) != ST_OK) {
        return ST_ARGUMENT;
    }
    if (config->sandbox == CHOICE_sandbox_on && config->single_process) {
        return fail_argument(err, "sandbox", "sandbox is on, which does not go with single_process");
    }
    if (config->connections_soft > config->connections) {
        return fail_argument(err, "connections_soft",
                             "connections_soft is %u, it must be at most connections, which is %u",
                             config->connections_soft, config->connections);
    }
    return ST_OK;
}

enum status config_load(struct config *config, enum config_action *action, int argc, char *const *argv,
                        char *const *envp, struct error *err) {
    struct command_line line = {.action = CONFIG_RUN};
    config_default(config);
    enum status status = read_command_line(&line, argc, argv, err);
    *action = line.action;
    if (status || line.answered) {
        return status;
    }
    const char *file = line.file ? line.file : variable(envp, "BLURD_CONFIG");
    status = file ? load_file(config, file, err) : ST_OK;
    status = status ? status : load_environment(config, envp, err);
    status = status ? status : load_command_line(config, &line, err);
    return status ? status : config_check(config, err);
}

/* Of arguments that are known to be right. */
static struct command_line read_again(int argc, char *const *argv) {
    struct command_line line = {.action = CONFIG_RUN, .operands = argc};
    struct error unused = {0};
    return read_command_line(&line, argc, argv, &unused) == ST_OK ? line : (struct command_line){0};
}

const char *config_file(int argc, char *const *argv, char *const *envp) {
    struct command_line line = read_again(argc, argv);
    return line.file ? line.file : variable(envp, "BLURD_CONFIG");
}

int config_operands(int argc, char *const *argv) {
    return read_again(argc, argv).operands;
}
