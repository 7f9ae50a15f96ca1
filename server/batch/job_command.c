/* SPDX-License-Identifier: MIT */
#include "server/batch/job_command.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "server/batch/files.h"
#include "server/batch/run.h"
#include "server/batch/single.h"
#include "server/batch/tars.h"
#include "server/routes.h"

enum {
    MAPPED_FROM = 128 << 10,
    FILES_MAX = 4096,
    FIRST_WAIT_MS = 50,
    DOUBLINGS_MAX = 6,
    EXIT_SOME_FAILED = 1,
    EXIT_USAGE = 2,
    TARGET_MAX = 8192,
    TOKEN_MAX = 1024,
    NAME_SIZE = 32
};

bool job_command_is_job(const char *name, size_t length) {
    char path[NAME_SIZE];
    if (length == 0 || length >= sizeof path - 1) {
        return false;
    }
    snprintf(path, sizeof path, "/%.*s", (int)length, name);
    const struct route *route = routes_find(path, false, false);
    return route && !route->answer && !route->verifies;
}

static int complain(const struct error *err, int code) {
    fprintf(stderr, "blurd: %s\n", err->text);
    return code;
}

/* The words that go to the daemon have no effect on one that runs already, but for the token. */
static enum status check_daemon_words(const struct job_line *line, struct error *err) {
    for (int i = 1; line->options.server[0] && i < line->daemon_words; i++) {
        const char *word = line->daemon[i];
        if (strncmp(word, "--", 2) == 0 && strncmp(word, "--token-file", 12) != 0 &&
            strncmp(word, "--config", 8) != 0) {
            return fail(err, ST_ARGUMENT,
                        "%.40s is an option of the own daemon, and has no effect with --server", word);
        }
    }
    return ST_OK;
}

enum status job_command_check(const char *job, struct error *err) {
    for (const char *at = job; *at; at++) {
        if (*at <= ' ' || *at > '~') {
            return fail(err, ST_ARGUMENT,
                        "the job has a blank, or another character that a query writes as %%20");
        }
    }
    if (!job_command_is_job(job, strcspn(job, "?"))) {
        return fail(
            err, ST_ARGUMENT,
            "\"%.60s\" is no job, which is an operation with its parameters: 'redact?detect=faces,text'",
            job);
    }
    return ST_OK;
}

static enum status check_line(const struct job_line *line, struct error *err) {
    const struct job_options *options = &line->options;
    if (job_command_check(line->job, err) != ST_OK) {
        return ST_ARGUMENT;
    }
    if (line->operands == 0 && !options->files_from[0] && !options->tar) {
        return fail(err, ST_ARGUMENT,
                    "there is nothing to do: name files or folders, or use --files-from or --tar");
    }
    if (!options->output[0] && !options->dry_run && !options->tar &&
        !(line->operands == 1 && strcmp(line->operand[0], "-") == 0)) {
        return fail(err, ST_ARGUMENT, "-o OUT is missing: where do the answers go?");
    }
    if (options->tar && (options->resume || options->files_from[0] || line->operands > 1)) {
        return fail(err, ST_ARGUMENT,
                    "--tar takes one tar, from its beginning: no --resume, --files-from or second name");
    }
    if (options->report[0] && single_is_asked(line)) {
        return fail(err, ST_ARGUMENT, "a picture in a pipe has no --report");
    }
    if (options->resume && !options->report[0]) {
        return fail(err, ST_ARGUMENT, "--resume needs the --report of the batch that it continues");
    }
    return check_daemon_words(line, err);
}

/* The first token of the file. */
static enum status read_token(const char *path, char token[TOKEN_MAX], struct error *err) {
    FILE *file = path[0] ? fopen(path, "re") : NULL;
    token[0] = '\0';
    if (path[0] && (!file || !fgets(token, TOKEN_MAX, file))) {
        if (file) {
            fclose(file);
        }
        return fail(err, ST_ARGUMENT, "cannot read a token from %.200s", path);
    }
    if (file) {
        fclose(file);
    }
    token[strcspn(token, " \t\r\n")] = '\0';
    return ST_OK;
}

static enum status find_servers(struct batch *batch, struct error *err) {
    enum status status = addresses_parse(batch->options->server, batch->address, &batch->addresses, err);
    for (size_t i = 0; i < batch->addresses && status == ST_OK; i++) {
        if (batch->address[i].tls && !batch->trust) {
            status = client_socket_trust(&batch->trust, err);
        }
        batch->address[i].trust = batch->trust;
    }
    return status;
}

static enum status reach_daemons(struct batch *batch, struct error *err) {
    if (batch->options->server[0]) {
        return find_servers(batch, err);
    }
    enum status status = own_daemon_start(&batch->daemon, batch->config, NULL, 0, err);
    batch->address[0] = (struct daemon_address){.local = true};
    snprintf(batch->address[0].host, ADDRESS_HOST_MAX, "%s", batch->daemon.path);
    batch->addresses = 1;
    return status;
}

