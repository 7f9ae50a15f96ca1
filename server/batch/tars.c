/* SPDX-License-Identifier: MIT
 * Members are taken in turn, done at the same time, and written in turn. A finished picture waits in a ring
 * for those before it; a thread that is too far ahead waits for room there. */
#include "server/batch/tars.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/batch/destination.h"
#include "server/batch/input/picture_names.h"
#include "server/batch/item_line.h"
#include "server/batch/journal.h"
#include "server/batch/spool.h"
#include "server/batch/tar/tar_reader.h"
#include "server/batch/tar/tar_writer.h"

enum { RING = 256, PIECE = 64 << 10, LINE_BYTES_MAX = 32 << 20 };

struct tars {
    struct tar_reader *reader; /* under batch->source */
    int in;
    bool read;   /* all members were */
    int journal; /* -1: none */
    struct destination destination;
    struct tar_writer writer; /* of the thread that is `writing`, and so are the names */
    struct names *names;      /* that were written, each with its enum written_name */
    pthread_mutex_t lock;     /* of what follows */
    pthread_cond_t changed;
    struct item *ring[RING];
    unsigned long next; /* number of the item to write */
    bool writing, failed;
};

/* A tar may have a name twice, of which readers take the last one. But no answer takes the name of another
 * member by its new ending. */
enum written_name { NAME_GIVEN = 1, NAME_ENDED };

/* Copies the data of a member to a spool. */
static enum status spool_member(struct tars *tars, struct item *item, struct error *err) {
    uint8_t piece[PIECE];
    size_t got = sizeof piece;
    enum status status = spool_open(&item->in, err);
    while (status == ST_OK && got == sizeof piece) {
        status = tar_reader_data(tars->reader, piece, sizeof piece, &got, err);
        status = status == ST_OK ? spool_write(item->in, (struct bytes){piece, got}, err) : status;
    }
    return status;
}

static void name_item(struct item *item, struct tar_member *member) {
    snprintf(item->input.path, sizeof item->input.path, "%.*s", PATH_MAX - 1, member->name);
    item->input.name = item->input.path;
    item->more = member;
}

/* Which members are pictures, by the names and beginnings that tell files of folders. */
static enum status take_data(struct batch *batch, struct item *item, const struct tar_member *member,
                             struct error *err) {
    enum status status = spool_member(batch->state, item, err);
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_sec = member->mtime, .tv_nsec = member->mtime_ns}};
    if (status != ST_OK) {
        return status;
    }
    futimens(item->in, times); /* the report tells that of the member */
    if (fstat(item->in, &item->file) != 0) {
        return fail(err, ST_BUSY, "a temporary file is lost");
    }
    item->file.st_nlink = 1; /* it has no name, but was read */
    if (!picture_names_fit(item->in, member->name)) {
        item->outcome = batch->options->copy_others ? ITEM_PASSED : ITEM_OPEN;
        if (item->outcome == ITEM_OPEN) {
            item_fail(item, ITEM_SKIPPED, "no-picture",
                      "neither its name nor its beginning is that of a picture");
        }
    }
    if (item->outcome == ITEM_OPEN && strlen(member->name) >= PATH_MAX) {
        item_fail(item, ITEM_FAILED, "unreadable", "its name is too long");
    }
    return ST_OK;
}

static enum status end_input(struct tars *tars, struct error *err) {
    bool joined;
    enum status status = tar_reader_end(tars->reader, &joined, err);
    if (status == ST_OK && joined) {
        status = fail(err, ST_CORRUPT, "a second tar follows the first one, and was not read: split them");
    }
    tars->read = status == ST_OK;
    return status;
}

static bool take(struct batch *batch, struct item *item) {
    struct tars *tars = batch->state;
    struct error err = {0};
    bool more = false;
    struct tar_member *member = calloc(1, sizeof *member);
    enum status status = member ? ST_OK : fail(&err, ST_BUSY, "out of memory");
    if (tars->read) {
        free(member);
        return false;
    }
    status = status == ST_OK ? tar_reader_next(tars->reader, member, &more, &err) : status;
    if (status == ST_OK && more) {
        name_item(item, member);
        item->outcome = ITEM_PASSED; /* folders and links */
        if (tar_member_has_data(member)) {
            item->outcome = ITEM_OPEN;
            status = take_data(batch, item, member, &err);
        }
    } else if (status == ST_OK) {
        status = end_input(tars, &err);
    }
    if (status != ST_OK) {
        batch_break(batch, &err);
    }
    if (status != ST_OK || !more) {
        free(member);
        item->more = NULL;
    }
    return status == ST_OK && more;
}

