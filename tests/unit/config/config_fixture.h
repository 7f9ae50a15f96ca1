/* SPDX-License-Identifier: MIT
 * Loads a configuration from flags, variables and files, for tests. */
#ifndef BLURD_TESTS_CONFIG_FIXTURE_H
#define BLURD_TESTS_CONFIG_FIXTURE_H

#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WORDS_MAX = 16 };

struct world {
    struct config config;
    enum config_action action;
    struct error err;
};

/* Loads from NULL-terminated lists: flags without the program's name, and variables. */
static inline enum status load(struct world *world, const char *const *flags, const char *const *variables) {
    static char *const none[] = {NULL};
    char *argv[WORDS_MAX] = {(char *)(uintptr_t) "blurd"};
    int argc = 1;
    for (; flags && flags[argc - 1]; argc++) {
        assert_true(argc < WORDS_MAX - 1);
        argv[argc] = (char *)(uintptr_t)flags[argc - 1];
    }
    memset(world, 0, sizeof *world);
    return config_load(&world->config, &world->action, argc, argv,
                       variables ? (char *const *)(uintptr_t)variables : none, &world->err);
}

#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A file with these bytes; the caller removes it. */
static inline void write_file(char path[32], const void *bytes, size_t size) {
    snprintf(path, 32, "/tmp/test_config.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static inline enum status load_file(struct world *world, const char *text, size_t size) {
    char path[32];
    write_file(path, text, size);
    enum status status = load(world, FLAGS("--config", path), NULL);
    unlink(path);
    return status;
}

#endif
