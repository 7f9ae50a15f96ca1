/* SPDX-License-Identifier: MIT
 * Each test of a unit or filter program has a time limit of its own, so that one that waits for what never
 * comes fails within seconds and under its name. The linker puts time_limit.c in place of
 * cmocka_run_group_tests (--wrap); a program does nothing for it. At the limit the program says which test it
 * was, and ends with 1. */
#ifndef BLURD_TESTS_TIME_LIMIT_H
#define BLURD_TESTS_TIME_LIMIT_H

/* Of one test, with its set-up and tear-down. A program whose tests compute for longer, on two busy cores
 * with AddressSanitizer, defines it with another value. TIME_LIMIT_FACTOR multiplies it, as for valgrind. */
extern unsigned time_limit_seconds; /* TIME_LIMIT_USUAL */

enum { TIME_LIMIT_USUAL = 60 };

#endif
