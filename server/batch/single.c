/* SPDX-License-Identifier: MIT */
#include "server/batch/single.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/batch/destination.h"
#include "server/batch/spool.h"

struct single_picture {
    int in; /* -1: it is taken */
    char name[64];
    struct destination destination;
};

bool single_is_asked(const struct job_line *line) {
    return line->operands == 1 && !line->options.tar && !line->options.files_from[0] &&
           (strcmp(line->operand[0], "-") == 0 || strcmp(line->options.output, "-") == 0);
}

static bool take(struct batch *batch, struct item *item) {
    struct single_picture *single = batch->state;
    if (single->in < 0) {
        return false;
    }
    item->in = single->in;
    single->in = -1;
    snprintf(item->input.path, sizeof item->input.path, "%s", single->name);
    item->input.name = item->input.path;
    if (fstat(item->in, &item->file) != 0) {
        item_fail(item, ITEM_FAILED, "unreadable", strerror(errno));
    }
    return true;
}

static enum status begin(struct batch *batch, struct item *item, struct error *err) {
    (void)batch;
    return spool_open(&item->out, err);
}

static enum status pass(void *context, struct bytes piece, struct error *err) {
    return spool_write(*(const int *)context, piece, err);
}

static void give(struct batch *batch, struct item *item) {
    struct single_picture *single = batch->state;
    struct error err = {0};
    const bool done = item->outcome == ITEM_DONE;
    enum status status = done ? spool_read(item->out, pass, &single->destination.fd, &err) : ST_OK;
    if (status == ST_OK) {
        status = destination_finish(&single->destination, done, &err);
    }
    if (status != ST_OK) {
        item_fail(item, ITEM_FAILED, "output", err.text);
    }
    batch_finish_item(batch, item);
}

static void tick(struct batch *batch, bool end) {
    (void)batch;
    (void)end;
}

static enum status finish(struct batch *batch, struct error *err) {
    struct single_picture *single = batch->state;
    enum status status = ST_OK;
    if (single) {
        if (single->in >= 0) {
            close(single->in);
        }
        status = destination_finish(&single->destination, false, err);
        free(single);
    }
    return status;
}

static const struct batch_kind kind = {
    .take = take, .begin = begin, .give = give, .tick = tick, .finish = finish};

static enum status open_picture(struct single_picture *single, const char *path, struct error *err) {
    struct stat file;
    enum status status = ST_OK;
    if (strcmp(path, "-") != 0) {
        single->in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        return single->in >= 0 && fstat(single->in, &file) == 0 && S_ISREG(file.st_mode)
                   ? ST_OK
                   : fail(err, ST_ARGUMENT, "%.200s: %s", path,
                          single->in < 0 ? strerror(errno) : "it is no file");
    }
    status = destination_spare(&single->destination, STDIN_FILENO, err);
    status = status == ST_OK ? spool_open(&single->in, err) : status;
    return status == ST_OK ? spool_fill(single->in, STDIN_FILENO, err) : status;
}

enum status single_create(struct batch *batch, const struct job_line *line, struct error *err) {
    struct single_picture *single = calloc(1, sizeof *single);
    if (!single) {
        return fail(err, ST_BUSY, "out of memory");
    }
    single->in = -1;
    batch->kind = &kind;
    batch->state = single;
    snprintf(single->name, sizeof single->name, "%s",
             strcmp(line->operand[0], "-") == 0 ? "standard input" : line->operand[0]);
    batch->tally.quiet = true; /* it is one of many commands in a pipe */
    enum status status = destination_open(&single->destination, line->options.output, err);
    return status == ST_OK ? open_picture(single, line->operand[0], err) : status;
}
