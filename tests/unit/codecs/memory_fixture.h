/* SPDX-License-Identifier: MIT
 * Children of a test that may take no more memory than a bound says. */
#ifndef BLURD_TESTS_MEMORY_FIXTURE_H
#define BLURD_TESTS_MEMORY_FIXTURE_H

#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/codecs/picture_fixture.h"

enum { WITHOUT_SANITIZER = 77, GRAIN = 256 << 10 };

/* Bytes of writable memory that this process has. */
static inline size_t data_bytes(void) {
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmData: %lu", &kib) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return kib * 1024;
}

static inline void limit_memory(size_t more) {
    size_t most = data_bytes() + more + GRAIN;
    assert_int_equal(setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}), 0);
}

/* Runs `work` in a child, which reports a status. */
static inline enum status in_child(enum status (*work)(void *context), void *context) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit((int)work(context));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return (enum status)WEXITSTATUS(status);
}

/* False with sanitizers, which take memory of their own. Otherwise large blocks are no longer kept when they
 * are freed. */
static inline bool memory_is_limited(void) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    puts("sanitizers take memory of their own");
    return false;
#else
    return mallopt(M_MMAP_THRESHOLD, GRAIN / 2) == 1;
#endif
}

#endif
