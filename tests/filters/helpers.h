/* SPDX-License-Identifier: MIT
 * A crew of idle threads. */
#ifndef BLURD_TESTS_HELPERS_H
#define BLURD_TESTS_HELPERS_H

#include <stdint.h>

#include "core/crew.h"

struct helpers;

/* Starts `count` members of such a crew (see crew_create). Ends the program when it cannot. */
struct helpers *helpers_start(unsigned count, uint32_t grain, bool wary);

struct crew *helpers_crew(const struct helpers *helpers);

/* Returns when all of them wait. */
void helpers_await(const struct helpers *helpers);

/* Ends the threads, each after its current part; the crew stays, without members. */
void helpers_leave(struct helpers *helpers);

/* Ends threads and crew, and returns how many parts the threads have run. */
uint64_t helpers_stop(struct helpers *helpers);

#endif
