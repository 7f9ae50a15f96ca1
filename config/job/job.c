/* SPDX-License-Identifier: MIT */
#include "config/job/job.h"

#include <stdlib.h>
#include <string.h>

#include "config/nearest.h"

enum {
#define JOB(type, name, letter, initial, minimum, maximum, unit, help) ROW_##name,
#include "config/job/job.def"
    ROW_COUNT
};

static const struct option rows[ROW_COUNT] = {
#define JOB(row_type, row_name, letter, row_initial, low, high, row_unit, row_help)                          \
    {.name = #row_name,                                                                                      \
     .type = OPTION_##row_type,                                                                              \
     .offset = offsetof(struct job_options, row_name),                                                       \
     OPTION_INITIAL_##row_type(row_initial),                                                                 \
     .minimum = (low),                                                                                       \
     .maximum = (high),                                                                                      \
     .unit = (row_unit),                                                                                     \
     .help = (row_help)},
#include "config/job/job.def"
};

static const char letters[ROW_COUNT] = {
#define JOB(type, name, letter, initial, minimum, maximum, unit, help) letter,
#include "config/job/job.def"
};

/* The words that are left to read. */
struct job_words {
    struct job_line *line;
    char *const *argv;
    int count, at;
    bool seen[ROW_COUNT];
};

const struct option *job_options(size_t *count, const char **short_forms) {
    *count = ROW_COUNT;
    *short_forms = letters;
    return rows;
}

bool job_is_asked(int argc, char *const *argv, bool (*is_job)(const char *name, size_t length)) {
    size_t count;
    const struct config_flag *flags = config_flags(&count);
    if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(argv[1], flags[i].flag) == 0 && !is_job(argv[1], strlen(argv[1]))) {
            return false;
        }
    }
    return true;
}

/* The row of --files-from or --files-from=x; NULL: none. */
static const struct option *find_long(const char *word) {
    const size_t length = strcspn(word + 2, "=");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t k = 0;
        while (k < length && rows[i].name[k] == (word[2 + k] == '-' ? '_' : word[2 + k])) {
            k++;
        }
        if (k == length && rows[i].name[k] == '\0') {
            return &rows[i];
        }
    }
    return NULL;
}

static enum status unknown(const char *word, struct error *err) {
    size_t count;
    const struct option *daemon = config_options(&count);
    const char **names = malloc((ROW_COUNT + count) * sizeof *names);
    char meant[64] = "";
    if (names && word[1] == '-') {
        for (size_t i = 0; i < ROW_COUNT + count; i++) {
            names[i] = i < ROW_COUNT ? rows[i].name : daemon[i - ROW_COUNT].name;
        }
        snprintf(meant, sizeof meant, ", did you mean --%s?",
                 names[nearest_word(word + 2, names, ROW_COUNT + count)]);
        for (char *at = meant; *at; at++) {
            *at = *at == '_' ? '-' : *at;
        }
    }
    free(names);
    return fail(err, ST_ARGUMENT, "%.40s is not an option%s", word, meant);
}

static enum status assign(struct job_words *words, const struct option *row, const char *value,
                          struct error *err) {
    struct error reason = {0};
    char name[32];
    snprintf(name, sizeof name, "%s", row->name);
    for (char *at = name; *at; at++) {
        *at = *at == '_' ? '-' : *at;
    }
    if (words->seen[row - rows]) {
        return fail(err, ST_ARGUMENT, "--%s is given twice", name);
    }
    words->seen[row - rows] = true;
    if (option_parse(row, value, &words->line->options, &reason) != ST_OK) {
        return fail(err, ST_ARGUMENT, "--%s is \"%.40s\", %s", name, value, reason.text);
    }
    return ST_OK;
}

/* The value of an option that stands in the next word. */
static enum status next_value(struct job_words *words, const char *name, const char **value,
                              struct error *err) {
    if (words->at >= words->count) {
        return fail(err, ST_ARGUMENT, "%s needs a value", name);
    }
    *value = words->argv[words->at++];
    return ST_OK;
}

static enum status keep(struct job_words *words, char *word, struct error *err) {
    if (words->line->daemon_words == JOB_WORDS_MAX) {
        return fail(err, ST_ARGUMENT, "more than %d words of options", JOB_WORDS_MAX);
    }
    words->line->daemon[words->line->daemon_words++] = word;
    return ST_OK;
}

/* An option of the daemon: it goes to it as it is. */
static enum status pass_on(struct job_words *words, char *word, struct error *err) {
    const size_t length = strcspn(word + 2, "=");
    if (!config_option(word + 2, length) && (length != 6 || strncmp(word + 2, "config", 6) != 0)) {
        return unknown(word, err);
    }
    enum status status = keep(words, word, err);
    if (status == ST_OK && word[2 + length] == '\0') {
        const char *value;
        status = next_value(words, word, &value, err);
        status = status == ST_OK ? keep(words, words->argv[words->at - 1], err) : status;
    }
    return status;
}

static enum status take_long(struct job_words *words, char *word, struct error *err) {
    const struct option *row = find_long(word);
    const char *value = strchr(word, '=');
    if (!row) {
        return pass_on(words, word, err);
    }
    value = value ? value + 1 : row->type == OPTION_SWITCH ? "true" : NULL;
    enum status status = value ? ST_OK : next_value(words, word, &value, err);
    return status == ST_OK ? assign(words, row, value, err) : status;
}

/* -o OUT, -oOUT, -rkq. */
static enum status take_short(struct job_words *words, const char *word, struct error *err) {
    enum status status = ST_OK;
    for (const char *at = word + 1; *at && status == ST_OK; at++) {
        const char *found = memchr(letters, *at, sizeof letters);
        if (!found) {
            return unknown((char[]){'-', *at, '\0'}, err);
        }
        const struct option *row = &rows[found - letters];
        if (row->type == OPTION_SWITCH) {
            status = assign(words, row, "true", err);
            continue;
        }
        const char *value = at + 1;
        status = *value ? ST_OK : next_value(words, (char[]){'-', *at, '\0'}, &value, err);
        return status == ST_OK ? assign(words, row, value, err) : status;
    }
    return status;
}

static enum status take_word(struct job_words *words, bool *ended, struct error *err) {
    struct job_line *line = words->line;
    char *word = words->argv[words->at++];
    if (!*ended && word[0] == '-' && word[1] != '\0') {
        *ended = strcmp(word, "--") == 0;
        return *ended ? ST_OK : word[1] == '-' ? take_long(words, word, err) : take_short(words, word, err);
    }
    if (!line->job) {
        line->job = word + (word[0] == '/'); /* as in a URL */
    } else {
        line->operand[line->operands++] = word;
    }
    return ST_OK;
}

enum status job_parse(struct job_line *line, int argc, char *const *argv, struct error *err) {
    struct job_words words = {.line = line, .argv = argv, .count = argc, .at = 1};
    bool ended = false;
    *line = (struct job_line){.operand = calloc((size_t)argc, sizeof *line->operand)};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        option_set_initial(&rows[i], &line->options);
    }
    words.at += strcmp(argv[1], "run") == 0;
    enum status status = line->operand ? keep(&words, argv[0], err) : fail(err, ST_BUSY, "out of memory");
    while (status == ST_OK && words.at < argc) {
        status = take_word(&words, &ended, err);
    }
    if (status == ST_OK && !line->job) {
        return fail(err, ST_ARGUMENT, "run needs a job, such as 'redact?detect=faces,text'");
    }
    return status;
}

void job_finish(struct job_line *line) {
    free(line->operand);
    line->operand = NULL;
}
