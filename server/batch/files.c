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
#include "server/batch/item_line.h"
#include "server/batch/journal.h"
#include "server/batch/output.h"

enum { GROUP = 64, GROUPS_WAITING = 2, GROUP_NS = 1000000000, LINES_MAX = 1 << 30 };

struct files {
    struct input_source *source;
    FILE *list;
    struct names *names; /* entries under `lock`; names_digest needs no lock */
    struct originals originals;
    struct output output;
    int journal;          /* -1: none */
    pthread_mutex_t lock; /* protects the members below */
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

/* What an earlier job left in the output may be what this one is to hide: it must not pass for an answer. */
static bool finds_other(const struct batch *batch, const char *name) {
    const struct files *files = batch->state;
    return !batch->options->replace && !files->output.single[0] && output_has(&files->output, name);
}

static void fail_other(struct item *item) {
    item_fail(item, ITEM_FAILED, "exists",
              "the output has a file of this name, which is not of this report: --replace replaces it");
}

/* Opens the file and decides whether there is anything to do. */
static void open_input(struct batch *batch, struct item *item) {
    struct files *files = batch->state;
    const struct input *input = &item->input;
    if (input->other && stat(input->path, &item->file) == 0) {
        item->file.st_nlink = 0;
        item_fail(item, ITEM_SKIPPED, "no-file", "it is a link to a folder, or neither file nor folder");
        return;
    }
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
    } else if (item->known == 0 && finds_other(batch, input->name)) {
        fail_other(item);
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
    if (status != ST_OK || taken || journal_is_owned(item->known)) {
        item_fail(item, ITEM_FAILED, "same-name", "another file has this name in the output");
    }
    return true;
}

static enum status begin(struct batch *batch, struct item *item, struct error *err) {
    const struct files *files = batch->state;
    return output_begin(&files->output, item->number, item->file.st_mode, &item->out, err);
}

/* Finds the name of the answer, which no other file may have. */
static void name_answer(const struct batch *batch, struct item *item) {
    struct files *files = batch->state;
    struct error err = {0};
    enum status status = ST_OK;
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
    const uint64_t digest = names_digest(files->names, text_bytes(item->answer));
    const uint32_t known = names_get(files->names, digest);
    const bool own = known == journal_owner(files->names, item->input.name);
    if (!own) {
        status = names_take(files->names, digest, &taken, &err);
    }
    pthread_mutex_unlock(&files->lock);
    if (status != ST_OK || taken || (known && !own) || replaces(files, item->answer, &item->file)) {
        item_fail(item, ITEM_FAILED, "same-name", "another file has the name of the answer");
    } else if (!own && finds_other(batch, item->answer)) {
        fail_other(item);
    }
}

/* The answer gets the time of the file, as copies do. */
static void finish_answer(const struct batch *batch, struct item *item) {
    const struct files *files = batch->state;
    if (item->outcome == ITEM_DONE) {
        name_answer(batch, item);
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

/* Waits until the disk has the answers of a group, and then the lines that tell of them. */
static enum status secure(const struct files *files, const struct item *group, struct error *err) {
    bool any = false;
    struct buf lines;
    buf_init(&lines, LINES_MAX);
    for (const struct item *item = group; item; item = item->next) {
        any = any || item->outcome == ITEM_DONE;
    }
    enum status status = any ? output_sync(&files->output, err) : ST_OK;
    for (const struct item *item = group; item && files->journal >= 0 && status == ST_OK; item = item->next) {
        status = item_line_write(item, &lines, err);
    }
    if (status == ST_OK && lines.size) {
        status = journal_append(files->journal, buf_bytes(&lines), err);
    }
    buf_finish(&lines);
    return status;
}

/* Tells of an answer that could not get its name, behind the line that says that it is done. */
static void withdraw(const struct files *files, struct item *item, const struct error *why) {
    struct error unused = {0};
    struct buf line;
    buf_init(&line, LINES_MAX);
    item_fail(item, ITEM_FAILED, "output", why->text);
    output_abandon(&files->output, item->number);
    if (files->journal >= 0 && item_line_write(item, &line, &unused) == ST_OK) {
        journal_append(files->journal, buf_bytes(&line), &unused);
    }
    buf_finish(&line);
}

/* The report has the answers before they get their names: what has a name and is not in the report is no
 * answer of this batch. A batch that is killed in between does these again, since they are not there. */
static void write_group(struct batch *batch, struct item *group) {
    const struct files *files = batch->state;
    struct error err = {0};
    const enum status status = secure(files, group, &err);
    if (status != ST_OK) {
        batch_break(batch, &err);
    }
    while (group) {
        struct item *item = group;
        struct error why = err;
        group = item->next;
        if (item->outcome == ITEM_DONE &&
            (status != ST_OK || output_commit(&files->output, item->number, item->answer, &why) != ST_OK)) {
            withdraw(files, item, &why);
        }
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
    finish_answer(batch, item);
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
    } else if (status == ST_OK && is_folder(options->output)) {
        files->output.root = open(options->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fstat(files->output.root, &from.skipped);
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
    if (status == ST_OK && options->report[0] && (options->resume || !options->dry_run)) {
        const enum journal_mode mode = options->dry_run  ? JOURNAL_READ
                                       : options->resume ? JOURNAL_RESUME
                                                         : JOURNAL_NEW;
        status = journal_open(options->report, mode, line->job, files->output.root, files->names,
                              &files->journal, err);
    }
    return status;
}
