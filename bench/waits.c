/* SPDX-License-Identifier: MIT
 * This library tells for what the threads of a program wait. It is loaded in front of the C library and
 * counts for each caller how often pthread_mutex_lock had to wait, and what that and the heap cost:
 *
 *     make build/release/bench/libwaits.so
 *     LD_PRELOAD=$PWD/build/release/bench/libwaits.so WAITS=/tmp/waits WAITS_SECONDS=8 \
 *         build/release/blurd --sandbox off ...
 *
 * The file WAITS.PID gets a line for each thread, function and caller, WAITS_SECONDS after the process began,
 * or at its end unless that is _exit. A line has the number of calls, how many of them were timed, and the
 * microseconds of processor time and of time that these took. Calls of pthread_mutex_lock are timed if they
 * had to wait. Calls of the heap are counted and timed for pieces that are larger than what threads keep for
 * themselves. Callers are offsets in their files, for addr2line. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { CALLERS_MAX = 256, CACHED_MAX = 1032 /* bytes; what glibc caches for each thread */ };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);

struct caller {
    const void *at; /* NULL: free */
    const char *function;
    uint64_t calls, waits;
    int64_t cpu_ns, ns;
};

/* Of one thread, which alone writes. Tables stay when their threads end. */
struct table {
    struct table *next;
    char thread[16];
    struct caller caller[CALLERS_MAX];
};

static struct table *_Atomic tables;
static _Thread_local struct table *own __attribute__((tls_model("initial-exec")));
static int out = -1;
static atomic_bool written;

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct table *add_table(void) {
    struct table *added = __libc_calloc(1, sizeof *added);
    added->next = atomic_load(&tables);
    while (!atomic_compare_exchange_weak(&tables, &added->next, added)) {
    }
    return added;
}

/* Callers beyond the table's size share the last entry. */
static struct caller *find(const char *function, const void *at) {
    own = own ? own : add_table();
    unsigned i = (unsigned)((uintptr_t)at >> 2) % CALLERS_MAX;
    for (unsigned tried = 0; tried < CALLERS_MAX; tried++, i = (i + 1) % CALLERS_MAX) {
        struct caller *caller = &own->caller[i];
        if (!caller->at) {
            prctl(PR_GET_NAME, own->thread);
            caller->function = function;
            caller->at = at;
        }
        if (caller->at == at && caller->function == function) {
            return caller;
        }
    }
    return &own->caller[CALLERS_MAX - 1];
}

struct span {
    int64_t cpu, ns;
};

static struct span begin(void) {
    return (struct span){now(CLOCK_THREAD_CPUTIME_ID), now(CLOCK_MONOTONIC)};
}

static void end(struct span from, const char *function, const void *at) {
    struct caller *caller = find(function, at);
    caller->calls += strcmp(function, "lock") != 0;
    caller->waits++;
    caller->cpu_ns += now(CLOCK_THREAD_CPUTIME_ID) - from.cpu;
    caller->ns += now(CLOCK_MONOTONIC) - from.ns;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int (*_Atomic real)(pthread_mutex_t *);
    if (!real) {
        real = (int (*)(pthread_mutex_t *))(uintptr_t)dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    find("lock", __builtin_return_address(0))->calls++;
    if (pthread_mutex_trylock(mutex) == 0) {
        return 0;
    }
    struct span from = begin();
    int error = real(mutex);
    end(from, "lock", __builtin_return_address(0));
    return error;
}

void *malloc(size_t size) {
    struct span from = size > CACHED_MAX ? begin() : (struct span){0};
    void *memory = __libc_malloc(size);
    if (size > CACHED_MAX) {
        end(from, "malloc", __builtin_return_address(0));
    }
    return memory;
}

void *calloc(size_t count, size_t size) {
    struct span from = count * size > CACHED_MAX ? begin() : (struct span){0};
    void *memory = __libc_calloc(count, size);
    if (count * size > CACHED_MAX) {
        end(from, "calloc", __builtin_return_address(0));
    }
    return memory;
}

void *realloc(void *old, size_t size) {
    struct span from = size > CACHED_MAX ? begin() : (struct span){0};
    void *memory = __libc_realloc(old, size);
    if (size > CACHED_MAX) {
        end(from, "realloc", __builtin_return_address(0));
    }
    return memory;
}

void free(void *memory) {
    bool large = memory && malloc_usable_size(memory) > CACHED_MAX;
    struct span from = large ? begin() : (struct span){0};
    __libc_free(memory);
    if (large) {
        end(from, "free", __builtin_return_address(0));
    }
}

static void write_caller(const struct table *table, const struct caller *caller) {
    Dl_info file = {0};
    bool known = dladdr(caller->at, &file) != 0;
    const char *slash = known ? strrchr(file.dli_fname, '/') : NULL;
    dprintf(out, "%s\t%s\t%s+%lx\t%lu\t%lu\t%.0f\t%.0f\n", table->thread, caller->function,
            slash ? slash + 1 : "?", (unsigned long)((uintptr_t)caller->at - (uintptr_t)file.dli_fbase),
            caller->calls, caller->waits, (double)caller->cpu_ns / 1e3, (double)caller->ns / 1e3);
}

__attribute__((destructor)) static void write_all(void) {
    if (out < 0 || atomic_exchange(&written, true)) {
        return;
    }
    dprintf(out, "thread\tfunction\tcaller\tcalls\ttimed\tCPU, us\ttime, us\n");
    for (const struct table *table = atomic_load(&tables); table; table = table->next) {
        for (unsigned i = 0; i < CALLERS_MAX; i++) {
            if (table->caller[i].at) {
                write_caller(table, &table->caller[i]);
            }
        }
    }
}

static void *write_later(void *seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)(intptr_t)seconds}, NULL);
    write_all();
    return NULL;
}

__attribute__((constructor)) static void prepare(void) {
    const char *path = getenv("WAITS"), *seconds = getenv("WAITS_SECONDS");
    char name[512];
    pthread_t thread;
    if (!path) {
        return;
    }
    snprintf(name, sizeof name, "%s.%d", path, (int)getpid());
    out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (seconds &&
        pthread_create(&thread, NULL, write_later, (void *)(intptr_t)strtol(seconds, NULL, 10)) == 0) {
        pthread_detach(thread);
    }
}
