/* SPDX-License-Identifier: MIT
 * Answers get their names in groups: waiting until the
 * disk has all of a group takes hardly longer than until it has one. */
#include "server/batch/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/clock.h"
#include "server/batch/input/originals.h"
#include "server/batch/input/picture_names.h"
#include "server/batch/journal.h"
#include "server/batch/output.h"

enum { GROUP = 64, GROUPS_WAITING = 2, GROUP_NS = 1000000000, LINES_MAX = 1 << 30 };

struct files {
    struct input_source *source;
    FILE *list;
    struct names *names; /* under `lock` */
    struct originals originals;
    struct output output;
    int journal;          /* -1: none */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t written;
    struct item *first, **last; /* answered, and waiting for their names */
    unsigned waiting;
    int64_t since_ns; /* of the first of them */
    bool writing;     /* a thread gives a group its names */
};

static struct bytes text_bytes(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

/* Whether an answer of that name would take the place of the file itself, or of another one that was given.
 */
static bool replaces(const struct files *files, const char *name, const struct stat *file) {
    return output_is(&files->output, name, file) ||
           (!files->output.single[0] && files->output.root >= 0 &&
            originals_have(&files->originals, files->output.root, name));
}

/* Opens the file and decides whether there is anything to do. */
static void open_input(struct batch *batch, struct item *item) {
    struct files *files = batch->state;
    const struct input *input = &item->input;
    item->in = open(input->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (item->in < 0 || fstat(item->in, &item->file) != 0) {
        item->file.st_nlink = 0;
        item_fail(item, ITEM_FAILED, "unreadable", strerror(errno));
    } else if (!S_ISREG(item->file.st_mode)) {
        item_fail(item, ITEM_FAILED, "unreadable", "it is no file");
    } else if (item->known == journal_state(files->names, &item->file)) {
        item->outcome = ITEM_KEPT;
    } else if (input->folder && !picture_names_fit(item->in, input->name)) {
        item_fail(item, ITEM_SKIPPED, "no-picture",
                  "neither its name nor its beginning is that of a picture");
    } else if (replaces(files, input->name, &item->file)) {
        item_fail(item, ITEM_FAILED, "itself",
                  "the answer would replace this file, or another one of the input");
    }
}

static bool take(struct batch *batch, struct item *item) {
    struct files *files = batch->state;
    struct error err = {0};
    bool taken = false;
    if (!source_next(files->source, &item->input)) {
        return false;
    }
    if (item->input.problem[0]) {
        item_fail(item, ITEM_FAILED, "unreadable", item->input.problem);
        return true;
    }
    pthread_mutex_lock(&files->lock);
    const uint64_t digest = names_digest(files->names, text_bytes(item->input.name));
    const enum status status = names_take(files->names, digest, &taken, &err);
    item->known = names_get(files->names, digest);
    pthread_mutex_unlock(&files->lock);
    if (status != ST_OK || taken) {
        item_fail(item, ITEM_FAILED, "same-name", "another file has this name in the output");
    }
    return true;
}

static enum status begin(struct batch *batch, struct item *item, struct error *err) {
    const struct files *files = batch->state;
    return output_begin(&files->output, item->number, item->file.st_mode, &item->out, err);
}

/* Finds the name of the answer, which no other file may have. */
static void name_answer(struct files *files, struct item *item) {
    struct error err = {0};
    bool taken = false;
    if (files->output.single[0]) {
        snprintf(item->answer, sizeof item->answer, "%s", files->output.single);
        return;
    }
    if (!output_name(item->input.name, item->result.head.type, item->answer)) {
        item_fail(item, ITEM_FAILED, "output", "the name of the answer would be too long");
        return;
    }
    if (strcmp(item->answer, item->input.name) == 0) {
        return; /* it was looked at when the file was taken */
    }
    pthread_mutex_lock(&files->lock);
    const enum status status =
        names_take(files->names, names_digest(files->names, text_bytes(item->answer)), &taken, &err);
    pthread_mutex_unlock(&files->lock);
    if (status != ST_OK || taken || replaces(files, item->answer, &item->file)) {
        item_fail(item, ITEM_FAILED, "same-name", "another file has the name of the answer");
    }
}

/* The answer gets the time of the file, as copies do. */
static void finish_answer(struct files *files, struct item *item) {
    if (item->outcome == ITEM_DONE) {
        name_answer(files, item);
    }
    if (item->outcome == ITEM_DONE) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, item->file.st_mtim};
        futimens(item->out, times);
    }
    if (item->out >= 0 && item->outcome != ITEM_DONE) {
        output_abandon(&files->output, item->number);
    }
    if (item->out >= 0) {
        close(item->out);
        item->out = -1;
    }
    if (item->in >= 0) {
        close(item->in);
        item->in = -1;
    }
}

