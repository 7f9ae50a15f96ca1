/* SPDX-License-Identifier: MIT
 * Fibers switch with the compiler's own setjmp and longjmp: the C library's check the stack that they jump
 * to, and AddressSanitizer's make a system call each time. Each fiber is started once by ucontext and then
 * runs the threads of one block after another, which halves the time of a kernel. */
#include "tests/fake_cuda/fibers.h"

#include <cstdio>
#include <ucontext.h>

#include "tests/fake_cuda/shim.h"

enum { THREADS_MAX = 1024, WARP = 32, STACK_SIZE = 64 * 1024 };

uint3 threadIdx, blockIdx, blockDim, gridDim;

enum fiber_state { FIBER_READY, FIBER_AT_BARRIER, FIBER_AT_WARP, FIBER_ASLEEP, FIBER_ENDED };

typedef void *place[5]; /* the state that __builtin_setjmp saves */

struct fiber {
    fiber_state state;
    bool started;              /* its stack stands in start(), behind the last thread that it ran */
    unsigned barrier, members; /* at a barrier: its number, and how many threads it waits for */
    place stopped;
    uint3 index;
};

/* Which warp runs when several can. */
struct fiber_order {
    bool reverse;
    uint32_t seed; /* 0: the first one, or the last one */
};

static fiber fibers[THREADS_MAX];
static char *stacks;
static unsigned count, current;
static place scheduler;
static void (*body)(void *);
static void *argument;
static bool trapped, backwards; /* backwards: the last thread of a warp runs first */

/* What the lanes of a warp hand in. They fill one half while the other one still has what they got the last time: a half
 * is filled again after all lanes have handed in the next words, and so have read it. */
static struct {
    warp_words words[2];
    unsigned filling;
} exchanged[THREADS_MAX / WARP];

/* A function of its own, since __builtin_longjmp must not be in the function that it jumps to. Functions that
 * switch are noipa: a caller must not count on registers that the function itself leaves alone, as other
 * fibers run in it. */
[[noreturn]] __attribute__((noipa)) static void jump(void **to) {
    __builtin_longjmp(to, 1);
}

/* Makes the next thread of the warp the current one if it can go on, and returns where it stopped: most switches are
 * spared the way through the scheduler. */
static void **next_place() {
    unsigned next = backwards ? current - 1 : current + 1;
    if (trapped || next / WARP != current / WARP || next >= count || !fibers[next].started ||
        fibers[next].state != FIBER_READY) {
        return scheduler;
    }
    current = next;
    threadIdx = fibers[next].index;
    return fibers[next].stopped;
}

__attribute__((noipa)) static void wait_in(fiber_state state) {
    fibers[current].state = state;
    if (__builtin_setjmp(fibers[current].stopped) == 0) {
        jump(next_place());
    }
}

void block_barrier(unsigned number, unsigned members) {
    fibers[current].barrier = number;
    fibers[current].members = members;
    wait_in(FIBER_AT_BARRIER);
}

void __syncthreads() {
    block_barrier(0, count);
}

void __nanosleep(unsigned) {
    wait_in(FIBER_ASLEEP);
}

unsigned warp_lane() {
    return current % WARP;
}

const warp_words &warp_exchange(const uint32_t *words, unsigned n) {
    auto &own = exchanged[current / WARP];
    warp_words &all = own.words[own.filling];
    for (unsigned i = 0; i < n; i++) {
        all.of[current % WARP][i] = words[i];
    }
    wait_in(FIBER_AT_WARP);
    return all;
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

/* Runs the fiber until it waits or ends. */
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

static unsigned warps() {
    return (count + WARP - 1) / WARP;
}

/* The threads of a warp that are in a state. */
static unsigned threads_in(unsigned warp, fiber_state state) {
    unsigned found = 0;
    for (unsigned i = warp * WARP; i < min((warp + 1) * WARP, count); i++) {
        found += fibers[i].state == state;
    }
    return found;
}

/* Wakes the threads that sleep. */
static bool wake() {
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        any = any || fibers[i].state == FIBER_ASLEEP;
        fibers[i].state = fibers[i].state == FIBER_ASLEEP ? FIBER_READY : fibers[i].state;
    }
    return any;
}