/* One that is busy now may take it later. The own daemon queues what comes before it has started. */
static enum status check_daemon(const struct batch *batch, const struct daemon_address *address,
                                uint8_t *buffer, struct error *err) {
    enum status status = transfer_check(&batch->job, address, buffer, err);
    for (unsigned tries = 1; status == ST_BUSY && tries < batch->options->tries && batch->options->server[0];
         tries++) {
        const int ms = FIRST_WAIT_MS << (tries < DOUBLINGS_MAX ? tries : DOUBLINGS_MAX);
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        *err = (struct error){0};
        status = transfer_check(&batch->job, address, buffer, err);
    }
    return status;
}

/* No daemon may refuse the job, and one must answer: others may come back. */
static enum status check_job(const struct batch *batch, struct error *err) {
    uint8_t *buffer = malloc(CLIENT_SOCKET_BUFFER);
    enum status status = buffer ? ST_BUSY : fail(err, ST_BUSY, "out of memory");
    for (size_t i = 0; buffer && i < batch->addresses && status != ST_ARGUMENT; i++) {
        struct error why = {0};
        const enum status one = check_daemon(batch, &batch->address[i], buffer, &why);
        if (one == ST_BUSY && batch->addresses > 1) {
            fprintf(stderr, "blurd: %s\n", why.text);
        }
        if (one == ST_ARGUMENT || status != ST_OK) {
            status = one;
            *err = why;
        }
    }
    free(buffer);
    return status;
}

static void init(struct batch *batch) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&batch->lock, NULL);
    pthread_mutex_init(&batch->source, NULL);
    pthread_cond_init(&batch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    batch->daemon.socket = -1;
}

typedef enum status kind_create(struct batch *batch, const struct job_line *line, struct error *err);

static kind_create *choose_kind(const struct job_line *line) {
    return line->options.tar ? tars_create : single_is_asked(line) ? single_create : files_create;
}

static int run(struct batch *batch, const struct job_line *line) {
    struct error err = {0};
    enum status status = reach_daemons(batch, &err);
    status = status == ST_OK ? check_job(batch, &err) : status;
    if (status != ST_OK) {
        return complain(&err, status == ST_ARGUMENT ? EXIT_USAGE : EXIT_SOME_FAILED);
    }
    tally_begin(&batch->tally, line->options.quiet);
    batch->tally.dry = line->options.dry_run;
    if (choose_kind(line)(batch, line, &err) != ST_OK) {
        struct error unused = {0};
        if (batch->kind) {
            batch->kind->finish(batch, &unused);
        }
        return complain(&err, EXIT_USAGE);
    }
    if (line->options.dry_run) {
        run_dry(batch);
    } else {
        status = run_pictures(batch, &err);
    }
    struct error late = {0};
    if (batch->kind->finish(batch, &late) != ST_OK && batch->broken.status == ST_OK) {
        batch->broken = late;
    }
    tally_end(&batch->tally);
    if (status != ST_OK || batch->broken.status != ST_OK) {
        return complain(status != ST_OK ? &err : &batch->broken, EXIT_SOME_FAILED);
    }
    const struct batch_tally *tally = &batch->tally;
    const bool left =
        !batch->exhausted || tally->total > tally->done + tally->failed + tally->skipped + tally->kept;
    return tally->failed || left ? EXIT_SOME_FAILED : EXIT_SUCCESS;
}

static int run_line(const struct job_line *line, char *const *envp) {
    struct config config;
    enum config_action action;
    struct error err = {0};
    char target[TARGET_MAX], token[TOKEN_MAX];
    enum status status = check_line(line, &err);
    status = status == ST_OK ? config_load(&config, &action, line->daemon_words, line->daemon, envp, &err)
                             : status;
    status =
        status == ST_OK ? read_token(line->options.server[0] ? config.token_file : "", token, &err) : status;
    if (status == ST_OK && snprintf(target, sizeof target, "/%s", line->job) >= TARGET_MAX) {
        status = fail(&err, ST_ARGUMENT, "the job is longer than %d bytes", TARGET_MAX);
    }
    if (status != ST_OK) {
        return complain(&err, EXIT_USAGE);
    }
    struct batch batch = {.options = &line->options,
                          .config = &config,
                          .job = {.target = target, .token = token, .hash = line->options.hash}};
    init(&batch);
    const int code = run(&batch, line);
    own_daemon_stop(&batch.daemon);
    client_socket_distrust(batch.trust);
    return code;
}

/* A picture in progress has two files and a socket, and one that waits in a tar has a file. */
static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FILES_MAX) {
        limit.rlim_cur = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int job_command_main(int argc, char *const *argv, char *const *envp) {
    struct job_line line;
    struct error err = {0};
    raise_limit();
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM); /* names of large folders grow in place, and are given back */
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            job_print_help(stdout);
            return EXIT_SUCCESS;
        }
    }
    const int code =
        job_parse(&line, argc, argv, &err) == ST_OK ? run_line(&line, envp) : complain(&err, EXIT_USAGE);
    job_finish(&line);
    return code;
}
