/* SPDX-License-Identifier: MIT */
#include "tests/fake_cuda/faults.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAULTS_MAX = 8 };

struct fault {
    char call[48];
    int number, result; /* of the call that fails; its result */
    int sleep_ms;
    bool sticky, hang;
    int seen;
};

static struct fault faults[FAULTS_MAX];
static int fault_count;
static int poison;
static struct fault later; /* the one of FAKE_CUDA_FAULT_FILE */
static char later_text[128];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Calls that work in a process whose context is lost. */
static bool is_harmless(const char *call) {
    static const char *const names[] = {"cuGetErrorName",  "cuGetErrorString",    "cuDriverGetVersion",
                                        "cuInit",          "cuDeviceGetCount",    "cuDeviceGet",
                                        "cuDeviceGetName", "cuDeviceGetAttribute"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(call, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Settings are tests' own: 0 for nonsense will do. */
static int whole(const char *text) {
    return (int)strtol(text, NULL, 10);
}

static void read_fault(struct fault *fault, char *text) {
    char *rest = NULL;
    const char *call = strtok_r(text, ":", &rest);
    const char *number = strtok_r(NULL, ":", &rest);
    const char *result = strtok_r(NULL, ":", &rest);
    if (!result) {
        fprintf(stderr, "fake_cuda: FAKE_CUDA_FAULT is CALL:n:RESULT[:sticky][:ms][:hang]\n");
        _exit(99);
    }
    snprintf(fault->call, sizeof fault->call, "%s", call);
    fault->number = whole(number);
    fault->result = whole(result);
    for (const char *word; (word = strtok_r(NULL, ":", &rest)) != NULL;) {
        if (strcmp(word, "sticky") == 0) {
            fault->sticky = true;
        } else if (strcmp(word, "hang") == 0) {
            fault->hang = true;
        } else if (strcmp(word, "lost") == 0) {
            fault->result = FAULT_LOST;
        } else {
            fault->sleep_ms = whole(word);
        }
    }
}

static void read_faults(void) {
    const char *text = getenv("FAKE_CUDA_FAULT");
    char *copy = text ? strdup(text) : NULL;
    char *rest = NULL;
    for (char *one = copy ? strtok_r(copy, ",", &rest) : NULL; one && fault_count < FAULTS_MAX;
         one = strtok_r(NULL, ",", &rest)) {
        read_fault(&faults[fault_count++], one);
    }
    free(copy);
}

/* One fault for a driver that runs already: the file has it, in one line, and the call that it hits removes
 * the file, so that it happens once in all processes. */
static bool meets_later(const char *call) {
    const char *path = getenv("FAKE_CUDA_FAULT_FILE");
    FILE *file = path ? fopen(path, "re") : NULL;
    char text[sizeof later_text] = "";
    bool there = file && fgets(text, sizeof text, file);
    if (file) {
        fclose(file);
    }
    if (!there) {
        later_text[0] = '\0';
        return false;
    }
    if (strcmp(text, later_text) != 0) { /* another fault than before, or the same once more */
        memcpy(later_text, text, sizeof text);
        later = (struct fault){0};
        read_fault(&later, text);
    }
    bool met = strcmp(later.call, call) == 0 && ++later.seen == later.number && unlink(path) == 0;
    later_text[0] = met ? '\0' : later_text[0];
    return met;
}

void fault_poison(int result) {
    pthread_mutex_lock(&lock);
    poison = poison ? poison : result;
    pthread_mutex_unlock(&lock);
}

static void record(const char *call) {
    const char *path = getenv("FAKE_CUDA_CALLS_FILE");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file >= 0) {
        dprintf(file, "%s\n", call);
        close(file);
    }
}

int fault_of(const char *call) {
    pthread_once(&once, read_faults);
    struct fault hit = {0};
    pthread_mutex_lock(&lock);
    record(call);
    int result = is_harmless(call) ? 0 : poison;
    for (int i = 0; i < fault_count && result == 0; i++) {
        struct fault *fault = &faults[i];
        if (strcmp(fault->call, call) == 0 && ++fault->seen == fault->number) {
            hit = *fault;
            result = hit.result;
            poison = hit.sticky ? hit.result : 0;
        }
    }
    if (result == 0 && meets_later(call)) {
        hit = later;
        result = hit.result;
        poison = hit.sticky ? hit.result : 0;
    }
    pthread_mutex_unlock(&lock);
    while (hit.hang) {
        pause();
    }
    if (hit.sleep_ms > 0) {
        struct timespec span = {hit.sleep_ms / 1000, hit.sleep_ms % 1000 * 1000000L};
        nanosleep(&span, NULL);
    }
    return result;
}

int fake_setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? whole(text) : otherwise;
}