/* Runs a warp until its threads wait at barriers, sleep or have ended. */
static void run_warp(unsigned warp) {
    unsigned first = warp * WARP, size = min(count - first, (unsigned)WARP), waiting = size;
    while (!trapped && waiting == size) {
        for (unsigned i = 0; i < size && !trapped; i++) {
            unsigned next = first + (backwards ? size - 1 - i : i);
            if (fibers[next].state == FIBER_READY) {
                launch(next);
            }
        }
        waiting = threads_in(warp, FIBER_AT_WARP);
        if (waiting == size) {
            exchanged[warp].filling ^= 1;
            for (unsigned i = first; i < first + size; i++) {
                fibers[i].state = FIBER_READY;
            }
        } else if (waiting > 0 && !trapped) {
            fprintf(stderr, "fake_cuda: %u threads wait for their warp, others do not\n", waiting);
            abort();
        }
    }
}

/* Lets the threads at the barrier of thread i go on, if enough wait there. Threads that have ended count for
 * the whole block's. */
static bool open_barrier(unsigned i) {
    unsigned number = fibers[i].barrier, waiting = 0;
    for (unsigned j = 0; j < count; j++) {
        waiting += fibers[j].state == FIBER_AT_BARRIER && fibers[j].barrier == number;
        waiting += fibers[j].state == FIBER_ENDED && number == 0;
    }
    if (waiting < fibers[i].members) {
        return false;
    }
    for (unsigned j = 0; j < count; j++) {
        if (fibers[j].state == FIBER_AT_BARRIER && fibers[j].barrier == number) {
            fibers[j].state = FIBER_READY;
        }
    }
    return true;
}

/* The threads of a warp wait at the same barrier, so that one of them speaks for all. */
static bool open_barriers() {
    bool any = false;
    for (unsigned first = 0; first < count; first += WARP) {
        unsigned i = first;
        while (i + 1 < min(first + WARP, count) && fibers[i].state == FIBER_ENDED) {
            i++;
        }
        any = (fibers[i].state == FIBER_AT_BARRIER && open_barrier(i)) || any;
    }
    return any;
}

/* The warp that runs next; warps() if none can. */
static unsigned choose_warp(const struct fiber_order *order) {
    static uint32_t random = order->seed;
    unsigned all = warps(), skipped = 0;
    if (order->seed != 0) {
        random = random * 1664525 + 1013904223;
        skipped = (random >> 8) % all;
    }
    for (unsigned i = 0; i < all; i++) {
        unsigned warp = (i + skipped) % all;
        warp = order->reverse ? all - 1 - warp : warp;
        if (threads_in(warp, FIBER_READY) > 0) {
            return warp;
        }
    }
    return all;
}

/* FAKE_CUDA_ORDER: nothing, `reverse`, or a number that seeds a random order. */
static struct fiber_order read_order() {
    const char *text = getenv("FAKE_CUDA_ORDER");
    struct fiber_order order = {text && strcmp(text, "reverse") == 0,
                                text ? (uint32_t)strtoul(text, NULL, 10) : 0};
    return order;
}

bool fibers_run(unsigned x, unsigned y, unsigned z, void (*run)(void *), void *with) {
    static const struct fiber_order order = read_order();
    if (!stacks) {
        stacks = (char *)malloc((size_t)THREADS_MAX * STACK_SIZE);
    }
    body = run;
    argument = with;
    count = x * y * z;
    trapped = false;
    backwards = order.reverse;
    for (unsigned i = 0; i < count; i++) {
        fibers[i].index = {i % x, i / x % y, i / x / y};
        fibers[i].state = FIBER_READY;
    }
    do {
        unsigned warp = choose_warp(&order);
        while (!trapped && warp < warps()) {
            run_warp(warp);
            if (order.seed != 0) {
                open_barriers();
                wake();
            }
            warp = choose_warp(&order);
        }
    } while (!trapped && (open_barriers() | wake()));
    for (unsigned i = 0; i < count && trapped; i++) {
        fibers[i].started = false; /* it may stand in the middle of a kernel that goes no further */
    }
    return !trapped;
}
