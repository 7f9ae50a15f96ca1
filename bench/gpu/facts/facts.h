/* SPDX-License-Identifier: MIT
 * What a GPU and its driver do that one would not guess, measured anew: facts.def lists it. Prints one table.
 * A measurement that a driver does not allow is said to be missing; that is no failure. */
#ifndef BLURD_BENCH_GPU_FACTS_FACTS_H
#define BLURD_BENCH_GPU_FACTS_FACTS_H

#include <sys/types.h>

#include "bench/gpu/bench.h"
#include "bench/gpu/facts/kernels.h"

enum fact {
#define FACT(name, behaviour, meaning) FACT_##name,
#define RELIED FACT
#include "bench/gpu/facts/facts.def"
#undef FACT
#undef RELIED
    FACTS
};

enum facts_kernel {
#define KERNEL(name) FACTS_KERNEL_##name,
#include "bench/gpu/facts/kernels.def"
#undef KERNEL
    FACTS_KERNELS
};

/* Functions that the program does without, by the names that all drivers export; NULL where one lacks them.
 */
struct facts_more {
    CUresult (*context_create)(CUcontext *context, unsigned flags, CUdevice device);
    CUresult (*context_destroy)(CUcontext context);
    CUresult (*primary_reset)(CUdevice device);
    CUresult (*stream_create)(CUstream *stream, unsigned flags, int priority);
};

enum { FACTS_FIGURE = 640, FACTS_PATH = 64, FACTS_THREADS = 256 };

struct facts {
    struct bench *bench;
    struct facts_more more;
    CUmodule module;
    CUfunction kernel[FACTS_KERNELS];
    CUstream stream;   /* beside bench->stream */
    double load_ms;    /* of the module, in another process */
    CUdeviceptr found; /* the number of 64 bits that kernels add to */
    unsigned sms;
    size_t shared;           /* bytes of shared memory that a block may have */
    char folder[FACTS_PATH]; /* with the kernels, `cubin` and `ptx`, and the driver's cache */
    struct buf cubin, ptx;   /* of the kernels; empty: there are none */
    char missing[256];       /* why there are no kernels */
    struct {
        char figure[FACTS_FIGURE]; /* "": not measured */
        bool broken;
    } outcome[FACTS];
};

/* The measurements, each of some facts in a row. After a failure the rest of its facts are missing. */
enum status facts_start(struct facts *facts, struct error *err);
enum status facts_launches(struct facts *facts, struct error *err);
enum status facts_priorities(struct facts *facts, struct error *err);
enum status facts_rates(struct facts *facts, struct error *err);
enum status facts_waits(struct facts *facts, struct error *err);
enum status facts_pairs(struct facts *facts, struct error *err);
enum status facts_contents(struct facts *facts, struct error *err);
enum status facts_mapped(struct facts *facts, struct error *err);
enum status facts_faults(struct facts *facts, struct error *err);

/* Adds to the figure of a fact. */
void facts_say(struct facts *facts, enum fact fact, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The fact does not hold. */
void facts_break(struct facts *facts, enum fact fact);

/* ST_DEVICE, and why, without kernels. */
enum status facts_need_kernels(const struct facts *facts, struct error *err);

/* Blocks of one kernel in a stream; `argument` is its only one. */
struct facts_blocks {
    unsigned count, threads, shared;
};
enum status facts_launch(struct facts *facts, enum facts_kernel kernel, struct facts_blocks blocks,
                         CUstream stream, void *argument, struct error *err);

/* Launches a kernel that looks for words.value, and waits. *found: of how many words. words->found is set. */
enum status facts_look(struct facts *facts, enum facts_kernel kernel, struct facts_blocks blocks,
                       struct facts_words *words, uint64_t *found, struct error *err);

/* Loads the kernels of an image, and finds shared memory and multiprocessors. */
enum status facts_load(struct facts *facts, const void *image, struct error *err);

/* Fills facts->more; the driver is open. */
void facts_find_more(struct facts *facts);

double facts_ms_since(int64_t begin);

/* ---- other processes (child.c) ---- */

struct facts_process {
    pid_t pid;
    int to, from; /* its standard input and output */
};

/* Starts `blurd-bench` as a child: kind and argument are those of child.c, `name` that of an image in the
 * folder. */
enum status facts_spawn(struct facts *facts, const char *kind, const char *argument, const char *name,
                        struct facts_process *process, struct error *err);

/* The child's next line, without its end. ST_DEVICE when it says "FAILED" and why, or nothing in 20 seconds.
 */
enum status facts_read_line(const struct facts_process *process, char *line, size_t size, struct error *err);

/* Whether facts_read_line would not wait. */
bool facts_has_line(const struct facts_process *process);

/* Lets the child go on that waits for a line. */
void facts_go_on(const struct facts_process *process);

/* Ends it. */
void facts_end(struct facts_process *process);

#define FACTS_CHILD "--facts-child"

/* The child: argv has KIND, ARGUMENT and PATH, which follow FACTS_CHILD. Returns its exit status. */
int facts_child(const char *library, char **argv);

#endif
