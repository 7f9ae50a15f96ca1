/* SPDX-License-Identifier: MIT
 * Makes calls fail on purpose. Loaded in front of the C library (LD_PRELOAD) it counts calls that may fail
 * for lack of memory, threads or descriptors. One of them, or some by chance, fails as if none were left.
 *
 * FAIL_CONTROL names a file of `struct control`, which the test program maps as well (tests/load/failing.py),
 * so that one process can be tried with thousands of failures. Without it nothing is counted. Processes that
 * are started by the first one share the file.
 *
 * C library functions that allocate (fopen, opendir, strdup) call malloc here, and are counted by that. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MODE_OFF, MODE_NTH, MODE_CHANCE, SITES_MAX = 1000 };

/* All numbers are little-endian 64-bit; failing.py has the same list. */
struct control {
    _Atomic uint64_t mode;
    _Atomic uint64_t count;  /* calls since this was set to 0 */
    _Atomic uint64_t nth;    /* MODE_NTH: this one fails; MODE_CHANCE: so many of 10000 do */
    _Atomic uint64_t failed; /* calls that failed */
    _Atomic uint64_t sites;  /* how many different places of the program called */
    struct {
        _Atomic uint64_t place; /* offset in its file; 0: free */
        char name[24];          /* of the function */
    } site[SITES_MAX];
    char last[64]; /* "malloc libjpeg.so.62+0x1234": the last failed call */
};

static struct control *control;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

__attribute__((constructor)) static void fail_open(void) {
    const char *path = getenv("FAIL_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        control = memory == MAP_FAILED ? NULL : memory;
    }
}

static void append(char *out, size_t *used, size_t capacity, const char *text) {
    for (; *text && *used + 1 < capacity; text++) {
        out[(*used)++] = *text;
    }
    out[*used] = '\0';
}

static void note_failure(const char *name, const char *file, uint64_t place) {
    char digits[17];
    size_t used = 0;
    const char *slash = strrchr(file, '/');
    append(control->last, &used, sizeof control->last, name);
    append(control->last, &used, sizeof control->last, " ");
    append(control->last, &used, sizeof control->last, slash ? slash + 1 : file);
    append(control->last, &used, sizeof control->last, "+0x");
    for (int i = 15; i >= 0; i--) {
        digits[15 - i] = "0123456789abcdef"[place >> (4 * i) & 15];
    }
    digits[16] = '\0';
    const char *first = digits + strspn(digits, "0");
    append(control->last, &used, sizeof control->last, first);
}

/* Keeps the place if it is new. Two threads may keep the same one: it is a count for people. */
static void note_site(const char *name, uint64_t place) {
    size_t i = place % SITES_MAX;
    for (size_t tries = 0; tries < SITES_MAX; tries++, i = (i + 1) % SITES_MAX) {
        uint64_t free_place = 0;
        if (atomic_compare_exchange_strong(&control->site[i].place, &free_place, place)) {
            memcpy(control->site[i].name, name, strnlen(name, sizeof control->site[i].name - 1));
            atomic_fetch_add(&control->sites, 1);
            return;
        }
        if (free_place == place) {
            return;
        }
    }
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Counts the call of `name` from `caller`; true when it is to fail. */
static bool is_to_fail(const char *name, const void *caller) {
    uint64_t mode = control ? atomic_load(&control->mode) : MODE_OFF;
    if (mode == MODE_OFF) {
        return false;
    }
    int saved = errno;
    Dl_info info = {0};
    uint64_t count = atomic_fetch_add(&control->count, 1) + 1, nth = atomic_load(&control->nth);
    const char *file = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?";
    uint64_t place = (uint64_t)((const char *)caller - (const char *)info.dli_fbase);
    note_site(name, place + (uint64_t)strlen(file) * 0x10000000);
    bool fails = mode == MODE_NTH ? count == nth : mixed(count) % 10000 < nth;
    if (fails) {
        note_failure(name, file, place);
        atomic_fetch_add(&control->failed, 1);
    }
    errno = saved;
    return fails;
}

#define FAILS(name) is_to_fail(#name, __builtin_return_address(0))

/* --- memory ---------------------------------------------------------------------------- */
static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) {
    return FAILS(malloc) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return FAILS(calloc) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return FAILS(realloc) ? no_memory() : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    return FAILS(memalign) ? no_memory() : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return FAILS(aligned_alloc) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *made = FAILS(posix_memalign) ? no_memory() : __libc_memalign(alignment, size);
    *memory = made ? made : *memory;
    return made ? 0 : ENOMEM;
}

/* --- calls of the system ---------------------------------------------------------------- */
/* FORWARD(type, name, result when it fails, errno then, (parameters), (arguments)) */
#define FORWARD(type, name, result, error, parameters, arguments)                                            \
    static type(*next_##name) parameters;                                                                    \
    __attribute__((constructor)) static void find_##name(void) {                                             \
        next_##name = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                           \
    }                                                                                                        \
    type name parameters {                                                                                   \
        if (FAILS(name)) {                                                                                   \
            errno = error;                                                                                   \
            return result;                                                                                   \
        }                                                                                                    \
        if (!next_##name) { /* another library's constructor comes before ours */                            \
            find_##name();                                                                                   \
        }                                                                                                    \
        return next_##name arguments;                                                                        \
    }

FORWARD(void *, mmap, MAP_FAILED, ENOMEM,
        (void *at, size_t size, int access, int flags, int fd, off_t offset),
        (at, size, access, flags, fd, offset))
FORWARD(int, memfd_create, -1, EMFILE, (const char *name, unsigned flags), (name, flags))
FORWARD(int, ftruncate, -1, ENOSPC, (int fd, off_t size), (fd, size))
FORWARD(int, fallocate, -1, ENOSPC, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
FORWARD(int, pthread_create, EAGAIN, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
        (thread, attributes, run, argument))
FORWARD(int, posix_spawn, EAGAIN, EAGAIN,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),
        (pid, path, actions, attributes, argv, envp))
FORWARD(int, pthread_mutex_init, ENOMEM, ENOMEM,
        (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))
FORWARD(int, eventfd, -1, EMFILE, (unsigned count, int flags), (count, flags))
FORWARD(int, signalfd, -1, EMFILE, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
FORWARD(int, epoll_create1, -1, EMFILE, (int flags), (flags))
FORWARD(int, socket, -1, EMFILE, (int domain, int type, int protocol), (domain, type, protocol))
FORWARD(int, socketpair, -1, EMFILE, (int domain, int type, int protocol, int pair[2]),
        (domain, type, protocol, pair))
FORWARD(int, accept4, -1, EMFILE, (int fd, __SOCKADDR_ARG address, socklen_t *size, int flags),
        (fd, address, size, flags))
FORWARD(int, dup, -1, EMFILE, (int fd), (fd))
FORWARD(int, bind, -1, EADDRINUSE, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size),
        (fd, address, size))
FORWARD(int, listen, -1, EADDRINUSE, (int fd, int backlog), (fd, backlog))

/* Only to add one takes memory; the library ends the process when a descriptor cannot be removed. */
static int (*next_epoll_ctl)(int epoll, int what, int fd, struct epoll_event *event);
__attribute__((constructor)) static void find_epoll_ctl(void) {
    next_epoll_ctl = (int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");
}
int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event) {
    if (what == EPOLL_CTL_ADD && FAILS(epoll_ctl)) {
        errno = ENOSPC;
        return -1;
    }
    return next_epoll_ctl(epoll, what, fd, event);
}
