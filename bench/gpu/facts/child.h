/* SPDX-License-Identifier: MIT
 * The kinds of processes of child.c. Each gets the argument and the path of an image, and prints lines. */
#ifndef BLURD_BENCH_GPU_FACTS_CHILD_H
#define BLURD_BENCH_GPU_FACTS_CHILD_H

#include "bench/gpu/facts/facts.h"

enum { FACTS_OTHER = 0x5ec2e7a1 }; /* what `fill` writes */

enum status facts_child_start(struct facts *facts, const char *argument, const char *path, struct error *err);
enum status facts_child_fill(struct facts *facts, const char *argument, const char *path, struct error *err);
enum status facts_child_fault(struct facts *facts, const char *argument, const char *path, struct error *err);

/* Waits for a line from the parent. False: there is none any more. */
bool facts_child_wait(void);

/* The primary context of the first GPU. The driver is open. */
enum status facts_child_open(struct facts *facts, struct error *err);

/* Loads the kernels of the file and makes facts->stream. */
enum status facts_child_load(struct facts *facts, const char *path, struct error *err);

#endif