static enum status begin(struct batch *batch, struct item *item, struct error *err) {
    (void)batch;
    return spool_open(&item->out, err);
}

static enum status pass(void *context, struct bytes piece, struct error *err) {
    return tar_writer_data(context, piece.data, piece.size, err);
}

static enum status write_member(struct tars *tars, struct tar_member *member, const char *name, int data,
                                struct error *err) {
    struct stat file = {0};
    if (data >= 0 && fstat(data, &file) != 0) {
        return fail(err, ST_BUSY, "a temporary file is lost");
    }
    member->size = data >= 0 ? (uint64_t)file.st_size : 0;
    if (strlen(name) > TAR_NAME_MAX) {
        return fail(err, ST_LIMIT, "the name of an answer is longer than %d bytes", TAR_NAME_MAX);
    }
    if (name != member->name) {
        memcpy(member->name, name, strlen(name) + 1);
    }
    enum status status = tar_writer_member(&tars->writer, member, err);
    return status == ST_OK && data >= 0 ? spool_read(data, pass, &tars->writer, err) : status;
}

/* A member with what the report says of the failure. */
static enum status write_error(struct tars *tars, struct item *item, const struct buf *line,
                               struct error *err) {
    char name[PATH_MAX];
    int spool;
    snprintf(name, sizeof name, "%.*s.error.json", PATH_MAX - 16, item->input.name);
    enum status status = spool_open(&spool, err);
    if (status == ST_OK) {
        status = spool_write(spool, buf_bytes(line), err);
        status = status == ST_OK ? write_member(tars, item->more, name, spool, err) : status;
        close(spool);
    }
    return status;
}

static enum status write_picture(struct batch *batch, struct item *item, struct error *err) {
    struct tars *tars = batch->state;
    struct buf line;
    buf_init(&line, LINE_BYTES_MAX);
    enum status status = item_line_write(item, &line, err);
    if (status == ST_OK && item->outcome == ITEM_DONE) {
        status = write_member(tars, item->more, item->answer, item->out, err);
    } else if (status == ST_OK && item->outcome == ITEM_FAILED) {
        status = write_error(tars, item, &line, err);
    }
    if (status == ST_OK && tars->journal >= 0) {
        status = spool_write(tars->journal, buf_bytes(&line), err);
    }
    buf_finish(&line);
    return status;
}

/* Finds the name of the answer, or of a file that is copied, which must be free. */
static enum status name_answer(struct tars *tars, struct item *item, struct error *err) {
    const struct tar_member *member = item->more;
    const char *type = item->outcome == ITEM_DONE ? item->result.head.type : "";
    if (!output_name(member->name, type, item->answer)) {
        item_fail(item, ITEM_FAILED, "output", "the name of the answer would be too long");
        return ST_OK;
    }
    const struct bytes name = {(const uint8_t *)item->answer, strlen(item->answer)};
    const enum written_name kind = strcmp(item->answer, member->name) == 0 ? NAME_GIVEN : NAME_ENDED;
    const uint64_t digest = names_digest(tars->names, name);
    const uint32_t before = names_get(tars->names, digest);
    if (before && (before == NAME_ENDED || kind == NAME_ENDED)) {
        item_fail(item, ITEM_FAILED, "same-name", "another member has the name of the answer");
        return ST_OK;
    }
    return names_set(tars->names, digest, kind, err);
}

/* Writes an item, unless the tar has failed, and counts it. */
static void write_item(struct batch *batch, struct item *item) {
    struct tars *tars = batch->state;
    struct error err = {0};
    enum status status = ST_OK;
    if (item->outcome == ITEM_DONE || (item->outcome == ITEM_PASSED && item->in >= 0)) {
        status = name_answer(tars, item, &err);
    }
    if (tars->failed || (item->outcome == ITEM_FAILED && !batch->options->keep_going)) {
        tars->failed = true; /* without an end */
    } else if (item->outcome == ITEM_PASSED) {
        struct tar_member *member = item->more;
        status = write_member(tars, member, member->name, item->in, &err);
    } else {
        status = write_picture(batch, item, &err);
    }
    if (status != ST_OK) {
        tars->failed = true;
        batch_break(batch, &err);
    }
    batch_finish_item(batch, item);
}