static enum status write_line(const struct item *item, struct buf *lines, struct error *err) {
    const struct journal_entry entry = {.name = item->input.name,
                                        .status = item->outcome == ITEM_DONE     ? "done"
                                                  : item->outcome == ITEM_FAILED ? "failed"
                                                                                 : "skipped",
                                        .output = item->outcome == ITEM_DONE ? item->answer : NULL,
                                        .file = item->file,
                                        .result = &item->result,
                                        .hashed = item->result.hashed,
                                        .tries = item->tries,
                                        .ms = item->ms};
    return journal_write(&entry, lines, err);
}

/* Gives the answers of a group their names. Those that cannot get one have failed. */
static enum status commit(const struct batch *batch, struct item *group, struct error *err) {
    const struct files *files = batch->state;
    bool any = false;
    for (const struct item *item = group; item; item = item->next) {
        any = any || item->outcome == ITEM_DONE;
    }
    enum status status = any ? output_sync(&files->output, err) : ST_OK;
    for (struct item *item = group; item; item = item->next) {
        struct error why = *err;
        if (item->outcome == ITEM_DONE &&
            (status != ST_OK || output_commit(&files->output, item->number, item->answer, &why) != ST_OK)) {
            item_fail(item, ITEM_FAILED, "output", why.text);
            output_abandon(&files->output, item->number);
        }
    }
    return status;
}

static void write_group(struct batch *batch, struct item *group) {
    const struct files *files = batch->state;
    struct error err = {0};
    struct buf lines;
    buf_init(&lines, LINES_MAX);
    enum status status = commit(batch, group, &err);
    for (struct item *item = group; item && files->journal >= 0 && status == ST_OK; item = item->next) {
        status = write_line(item, &lines, &err);
    }
    if (status == ST_OK && lines.size) {
        status = journal_append(files->journal, buf_bytes(&lines), &err);
    }
    buf_finish(&lines);
    if (status != ST_OK) {
        batch_break(batch, &err);
    }
    while (group) {
        struct item *item = group;
        group = item->next;
        batch_finish_item(batch, item);
    }
}

/* Takes all that wait and writes them. Called with the lock, which it gives up meanwhile. */
static void flush(struct batch *batch) {
    struct files *files = batch->state;
    struct item *group = files->first;
    files->first = NULL;
    files->last = &files->first;
    files->waiting = 0;
    files->writing = true;
    pthread_mutex_unlock(&files->lock);
    write_group(batch, group);
    pthread_mutex_lock(&files->lock);
    files->writing = false;
    pthread_cond_broadcast(&files->written);
}

static void give(struct batch *batch, struct item *item) {
    struct files *files = batch->state;
    finish_answer(files, item);
    if (item->outcome == ITEM_KEPT) {
        batch_finish_item(batch, item);
        return;
    }
    pthread_mutex_lock(&files->lock);
    while (files->writing && files->waiting >= GROUPS_WAITING * GROUP) {
        pthread_cond_wait(&files->written, &files->lock);
    }
    files->since_ns = files->waiting ? files->since_ns : clock_ns();
    *files->last = item;
    files->last = &item->next;
    files->waiting++;
    if (files->waiting >= GROUP && !files->writing) {
        flush(batch);
    }
    pthread_mutex_unlock(&files->lock);
}

static void tick(struct batch *batch, bool end) {
    struct files *files = batch->state;
    pthread_mutex_lock(&files->lock);
    if (files->waiting && !files->writing && (end || clock_ns() - files->since_ns >= GROUP_NS)) {
        flush(batch);
    }
    pthread_mutex_unlock(&files->lock);
}

static enum status finish(struct batch *batch, struct error *err) {
    struct files *files = batch->state;
    (void)err;
    if (!files) {
        return ST_OK;
    }
    source_destroy(files->source);
    if (files->list && files->list != stdin) {
        fclose(files->list);
    }
    if (files->journal >= 0) {
        close(files->journal);
    }
    output_finish(&files->output);
    originals_finish(&files->originals);
    names_destroy(files->names);
    free(files);
    return ST_OK;
}

