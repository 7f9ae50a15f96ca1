/* SPDX-License-Identifier: MIT */
#include "tests/filters/helpers.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct helpers {
    struct crew *crew;
    bool stopping;  /* under the crew's lock */
    uint64_t parts; /* the same */
    unsigned count;
    pthread_t thread[];
};

static void *help(void *argument) {
    struct helpers *helpers = argument;
    crew_lock(helpers->crew);
    while (!helpers->stopping) {
        if (crew_help(helpers->crew)) {
            helpers->parts++;
        } else {
            crew_wait(helpers->crew, INT64_MAX);
        }
    }
    crew_unlock(helpers->crew);
    return NULL;
}

struct helpers *helpers_start(unsigned count, uint32_t grain, bool wary) {
    struct helpers *helpers = calloc(1, sizeof *helpers + count * sizeof helpers->thread[0]);
    struct crew *crew = crew_create(grain, wary);
    if (!helpers || !crew) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    helpers->crew = crew;
    for (; helpers->count < count; helpers->count++) {
        if (pthread_create(&helpers->thread[helpers->count], NULL, help, helpers) != 0) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    }
    helpers_await(helpers);
    return helpers;
}

struct crew *helpers_crew(const struct helpers *helpers) {
    return helpers->crew;
}

void helpers_await(const struct helpers *helpers) {
    while (crew_idle(helpers->crew) < helpers->count) {
        sched_yield();
    }
}

void helpers_leave(struct helpers *helpers) {
    crew_lock(helpers->crew);
    helpers->stopping = true;
    crew_wake_all(helpers->crew);
    crew_unlock(helpers->crew);
    for (unsigned i = 0; i < helpers->count; i++) {
        pthread_join(helpers->thread[i], NULL);
    }
    helpers->count = 0;
}

uint64_t helpers_stop(struct helpers *helpers) {
    helpers_leave(helpers);
    uint64_t parts = helpers->parts;
    crew_destroy(helpers->crew);
    free(helpers);
    return parts;
}