static void give(struct batch *batch, struct item *item) {
    struct tars *tars = batch->state;
    if (item->outcome != ITEM_PASSED && item->in >= 0) {
        close(item->in); /* many may wait */
        item->in = -1;
    }
    pthread_mutex_lock(&tars->lock);
    while (item->number >= tars->next + RING) {
        pthread_cond_wait(&tars->changed, &tars->lock);
    }
    tars->ring[item->number % RING] = item;
    while (!tars->writing && tars->ring[tars->next % RING]) {
        struct item *first = tars->ring[tars->next % RING];
        tars->ring[tars->next % RING] = NULL;
        tars->writing = true;
        pthread_mutex_unlock(&tars->lock);
        write_item(batch, first);
        pthread_mutex_lock(&tars->lock);
        tars->writing = false;
        tars->next++;
        pthread_cond_broadcast(&tars->changed);
    }
    pthread_mutex_unlock(&tars->lock);
}

static void tick(struct batch *batch, bool end) {
    (void)batch;
    (void)end;
}

static enum status finish(struct batch *batch, struct error *err) {
    struct tars *tars = batch->state;
    if (!tars) {
        return ST_OK;
    }
    const bool whole = tars->read && !tars->failed && !batch->options->dry_run;
    enum status status = whole ? tar_writer_end(&tars->writer, err) : ST_OK;
    if (!whole && !batch->options->dry_run) {
        status = fail(err, ST_BUSY, "%s",
                      tars->destination.named ? "members are missing, and no tar is written"
                                              : "members are missing, and the tar has no end");
    }
    struct error unused = {0};
    if (destination_finish(&tars->destination, whole && status == ST_OK, status == ST_OK ? err : &unused) !=
        ST_OK) {
        status = ST_BUSY;
    }
    tar_reader_destroy(tars->reader);
    names_destroy(tars->names);
    if (tars->in > STDIN_FILENO) {
        close(tars->in);
    }
    if (tars->journal >= 0) {
        close(tars->journal);
    }
    free(tars);
    return status;
}

static const struct batch_kind kind = {
    .take = take, .begin = begin, .give = give, .tick = tick, .finish = finish};

static enum status open_input(struct tars *tars, const struct job_line *line, struct error *err) {
    const bool named = line->operands == 1 && strcmp(line->operand[0], "-") != 0;
    tars->in = named ? open(line->operand[0], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (tars->in < 0) {
        return fail(err, ST_ARGUMENT, "cannot open %.200s: %s", line->operand[0], strerror(errno));
    }
    tars->reader = tar_reader_create((struct tar_input){tar_stream_read, &tars->in});
    return tars->reader ? ST_OK : fail(err, ST_BUSY, "out of memory");
}

enum status tars_create(struct batch *batch, const struct job_line *line, struct error *err) {
    struct tars *tars = calloc(1, sizeof *tars);
    if (!tars) {
        return fail(err, ST_BUSY, "out of memory");
    }
    batch->kind = &kind;
    batch->state = tars;
    tars->journal = tars->destination.fd = -1;
    tars->destination.output.root = tars->destination.output.partial = -1;
    pthread_mutex_init(&tars->lock, NULL);
    pthread_cond_init(&tars->changed, NULL);
    enum status status = names_create(&tars->names, err);
    status = status == ST_OK ? open_input(tars, line, err) : status;
    if (status == ST_OK && !line->options.dry_run) {
        status = destination_open(&tars->destination, line->options.output, err);
        status = status == ST_OK ? destination_spare(&tars->destination, tars->in, err) : status;
        tar_writer_init(&tars->writer, (struct tar_output){tar_stream_write, &tars->destination.fd});
    }
    if (status == ST_OK && line->options.report[0] && !line->options.dry_run) {
        status = journal_open(line->options.report, JOURNAL_NEW, line->job, -1, NULL, &tars->journal, err);
    }
    return status;
}
