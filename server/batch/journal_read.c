/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/json/json_reader.h"
#include "core/version.h"
#include "server/batch/journal.h"

enum { JOB_MAX = 8192 };

/* What a line tells, as far as it is needed. */
struct journal_line {
    char name[PATH_MAX], output[PATH_MAX], status[16], mtime[32];
    double size, bytes;
};

/* The bytes of a name that is no UTF-8, from hexadecimal digits. */
static bool read_bytes(struct json_reader *reader, char *name, size_t size) {
    char digits[2 * PATH_MAX];
    if (!json_reader_text(reader, digits, sizeof digits) || strlen(digits) / 2 >= size) {
        return false;
    }
    for (size_t i = 0; digits[2 * i]; i++) {
        unsigned byte;
        if (sscanf(digits + 2 * i, "%2x", &byte) != 1 || !digits[2 * i + 1]) {
            return false;
        }
        name[i] = (char)byte;
        name[i + 1] = '\0';
    }
    return true;
}

static bool read_member(struct json_reader *reader, struct journal_line *line) {
    char name[16];
    return json_reader_name(reader, name, sizeof name) &&
           (strcmp(name, "file") == 0           ? json_reader_text(reader, line->name, PATH_MAX)
            : strcmp(name, "file_bytes") == 0   ? read_bytes(reader, line->name, PATH_MAX)
            : strcmp(name, "output") == 0       ? json_reader_text(reader, line->output, PATH_MAX)
            : strcmp(name, "output_bytes") == 0 ? read_bytes(reader, line->output, PATH_MAX)
            : strcmp(name, "status") == 0       ? json_reader_text(reader, line->status, sizeof line->status)
            : strcmp(name, "mtime") == 0        ? json_reader_text(reader, line->mtime, sizeof line->mtime)
            : strcmp(name, "size") == 0         ? json_reader_number(reader, &line->size)
            : strcmp(name, "bytes") == 0        ? json_reader_number(reader, &line->bytes)
                                                : json_reader_skip(reader));
}

static bool read_line(struct bytes text, struct journal_line *line) {
    struct json_reader reader;
    bool more = true, read;
    memset(line, 0, sizeof *line);
    json_reader_init(&reader, text);
    read = json_reader_open(&reader, '{');
    while (read && (read = json_reader_next(&reader, '}', &more)) && more) {
        read = read_member(&reader, line);
    }
    return read && line->name[0];
}

/* Whether the answer is where the line says, and whole. */
static bool is_there(const struct journal_line *line, int output) {
    struct stat file;
    return fstatat(output, line->output, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) &&
           (double)file.st_size == line->bytes;
}

/* A file that was done and failed later is done again. One that only failed may have the name of another's
 * answer, which it keeps. */
static enum status note(const struct journal_line *line, int output, struct names *names, struct error *err) {
    struct stat file = {.st_size = (off_t)line->size};
    long long seconds = 0;
    const struct bytes name = {(const uint8_t *)line->name, strlen(line->name)};
    const uint64_t digest = names_digest(names, name);
    if (strcmp(line->status, "done") != 0) {
        const uint32_t before = names_get(names, digest);
        return before && !journal_is_owned(before) ? names_set(names, digest, JOURNAL_GONE, err) : ST_OK;
    }
    if (sscanf(line->mtime, "%lld.%ld", &seconds, &file.st_mtim.tv_nsec) == 2) {
        file.st_mtim.tv_sec = (time_t)seconds;
    }
    const struct bytes answer = {(const uint8_t *)line->output, strlen(line->output)};
    enum status status =
        names_set(names, digest, is_there(line, output) ? journal_state(names, &file) : JOURNAL_GONE, err);
    return status == ST_OK && strcmp(line->name, line->output) != 0
               ? names_set(names, names_digest(names, answer), journal_owner(names, line->name), err)
               : status;
}

static void write_job(const char *job, char text[JOB_MAX]) {
    char quoted[JOB_MAX - 64];
    json_string(quoted, sizeof quoted, job);
    snprintf(text, JOB_MAX, "{\"job\":%s,\"version\":1}\n", quoted);
}

/* Reads all whole lines. *end: where the last of them ends. */
static enum status read_lines(FILE *file, const char *path, const char *job, int output, struct names *names,
                              off_t *end, struct error *err) {
    char *text = NULL, first[JOB_MAX];
    size_t room = 0;
    struct journal_line *line = malloc(sizeof *line);
    enum status status = line ? ST_OK : fail(err, ST_BUSY, "out of memory");
    write_job(job, first);
    for (unsigned long number = 1; status == ST_OK; number++) {
        const ssize_t length = getline(&text, &room, file);
        if (length <= 0 || text[length - 1] != '\n') {
            break;
        }
        if (number == 1) {
            status = strcmp(text, first) == 0
                         ? ST_OK
                         : fail(err, ST_ARGUMENT, "%.200s is the report of another job: %.200s", path, text);
        } else if (read_line((struct bytes){(uint8_t *)text, (size_t)length}, line)) {
            status = note(line, output, names, err);
        } else {
            status = fail(err, ST_ARGUMENT, "line %lu of %.200s is damaged", number, path);
        }
        *end += length;
    }
    free(text);
    free(line);
    return status;
}

static enum status resume_from(int fd, const char *path, bool writes, const char *job, int output,
                               struct names *names, struct error *err) {
    off_t end = 0;
    FILE *file = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "r");
    if (!file) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = read_lines(file, path, job, output, names, &end, err);
    fclose(file);
    if (status == ST_OK && writes && (ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) != end)) {
        status = fail(err, ST_ARGUMENT, "cannot write %.200s: %s", path, strerror(errno));
    }
    return status;
}

static enum status write_first(int fd, const char *path, const char *job, struct error *err) {
    char first[JOB_MAX];
    write_job(job, first);
    const ssize_t size = (ssize_t)strlen(first);
    return write(fd, first, (size_t)size) == size
               ? ST_OK
               : fail(err, ST_ARGUMENT, "cannot write %.200s: %s", path, strerror(errno));
}

enum status journal_open(const char *path, enum journal_mode mode, const char *job, int output,
                         struct names *names, int *fd, struct error *err) {
    static const int flags[] = {[JOURNAL_NEW] = O_RDWR | O_CREAT | O_EXCL,
                                [JOURNAL_RESUME] = O_RDWR | O_CREAT,
                                [JOURNAL_READ] = O_RDONLY};
    const bool writes = mode != JOURNAL_READ;
    struct stat file;
    *fd = open(path, flags[mode] | O_CLOEXEC, 0666);
    if (*fd < 0 && errno == ENOENT && !writes) {
        return ST_OK;
    }
    if (*fd < 0) {
        return fail(err, ST_ARGUMENT, "cannot make %.200s: %s%s", path, strerror(errno),
                    errno == EEXIST ? "; --resume continues it" : "");
    }
    if (writes && flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        return fail(err, ST_ARGUMENT, "another batch writes %.200s", path);
    }
    enum status status =
        mode != JOURNAL_NEW ? resume_from(*fd, path, writes, job, output, names, err) : ST_OK;
    const bool empty = fstat(*fd, &file) != 0 || file.st_size == 0;
    return status == ST_OK && writes && empty ? write_first(*fd, path, job, err) : status;
}
