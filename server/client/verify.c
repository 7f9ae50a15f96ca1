/* SPDX-License-Identifier: MIT */
#include "server/client/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "server/client/own_daemon.h"
#include "server/client/post.h"
#include "server/evidence/report_keys.h"

enum { FILES_MIN = 2, FILES_MAX = 4, FILE_BYTES_MAX = 256 << 20, ANSWER_MAX = 8 << 20 };

static enum status read_file(const char *path, struct buf *file, struct error *err) {
    FILE *from = fopen(path, "re");
    uint8_t piece[4096];
    enum status status = ST_OK;
    if (!from) {
        return fail(err, ST_ARGUMENT, "cannot open %s: %s", path, strerror(errno));
    }
    for (size_t got; status == ST_OK && (got = fread(piece, 1, sizeof piece, from)) > 0;) {
        status = buf_append(file, piece, got, err);
    }
    const bool failed = ferror(from);
    fclose(from);
    if (status == ST_LIMIT) {
        return fail(err, ST_ARGUMENT, "%s is larger than %d MiB", path, FILE_BYTES_MAX >> 20);
    }
    return status == ST_OK && failed ? fail(err, ST_ARGUMENT, "cannot read %s", path) : status;
}

/* What the daemon has in place of the configuration: it serves this command alone, and must not sign. */
static const struct own_daemon_option fixed[] = {
    {"gpus", "none"}, {"max_body", "1GiB"}, {"memory", "0"}, {"report_key", ""}, {"require_gpu", "off"},
};

/* Lets a daemon of its own verify. */
static enum status ask(const struct config *config, const struct post_part *part, unsigned count,
                       unsigned *http_status, struct buf *answer, struct error *err) {
    struct own_daemon daemon;
    int fd;
    enum status status = own_daemon_start(&daemon, config, fixed, sizeof fixed / sizeof *fixed, err);
    if (status != ST_OK) {
        return status;
    }
    status = own_daemon_connect(&daemon, &fd, err);
    if (status == ST_OK) {
        status = post_form(fd, "/verify", part, count, http_status, answer, err);
        close(fd);
    }
    own_daemon_stop(&daemon);
    return status;
}

static enum status judge(unsigned http_status, const struct buf *answer, FILE *out, struct error *err) {
    char detail[ERROR_TEXT_MAX];
    if (http_status == 200) {
        fwrite(answer->data, 1, answer->size, out);
        return fflush(out) == 0 ? ST_OK : fail(err, ST_ARGUMENT, "cannot write the answer");
    }
    post_detail(buf_bytes(answer), detail, sizeof detail);
    return fail(err, ST_UNVERIFIED, "not verified: %.300s", detail);
}

enum status verify_run(const struct config *config, int argc, char *const *argv, int first, FILE *out,
                       struct error *err) {
    static const char *const names[FILES_MAX] = {"report", "answer", "input", "mask"};
    const int count = argc - first;
    struct buf file[FILES_MAX], answer;
    struct post_part part[FILES_MAX];
    unsigned http_status = 0;
    enum status status = ST_OK;
    if (count < FILES_MIN || count > FILES_MAX) {
        return fail(err, ST_ARGUMENT, "verify takes 2 to 4 files: REPORT ANSWER [INPUT [MASK]]");
    }
    buf_init(&answer, ANSWER_MAX);
    for (int i = 0; i < count; i++) {
        buf_init(&file[i], FILE_BYTES_MAX);
        status = status == ST_OK ? read_file(argv[first + i], &file[i], err) : status;
        part[i] = (struct post_part){names[i], buf_bytes(&file[i])};
    }
    status = status == ST_OK ? ask(config, part, (unsigned)count, &http_status, &answer, err) : status;
    status = status == ST_OK ? judge(http_status, &answer, out, err) : status;
    for (int i = 0; i < count; i++) {
        buf_finish(&file[i]);
    }
    buf_finish(&answer);
    return status;
}

enum status verify_public_key(const struct config *config, FILE *out, struct error *err) {
    struct report_keys *keys;
    char line[REPORT_KEY_LINE_MAX];
    if (!config->report_key[0]) {
        return fail(err, ST_ARGUMENT, "report_key is empty: there is no key");
    }
    enum status status = report_keys_load(&keys, config->report_key, "", err);
    if (status != ST_OK) {
        return status;
    }
    report_keys_line(keys, line);
    report_keys_destroy(keys);
    fprintf(out, "%s\n", line);
    return fflush(out) == 0 ? ST_OK : fail(err, ST_ARGUMENT, "cannot write the key");
}
