/* SPDX-License-Identifier: MIT
 * Fibers switch with the compiler's own setjmp and longjmp: the C library's check the stack that they jump to, and
 * AddressSanitizer's make a system call each time. Each fiber is started once by ucontext and then runs the threads of
 * one block after another, which halves the time of a kernel. */
#include "tests/fake_cuda/fibers.h"

#include <cstdio>
#include <ucontext.h>

#include "tests/fake_cuda/shim.h"

enum { THREADS_MAX = 1024, WARP = 32, STACK_SIZE = 64 * 1024 };

uint3 threadIdx, blockIdx, blockDim, gridDim;

enum fiber_state { FIBER_READY, FIBER_AT_BLOCK, FIBER_AT_WARP, FIBER_ENDED };

typedef void *place[5]; /* the state that __builtin_setjmp saves */

struct fiber {
    fiber_state state;
    bool started; /* its stack stands in start(), behind the last thread that it ran */
    place stopped;
    uint3 index;
};

static fiber fibers[THREADS_MAX];
static char *stacks;
static unsigned count, current;
static place scheduler;
static void (*body)(void *);
static void *argument;
static bool trapped;
static warp_words given[THREADS_MAX / WARP], taken[THREADS_MAX / WARP];

/* A function of its own, since __builtin_longjmp must not be in the function that it jumps to. Functions that switch
 * are noipa: a caller must not count on registers that the function itself leaves alone, as other fibers run in it. */
[[noreturn]] __attribute__((noipa)) static void jump(void **to) {
    __builtin_longjmp(to, 1);
}

__attribute__((noipa)) static void wait_in(fiber_state state) {
    fibers[current].state = state;
    if (__builtin_setjmp(fibers[current].stopped) == 0) {
        jump(scheduler);
    }
}

void __syncthreads() {
    wait_in(FIBER_AT_BLOCK);
}

unsigned warp_lane() {
    return current % WARP;
}

const warp_words &warp_exchange(const uint32_t *words, unsigned n) {
    memcpy(given[current / WARP].of[current % WARP], words, n * sizeof *words);
    wait_in(FIBER_AT_WARP);
    return taken[current / WARP];
}

void fibers_trap(void) {
    trapped = true;
    wait_in(FIBER_ENDED);
}

static void start() {
    for (;;) {
        body(argument);
        wait_in(FIBER_ENDED);
    }
}

__attribute__((noipa)) static void resume(unsigned i) {
    current = i;
    threadIdx = fibers[i].index;
    if (__builtin_setjmp(scheduler) == 0) {
        jump(fibers[i].stopped);
    }
}

/* Runs the fiber up to its first barrier. */
__attribute__((noipa)) static void launch(unsigned i) {
    static ucontext_t own, made;
    if (fibers[i].started) {
        resume(i);
        return;
    }
    fibers[i].started = true;
    current = i;
    threadIdx = fibers[i].index;
    if (__builtin_setjmp(scheduler) == 0) {
        getcontext(&made);
        made.uc_stack.ss_sp = stacks + (size_t)i * STACK_SIZE;
        made.uc_stack.ss_size = STACK_SIZE;
        made.uc_link = &own;
        makecontext(&made, start, 0);
        setcontext(&made);
    }
}

/* Resumes each warp whose threads all wait, else the whole block if all of its threads wait.
 * Returns false when all have ended, or when they wait for each other in vain. */
static bool release() {
    bool any = false;
    for (unsigned first = 0; first < count; first += WARP) {
        unsigned end = min(first + WARP, count), waiting = 0;
        for (unsigned i = first; i < end; i++) {
            waiting += fibers[i].state == FIBER_AT_WARP;
        }
        if (waiting == end - first) {
            taken[first / WARP] = given[first / WARP];
            for (unsigned i = first; i < end; i++) {
                fibers[i].state = FIBER_READY;
            }
            any = true;
        }
    }
    if (any) {
        return true;
    }
    for (unsigned i = 0; i < count; i++) {
        if (fibers[i].state == FIBER_AT_WARP) {
            fprintf(stderr, "fake_cuda: thread %u waits for its warp, others do not\n", i);
            abort();
        }
    }
    for (unsigned i = 0; i < count; i++) {
        any = any || fibers[i].state == FIBER_AT_BLOCK;
        fibers[i].state = fibers[i].state == FIBER_AT_BLOCK ? FIBER_READY : fibers[i].state;
    }
    return any;
}

bool fibers_run(unsigned x, unsigned y, unsigned z, void (*run)(void *), void *with) {
    static const char *order = getenv("FAKE_CUDA_ORDER");
    bool reverse = order && strcmp(order, "reverse") == 0;
    if (!stacks) {
        stacks = (char *)malloc((size_t)THREADS_MAX * STACK_SIZE);
    }
    body = run;
    argument = with;
    count = x * y * z;
    trapped = false;
    for (unsigned i = 0; i < count; i++) {
        fibers[i].index = {i % x, i / x % y, i / x / y};
        fibers[i].state = FIBER_READY;
    }
    for (unsigned i = 0; i < count && !trapped; i++) {
        launch(reverse ? count - 1 - i : i);
    }
    while (!trapped && release()) {
        for (unsigned i = 0; i < count && !trapped; i++) {
            unsigned next = reverse ? count - 1 - i : i;
            if (fibers[next].state == FIBER_READY) {
                resume(next);
            }
        }
    }
    for (unsigned i = 0; i < count && trapped; i++) {
        fibers[i].started = false; /* it may stand in the middle of a kernel that goes no further */
    }
    return !trapped;
}