static const struct batch_kind kind = {
    .take = take, .open = open_input, .begin = begin, .give = give, .tick = tick, .finish = finish};

static bool is_folder(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

/* A single picture may go to a file. */
static bool is_single(const struct job_line *line) {
    const char *output = line->options.output;
    return line->operands == 1 && !line->options.files_from[0] && !is_folder(line->operand[0]) &&
           !is_folder(output) && output[strlen(output) - 1] != '/';
}

static enum status open_list(const struct batch *batch, struct files *files, struct error *err) {
    const char *path = batch->options->files_from;
    if (!path[0]) {
        return ST_OK;
    }
    files->list = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    return files->list ? ST_OK : fail(err, ST_ARGUMENT, "cannot open %.200s: %s", path, strerror(errno));
}

/* Counts the files of folders, for the time that is left. A list from standard input can be read only once.
 */
static enum status count(struct batch *batch, const struct source_options *options, struct error *err) {
    struct input_source *source;
    struct source_options counted = *options;
    struct input *input = malloc(sizeof *input);
    counted.list = NULL;
    enum status status = input ? source_create(&source, &counted, err) : fail(err, ST_BUSY, "out of memory");
    if (status == ST_OK) {
        while (source_next(source, input)) {
            batch->tally.total += options->list == NULL;
        }
        source_destroy(source);
    }
    free(input);
    return status;
}

/* Answers in the folder of the files would replace them. */
static enum status refuse_itself(const struct job_line *line, struct error *err) {
    struct stat output, operand;
    const bool there = stat(line->options.output, &output) == 0 && S_ISDIR(output.st_mode);
    for (unsigned i = 0; there && i < line->operands; i++) {
        if (stat(line->operand[i], &operand) == 0 && operand.st_dev == output.st_dev &&
            operand.st_ino == output.st_ino) {
            return fail(err, ST_ARGUMENT, "%.200s is input and output: the answers would replace the files",
                        line->operand[i]);
        }
    }
    return ST_OK;
}

/* Operands are checked before the output is made. */
static enum status open_source(struct batch *batch, struct files *files, const struct job_line *line,
                               struct error *err) {
    const struct job_options *options = &line->options;
    struct input_source *checked = NULL;
    struct source_options from = {.operand = line->operand,
                                  .operands = line->operands,
                                  .recursive = options->recursive,
                                  .list = files->list,
                                  .ends = options->null ? '\0' : '\n'};
    enum status status = source_create(&checked, &from, err);
    source_destroy(checked);
    status = status == ST_OK ? refuse_itself(line, err) : status;
    status =
        status == ST_OK ? originals_create(&files->originals, line->operand, line->operands, err) : status;
    if (status == ST_OK && !options->dry_run) {
        status = output_open(&files->output, options->output, is_single(line), err);
        from.skipped = files->output.folder;
    } else if (status == ST_OK && options->output[0] && stat(options->output, &from.skipped) != 0) {
        from.skipped = (struct stat){0};
    }
    status = status == ST_OK ? count(batch, &from, err) : status;
    status = status == ST_OK ? names_reserve(files->names, batch->tally.total, err) : status;
    return status == ST_OK ? source_create(&files->source, &from, err) : status;
}

enum status files_create(struct batch *batch, const struct job_line *line, struct error *err) {
    const struct job_options *options = &line->options;
    struct files *files = calloc(1, sizeof *files);
    if (!files) {
        return fail(err, ST_BUSY, "out of memory");
    }
    batch->state = files;
    batch->kind = &kind;
    files->journal = files->output.root = files->output.partial = -1;
    files->last = &files->first;
    pthread_mutex_init(&files->lock, NULL);
    pthread_cond_init(&files->written, NULL);
    enum status status = names_create(&files->names, err);
    status = status == ST_OK ? open_list(batch, files, err) : status;
    status = status == ST_OK ? open_source(batch, files, line, err) : status;
    if (status == ST_OK && options->report[0] && !(options->dry_run && !options->resume)) {
        status = journal_open(options->report, options->resume, line->job, files->output.root, files->names,
                              &files->journal, err);
    }
    return status;
}
